"""Knative refuses affinity, tolerations and nodeSelector unless a flag allows each."""

from __future__ import annotations

from archfit.workloads.operator_hooks import OperatorHooks

FLAGS = (
    "Knative accepts affinity and tolerations only with the flags kubernetes.podspec-affinity, "
    "kubernetes.podspec-tolerations and kubernetes.podspec-nodeselector enabled in the ConfigMap config-features"
)
KINDS = dict.fromkeys(("Configuration", "Service"), OperatorHooks(needed_only=FLAGS))
