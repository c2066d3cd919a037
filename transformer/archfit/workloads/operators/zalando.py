"""Zalando's Postgres operator has a switch that goes past the affinity; `outside` knows what else it is told."""

from __future__ import annotations

from archfit.workloads.operator_hooks import Operator

_MERGE = (
    "where the Zalando operator has node_readiness_label_merge set to OR, nodes that are ready pass whatever "
    "nodeAffinity says: set it to AND"
)
KINDS = {"postgresql": Operator(note=_MERGE)}
