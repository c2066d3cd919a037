"""Which objects the API server refuses to change once they are applied.

    the object                                                    a change of its pods
    a kind that is not immutable in the table                     is applied
    Job, bare Pod, ... with metadata.generateName and no name     reaches the next one, which is recreated
    with `hooks: recreated`, where the stream goes to             reaches the next one:
        Helm 4    helm.sh/hook                                    Helm creates hooks and never updates one
        Argo CD   helm.sh/hook, argocd.argoproj.io/hook           deleted before its creation, by default
                  argocd.argoproj.io/sync-options with both       `kubectl replace --force`
                  Force=true and Replace=true
    any other                                                     is refused: "field is immutable"

Helm 4 puts an annotation with the template's file name on every object that it hands to a post-renderer; there the
annotations of Argo CD have no effect. Sources: helm, pkg/action/hooks.go, execHook; argoproj/gitops-engine,
pkg/sync/hook.
"""

from __future__ import annotations

from archfit.options.settings import Options
from archfit.source.values import text_of
from archfit.workloads.pods import Pod

HELM_HOOK = "helm.sh/hook"
_HELM_FILE = "postrenderer.helm.sh/postrender-filename"
_ARGO_HOOK = "argocd.argoproj.io/hook"
_ARGO_OPTIONS = "argocd.argoproj.io/sync-options"
_REPLACED = {"Force=true", "Replace=true"}


def is_immutable(pod: Pod, options: Options) -> bool:
    """Whether the pod's object, if it exists, refuses a change of its pods."""
    if not pod.immutable:
        return False
    metadata = pod.object_metadata
    if metadata.get("generateName") and not metadata.get("name"):
        return False
    return options.hooks == "immutable" or not _recreated(metadata.get("annotations"))


def _recreated(notes: object) -> bool:
    """Whether Helm 4 or Argo CD makes an object with these annotations anew."""
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
