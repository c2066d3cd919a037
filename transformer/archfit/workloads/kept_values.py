"""What is kept of the values of a usual workload: a stream of many takes a third less memory without the rest.

    spec.template.spec.containers[]     command, env, ports, resources, ..
    spec                                selector, strategy, ..
    status, metadata.managedFields      of live objects
    all of these                        taken out: no decision and no edit reads them

Done for kinds of `builtin` in usual text (`block_lines`), in documents of their own and in objects with an owner, which
are seldom edited. Not done where archfit.dev is named: a misplaced annotation may be anywhere. The whole proof needs
all of the values, and reads the text again (`documents.whole`), which takes a fifth of the time that the proof takes.
The proof of the usual edit (`added_keys`) needs every key of the pod spec, and what they hold only as it is.
"""

from __future__ import annotations

from archfit.source.scan import Span
from archfit.typing_names import Any, Sequence
from archfit.workloads.builtin import WORKLOADS
from archfit.workloads.pods import Pod

_OURS = b"archfit.dev"
# Members of core/v1 Container that are collections.
_UNREAD = frozenset(
    {
        "args",
        "command",
        "env",
        "envFrom",
        "lifecycle",
        "livenessProbe",
        "ports",
        "readinessProbe",
        "resizePolicy",
        "resources",
        "securityContext",
        "startupProbe",
        "volumeDevices",
        "volumeMounts",
    }
)
# Members beside a pod template that are collections.
_BESIDE_TEMPLATES = frozenset({"selector", "strategy", "updateStrategy", "volumeClaimTemplates"})


def lighten(data: bytes, span: Span, value: dict[str, Any], pods: Sequence[Pod]) -> bool:
    """Takes out of the value of a usual text what is not kept, in place. Whether that was done.

    pods: those of the value; they share it.
    """
    pod = pods[0]
    metadata, spec = pod.object_metadata, pod.spec
    if (
        len(pods) != 1
        or pod.root != (span.listed.path if span.listed else ())
        or (pod.group, pod.ref.kind) not in WORKLOADS
        or (span.item and "ownerReferences" not in metadata)
        or data.find(_OURS, span.start, span.end) >= 0
    ):
        return False
    value.pop("status", None)
    if "managedFields" in metadata:
        del metadata["managedFields"]
    above = value.get("spec")
    if above.__class__ is dict and above is not spec:
        for name in _BESIDE_TEMPLATES & above.keys():
            del above[name]
    for field in ("containers", "initContainers"):
        if field in spec and spec[field].__class__ is list:
            for container in spec[field]:
                if container.__class__ is dict:
                    for name in _UNREAD & container.keys():
                        del container[name]
    return True
