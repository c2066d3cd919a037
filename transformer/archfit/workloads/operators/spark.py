"""The Spark operator places the pods that Spark makes through its webhook."""

from __future__ import annotations

from archfit.workloads.operator_hooks import OperatorHooks

KINDS = dict.fromkeys(
    ("ScheduledSparkApplication", "SparkApplication"),
    OperatorHooks(
        note="the Spark operator applies affinity and tolerations through its webhook, which has to be enabled"
    ),
)
