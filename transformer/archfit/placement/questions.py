"""Which image strings have to be looked up for a pod, and the answer that each use of an image gets.

    the image                                               answer
    archfit.dev/image-platforms on the pod template         Found, origin "override": for every image
    empty or missing, or unseen in a custom resource        Unasked
    a placeholder: `ko://..`, `$(params.x)`, `{{ .. }}`     Unasked
    any other string that is no reference                   Malformed: the kubelet refuses it unpulled
    imagePullPolicy: Never                                  an override of the configuration, else Unasked
    `auto`, and the pod is marked for Istio's injector      an override of the configuration, else Unasked
    something replaces it (`workloads.replaced_images`)     Unasked, whatever the configuration says of its text
    anything else                                           the lookup's, which knows the overrides

A pod that is left alone has no answers, so that a malformed string in it is no error.

Istio replaces the image `auto` in any pod that it injects (istio, pkg/kube/inject, AutoImage). A pod is
marked by the annotation `inject.istio.io/templates`, by the label or annotation `sidecar.istio.io/inject:
"true"`, or by `istio.io/rev`; `sidecar.istio.io/inject: "false"` takes it back. Marks on namespaces are
unseen.
"""

from __future__ import annotations

from archfit.errors import InvalidReference
from archfit.images.platforms import Answer, Found, ImagePlatforms, Malformed, Unasked, Unknown, unanswerable
from archfit.images.reference import parse
from archfit.memo import Memo
from archfit.options.settings import Options
from archfit.placement.selection import PodOptions
from archfit.source.values import text_of
from archfit.typing_names import Any, Mapping
from archfit.workloads.pods import ImageUse, Pod

ISTIO_REVISION = "istio.io/rev"
ISTIO_INJECT = "sidecar.istio.io/inject"
ISTIO_TEMPLATES = "inject.istio.io/templates"


def _unasked(text: str) -> Unasked | Malformed | None:
    """The answer for a text that is no reference, else None."""
    try:
        parse(text)
    except InvalidReference as error:
        return unanswerable(text, error)
    return None


_no_reference = Memo(_unasked, 4096)
_LONGEST_KEPT = 300
"""Characters of an image; a longer one is parsed each time, so that the memo of a server stays small."""


def _refused(text: str) -> Unasked | Malformed | None:
    return _no_reference[text] if len(text) <= _LONGEST_KEPT else _unasked(text)


def questions(pod: Pod, own: PodOptions, *, left_alone: bool = False) -> tuple[str, ...]:
    """The distinct image strings to look up for this pod, in order.

    own: the pod's options. left_alone: also for pods that archfit leaves alone.
    """
    if own.left_alone and not left_alone:
        return ()
    if own.platforms is not None:
        return ()
    return tuple(dict.fromkeys(use.text for use in pod.images if use.text and not _without_lookup(pod, use)))


def answers_for(
    pod: Pod, answers: Mapping[str, Answer], options: Options, own: PodOptions
) -> tuple[Answer, ...]:
    """The answer for each of `pod.images`, in order. own: the pod's options.

    Raises UsageError when two overrides match equally well and differ.
    """
    platforms = own.platforms
    if platforms is not None:
        found = Found(platforms, origin="override")
        return tuple(found for _ in pod.images)
    return tuple(_answer(pod, use, answers, options.image_platforms) for use in pod.images)


def _answer(
    pod: Pod, use: ImageUse, answers: Mapping[str, Answer], rows: tuple[ImagePlatforms, ...]
) -> Answer:
    answer = _without_lookup(pod, use)
    if answer is None:
        return answers.get(use.text or "") or Unknown("it was not looked up")
    if use.text and rows and not use.unasked and not _refused(use.text):
        from archfit.images.overrides import override

        return override(parse(use.text), rows) or answer
    return answer


def _without_lookup(pod: Pod, use: ImageUse) -> Unasked | Malformed | None:
    """The answer for a use of an image that needs no lookup, None for all others."""
    text = use.text
    if use.unasked:
        return Unasked(use.unasked)
    if not text:
        return Unasked("no image is named")
    refused = _refused(text)
    if refused is not None:
        return refused
    if use.pull_policy == "Never":
        return Unasked("it is never pulled (imagePullPolicy: Never)")
    if text == "auto" and _injected(pod):
        return Unasked("Istio's injector writes this image")
    return None


def _injected(pod: Pod) -> bool:
    labels, notes = _texts(pod.metadata.get("labels")), _texts(pod.metadata.get("annotations"))
    if "false" in (labels.get(ISTIO_INJECT), notes.get(ISTIO_INJECT)):
        return False
    return (
        ISTIO_TEMPLATES in notes
        or "true" in (labels.get(ISTIO_INJECT), notes.get(ISTIO_INJECT))
        or ISTIO_REVISION in labels
        or ISTIO_REVISION in notes
    )


def _texts(found: Any) -> dict[str, str]:
    return {key: text_of(value) for key, value in found.items()} if isinstance(found, dict) else {}
