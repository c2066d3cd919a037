"""Envoy Gateway and NGINX Gateway Fabric merge patches of the user into the workload that they make, last."""

from __future__ import annotations

from archfit.workloads.operator_hooks import OperatorHooks

KINDS = {
    "EnvoyProxy": OperatorHooks(patches=lambda row: [(*row.pod_spec[:-1], "patch", "value")]),
    "NginxProxy": OperatorHooks(patches=lambda row: [(*row.pod_spec[:-1], "patches", "*", "value")]),
}
