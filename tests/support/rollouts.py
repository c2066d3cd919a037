"""Whether a workload is rolled out: its newest template has all of its pods, and no other template has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def pods_rolled_out(workload: Mapping[str, Any]) -> int | None:
    """How many pods a Deployment, StatefulSet or DaemonSet has, None while its controller is not done."""
    status, spec = workload.get("status", {}), workload["spec"]
    if status.get("observedGeneration") != workload["metadata"]["generation"]:
        return None
    wanted, counts = status.get("desiredNumberScheduled", 0), ["updatedNumberScheduled", "numberAvailable"]
    if "replicas" in spec:
        wanted, counts = spec["replicas"], ["replicas", "updatedReplicas", "readyReplicas"]
    return wanted if all(status.get(name, 0) == wanted for name in counts) else None
