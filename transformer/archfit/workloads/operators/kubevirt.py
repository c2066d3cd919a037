"""KubeVirt pins a machine to its `architecture`, and where it is missing to the cluster's default."""

from __future__ import annotations

from archfit.options.taints import ARCH_KEYS
from archfit.workloads.operator_hooks import OperatorHooks, Placement, RowMatch
from archfit.workloads.patterns import get, joined
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from archfit.workloads.pods import PlacementPaths

_CHOSEN = (
    "KubeVirt pins a machine without spec.architecture to the cluster's default architecture, whatever its affinity "
    "says, so that nothing is written; set architecture to one that its images offer"
)


def _pinned(match: RowMatch, spec: dict[str, Any], paths: PlacementPaths) -> Placement:
    at = (*match.path, "architecture")
    architecture = text_of(get(match.value, at))
    if not architecture:
        return spec, paths.replace(chosen=_CHOSEN)
    selector = spec.get("nodeSelector") or {}
    if not any(label in selector for label in ARCH_KEYS):
        spec = {**spec, "nodeSelector": joined(selector, {ARCH_KEYS[0]: architecture})}
    return spec, paths.replace(architecture=at)


KINDS = dict.fromkeys(
    ("VirtualMachine", "VirtualMachineInstance", "VirtualMachineInstanceReplicaSet", "VirtualMachinePool"),
    OperatorHooks(placement=_pinned),
)
