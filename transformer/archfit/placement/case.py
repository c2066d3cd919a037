"""One pod as `decide` sees it (`PodCase`), and whether it can be changed.

The API server refuses to change the pods of some objects once they are applied. Those that reach the next one anyway:

    Job, bare Pod, ... with metadata.generateName and no name     it is recreated
    with `hooks: recreated`, where the stream goes to
        Helm 4    helm.sh/hook                                    Helm creates hooks and never updates one
        Argo CD   helm.sh/hook, argocd.argoproj.io/hook           deleted before its creation, by default
                  argocd.argoproj.io/sync-options with both       `kubectl replace --force`
                  Force=true and Replace=true

Helm 4 puts an annotation with the template's file name on every object that it hands to a post-renderer; there the
annotations of Argo CD have no effect. Sources: helm, pkg/action/hooks.go, execHook; argoproj/gitops-engine,
pkg/sync/hook.
"""

from __future__ import annotations

from archfit.base.results import Message, Reason
from archfit.options.settings import Options, Toleration
from archfit.placement.evidence import ImageEvidence
from archfit.placement.reach import Reach, union
from archfit.placement.selection import PodOptions
from archfit.startup.record import Record
from archfit.workloads.pods import Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.base.patch import Path


class PodCase(Record):
    """What the steps of the decision look at.

    options: of the run. own: of the pod.
    reaches: where each required term leads; one without terms where the pod has none.
    reachable_architectures: the union of what is live in them. on_linux: that of Linux alone.
    tolerations: those that the pod has.
    prefers_architecture: its own preferred terms name one; False without `prefer`, which alone needs to know.
    immutable: the object cannot be changed once it is applied.
    messages, reasons: so far; the steps append to them.
    closed_part: where the pods have a term of their own that leads nowhere, () for none.
    withheld: as in the decision.
    """

    pod: Pod
    options: Options
    own: PodOptions
    evidence: ImageEvidence
    reaches: tuple[Reach, ...]
    reachable_architectures: frozenset[str]
    on_linux: frozenset[str]
    tolerations: list[Toleration]
    prefers_architecture: bool
    immutable: bool
    messages: list[Message]
    reasons: list[Reason]
    closed_part: Path = ()
    withheld: tuple[str, ...] = ()

    @property
    def cluster(self) -> frozenset[str]:
        """The cluster's architectures of the systems that the pod can be meant for."""
        return union(system.cluster for reach in self.reaches for system in reach.systems)


HELM_HOOK = "helm.sh/hook"
_HELM_FILE = "postrenderer.helm.sh/postrender-filename"
_ARGO_HOOK = "argocd.argoproj.io/hook"
_ARGO_OPTIONS = "argocd.argoproj.io/sync-options"
_REPLACED = {"Force=true", "Replace=true"}


def is_immutable(pod: Pod, options: Options) -> bool:
    """Whether the pod's object, if it exists, refuses a change of its pods."""
    if not pod.immutable or pod.held:
        return pod.held
    metadata = pod.object_metadata
    if metadata.get("generateName") and not metadata.get("name"):
        return False
    return options.hooks == "immutable" or not _recreated(metadata.get("annotations"))


def _recreated(notes: object) -> bool:
    if not isinstance(notes, dict):
        return False
    if HELM_HOOK in notes:
        return True
    if _HELM_FILE in notes:
        return False
    return (
        _ARGO_HOOK in notes
        or {word.strip() for word in text_of(notes.get(_ARGO_OPTIONS)).split(",")} >= _REPLACED
    )
