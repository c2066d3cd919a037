"""Kinds in no row that may hold pods: named, with what to do.

known_kinds.txt, a line for each kind; one with a row of `custom_rows` may stand there too, and the row counts:

    group/Kind {podSpec: ..}       the rows that its schema allows, as the configuration file has them
    group/Kind row                 it has places for affinity or tolerations; no row follows from its schema
    group/Kind none                it has images, and no place for affinity or tolerations
    group/Kind set                 it has such places and no images, or neither: its operator chooses them

A person has to check the row: a schema shows where placement is, not what an operator does with it.
"""

from __future__ import annotations

import os

from archfit.base.patch import Path, pattern_text
from archfit.base.results import qualified_kind
from archfit.base.spelling import nearest
from archfit.options.settings import FIELDS
from archfit.workloads.builtin import WORKLOADS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# This module, and the table with it, is loaded with the first kind that is in no row.
with open(os.path.join(os.path.dirname(__file__), "known_kinds.txt"), encoding="ascii") as _file:
    KINDS = _file.read()
_IMAGE_PARTS = ("repository", "tag", "reference")
_NOT_SPEC = ("status", "metadata", "apiVersion", "kind")
_RECORDS = {("apps", "ControllerRevision"): "its data never changes; archfit places the object that owns it"}
# Their fields place what is no pod, or pods of other objects.
OF_OTHERS = frozenset(
    f"{group}/{kind}"
    for group, kinds in {
        "addon.open-cluster-management.io": "AddOnDeploymentConfig",
        "apps.kruise.io": "WorkloadSpread",
        "cluster.open-cluster-management.io": "Placement",
        "config.openshift.io": "Build Network",
        "data.fluid.io": "Dataset",
        "infrastructure.opendatahub.io": "HardwareProfile",
        "kueue.x-k8s.io": "ResourceFlavor",
        "ome.io": "AcceleratorClass",
        "openfaas.com": "Headroom Profile",
        "operations.kubeblocks.io": "OpsRequest",
        "ops.kubedb.com": "DocumentDBOpsRequest PostgresOpsRequest",
        "piraeus.io": "LinstorSatelliteConfiguration",
        "policy.karmada.io": "ClusterPropagationPolicy PropagationPolicy",
        "provisioning.cattle.io": "Cluster",
        "resource.streamnative.io": "Secret",
        "vertica.com": "VerticaAutoscaler",
        "vm.neon.tech": "VirtualMachineMigration",
        "work.karmada.io": "ClusterResourceBinding ResourceBinding",
    }.items()
    for kind in kinds.split()
)
_WITHOUT_KIND = "the object has no kind, so that Kubernetes refuses it: add its kind"
_DEPTH = 64
_ADD = "add this to the configuration file: spec: {workloads: [%s]}"
_LEAVE = (
    "place them by hand and leave the object out with --exclude %s or the annotation archfit.dev/skip, or derive a row "
    "from its CustomResourceDefinition with archfit setup workloads --crds FILE"
)


def known_list(group: str, kind: str) -> str:
    """The entry of a kind in the table of schemas, "" without one."""
    for name in dict.fromkeys((f"\n{group}/{kind} ", f"\n{group}/{kind.lower()} ")):
        at = KINDS.find(name)
        if at >= 0:
            return KINDS[at + len(name) : KINDS.find("\n", at + 1)]
    return ""


def reason_of(group: str, kind: str, item: dict[str, Any]) -> str:
    """Why an object of a kind without rows is not transformed, and what to do; "" if nothing points to a pod."""
    if not kind:
        return _WITHOUT_KIND if group or item.get("apiVersion") else ""
    if (group, kind) in _RECORDS:
        return _RECORDS[group, kind]
    meant = nearest(kind, (known for of, known in WORKLOADS if of == group))
    if meant:
        return f"Kubernetes has no kind {kind} in {group or 'v1'}: write {meant}"
    name = f"{group}/{kind}".strip("/")
    leave = _LEAVE % qualified_kind(group, kind)
    known = known_list(group, kind)
    if known.startswith("{"):
        rows = known.replace("{podSpec:", f"{{group: '{group}', kind: {kind}, podSpec:")
        return (
            f"{name} may hold pods, and archfit has no row for it. Its schema allows {_count(known)}; check what "
            f"its operator does with affinity and tolerations, then {_ADD % rows}"
        )
    if known == "none":
        return f"{name} may hold pods, but its schema has no place for affinity and tolerations; {leave}"
    if known == "row":
        return f"{name} may hold pods, and archfit has no row for it; {leave}"
    if known == "set":
        at = _first(item, lambda key, value: key in FIELDS and bool(value))
        if at:
            return f"{name} places pods at {pattern_text(at)}, but names no images to decide by; {leave}"
        if name in OF_OTHERS:
            return ""
        chosen = (
            f"{name} may make pods whose images its operator chooses, and names none to decide by; {leave}"
        )
        return _by_image(name, item, leave) or chosen
    return _by_text(group, kind, name, item, leave)


def _by_text(group: str, kind: str, name: str, item: dict[str, Any], leave: str) -> str:
    rows = [
        f"{{group: '{group}', kind: {kind}, podSpec: '{path}'"
        + (f", images: ['{path}.image']}}" if beside else "}")
        for path, beside in dict.fromkeys((pattern_text(path), beside) for path, beside in _pod_like(item))
    ]
    if rows:
        held = "a pod template" if len(rows) == 1 else f"{len(rows)} pod templates"
        add = _ADD % ", ".join(rows)
        return f"{name} seems to hold {held}, but archfit does not know where; to change it, {add}"
    return _by_image(name, item, leave)


def _by_image(name: str, item: dict[str, Any], leave: str) -> str:
    at = _first(item, is_image)
    return (
        f"{name} may hold pods: it names an image at {pattern_text(at)}, and archfit has no row for it; {leave}"
        if at
        else ""
    )


def _count(rows: str) -> str:
    number = rows.count("{podSpec:")
    return "this row" if number == 1 else f"these {number} rows"


def is_image(key: str, value: Any) -> bool:
    """Whether a member looks like a container image."""
    if isinstance(value, str):
        return bool(value) and (key == "image" or key.endswith("Image"))
    return (
        key == "image"
        and isinstance(value, dict)
        and any(isinstance(value.get(part), str) for part in _IMAGE_PARTS)
    )


def _first(value: Any, wanted: Callable[[str, Any], bool], at: Path = ()) -> Path:
    """The path of the first member that is wanted, () if there is none."""
    if len(at) > _DEPTH:
        return ()
    if isinstance(value, list):
        return next(filter(None, (_first(item, wanted, (*at, "*")) for item in value)), ())
    if not isinstance(value, dict):
        return ()
    for key, member in value.items():
        if not at and key in _NOT_SPEC:
            continue
        path = (*at, key) if wanted(key, member) else _first(member, wanted, (*at, key))
        if path:
            return path
    return ()


def _pod_like(value: Any, depth: int = 0) -> list[tuple[Path, bool]]:
    """The path of each thing that looks like a pod spec, and whether its image stands beside its placement.

    A mapping of templates alone, as the replicas of a training job are, is one path with "*".
    """
    if depth > _DEPTH:
        return []
    if isinstance(value, list):
        return [(("*", *path), beside) for item in value for path, beside in _pod_like(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    containers = value.get("containers")
    if isinstance(containers, list) and any(
        isinstance(container, dict) and "image" in container for container in containers
    ):
        return [((), False)]
    if isinstance(value.get("image"), str) and any(name in value for name in FIELDS):
        return [((), True)]
    below = {key: _pod_like(member, depth + 1) for key, member in value.items() if key != "status"}
    first, *others = below.values() or [[]]
    if others and all(other == first for other in others):
        below = {"*": first}
    return [((key, *path), beside) for key, paths in below.items() for path, beside in paths]
