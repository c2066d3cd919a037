"""Which pods archfit leaves alone, the options of the others, and which of their images are looked up.

A pod that tolerates virtual-kubelet.io/provider, or a key of unlabelledNodes, may run on nodes without an arch label
beside real ones: it is like any other pod, but keeps such nodes reachable. An empty key does not count.

Every rule whose match holds applies, in order, and a later one overrides an earlier one, key by key. The pod's own
annotations come last: `tolerate` overrides, `only` narrows further.

Filled in later: fields of an embedded object that get their value when the object is made. Only what Kubernetes has as
a mapping or a list is meant; an image that is filled in is for `evidence`.

    ResourceGraphDefinition   nodeSelector: ${schema.spec.nodeSelector}
    ResourceSet               tolerations: << inputs.tolerations >>
    TriggerTemplate           affinity: $(tt.params.affinity)
    any template              containers: [{{ .. }}]

A pod that is left alone has no answers, so that a malformed image in it is no error.

Istio replaces the image `auto` in any pod that it injects (istio, pkg/kube/inject, AutoImage): one that is marked by
the annotation `inject.istio.io/templates`, by the label or annotation `sidecar.istio.io/inject: "true"`, or by
`istio.io/rev`; `sidecar.istio.io/inject: "false"` takes it back. Marks on namespaces are unseen.
"""

from __future__ import annotations

from archfit.base.errors import InvalidReference
from archfit.base.patch import Path, dotted
from archfit.base.results import FILLED_IN_LATER, Message
from archfit.images.platforms import (
    Answer,
    Found,
    ImagePlatforms,
    Malformed,
    Platform,
    Unasked,
    Unknown,
    unanswerable,
)
from archfit.images.reference import parse
from archfit.options.settings import PREFERRED, REQUIRED, Options, TolerationRule
from archfit.placement.annotations import PREFIX, Annotations, annotated
from archfit.startup.record import Record
from archfit.workloads.pod_specs import controller_of, is_embedded
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from typing import Any, Literal, TypeAlias

    from archfit.options.settings import Exclude
    from archfit.workloads.unsupported.untouched import Untouched

LeftBy: TypeAlias = (
    'Literal["", "controller", "annotation", "nodeName", "exclude", "rule", "customResources", "placeholder", '
    '"virtual-kubelet"]'
)
_LABELS = tuple(f"{prefix}kubernetes.io/{name}" for name in ("arch", "os") for prefix in ("", "beta."))
VIRTUAL_KUBELET = "virtual-kubelet.io/provider"

_PLACEHOLDERS = ("${", "$(", "<<", "{{")
_LISTS = (
    "tolerations",
    "containers",
    "initContainers",
    "volumes",
    "nodeSelectorTerms",
    "matchExpressions",
    "matchFields",
    PREFERRED,
)
_NOT_STRINGS = frozenset(
    (
        *_LISTS,
        *(f"{name}[]" for name in _LISTS),
        "values",
        "nodeSelector",
        "affinity",
        "nodeAffinity",
        REQUIRED,
        "preference",
        "annotations",
    )
)
_LOOKED_AT = ("affinity", "nodeSelector", "tolerations", "containers", "initContainers", "volumes")
_DEPTH = 8


class PodOptions(Record):
    """The options of one pod: those of the run, its rules and its annotations together.

    left_alone: a sentence when the pod is opted out, else "". left_by: what leaves it alone.
    only: the architectures that the user narrows the pod to, None for all.
    only_by: what narrows it: a rule, an annotation, or both.
    offered: those that a rule narrows it to, where all its images have builds for one; None without such a rule.
    tolerate: the toleration rules that apply.
    prefer: (architecture, weight) pairs.
    unlabelled: the key by which it tolerates nodes without an arch label, "" where it does not.
    platforms: of every image, from `archfit.dev/image-platforms`; None without it.
    messages: errors in the annotations.
    controller: the controller that decides for the pod, "" if there is none.
    """

    left_alone: str = ""
    only: frozenset[str] | None = None
    only_by: str = ""
    tolerate: tuple[TolerationRule, ...] = ()
    prefer: tuple[tuple[str, int], ...] = ()
    platforms: tuple[Platform, ...] | None = None
    messages: tuple[Message, ...] = ()
    controller: str = ""
    unlabelled: str = ""
    left_by: LeftBy = ""
    offered: frozenset[str] | None = None

    @property
    def where_offered(self) -> PodOptions:
        """The same for a pod whose images have builds for one of `offered`."""
        by = f"a rule of the configuration (when: offered){' and ' * bool(self.only_by)}{self.only_by}"
        return self.replace(only=self.offered, only_by=by)


def pod_options(pod: Pod, options: Options) -> PodOptions:
    """The options of this pod, from those of the run, rules and annotations."""
    noted = _annotated(pod, options)
    platforms = noted.platforms if noted else None
    controller = controller_of(pod.object_metadata) if "ownerReferences" in pod.object_metadata else ""
    if controller:
        reason = f"its controller decides ({controller})"
        return PodOptions(reason, platforms=platforms, controller=controller, left_by="controller")
    later = _filled_in_later(pod) if pod.root else ""
    if later:
        return PodOptions(f"{later} {FILLED_IN_LATER}", platforms=platforms, left_by="placeholder")
    only, tolerate, prefer, skip, offered = None, None, None, None, False
    only_by: list[str] = []
    if options.rules:
        from archfit.placement.filters import RULES  # only runs with rules need it

        for rule in map(options.rules.__getitem__, RULES.meaning(options.rules, pod)):
            only, offered = (rule.only, rule.offered) if rule.only is not None else (only, offered)
            tolerate = rule.tolerate if rule.tolerate is not None else tolerate
            prefer = rule.prefer if rule.prefer is not None else prefer
            skip = rule.skip if rule.skip is not None else skip
    ruled = None if only is None else frozenset(only)
    narrowed = None if offered else ruled
    if narrowed is not None:
        only_by.append("a rule of the configuration")
    if noted and noted.only is not None:
        narrowed = noted.only if narrowed is None else narrowed & noted.only
        ruled = ruled & noted.only if ruled is not None else None
        only_by.append(f"{PREFIX}only")
    if noted and noted.tolerate is not None:
        tolerate = noted.tolerate
    left_by, left_alone = _left_alone(
        pod, options, skip_noted=bool(noted and noted.skip), skip_ruled=bool(skip)
    )
    return PodOptions(
        left_alone,
        narrowed,
        " and ".join(only_by),
        () if tolerate is False else options.tolerate,
        options.prefer if prefer is None else prefer,
        platforms,
        noted.messages if noted else (),
        unlabelled=_unlabelled(pod, options),
        left_by=left_by,
        offered=ruled if offered else None,
    )


def _annotated(pod: Pod, options: Options) -> Annotations | None:
    """The annotations on the way to the pod; None where none is archfit's."""
    for metadata in (pod.metadata, pod.object_metadata, *[metadata for _, metadata in pod.between]):
        notes = metadata.get("annotations")
        # What is no mapping is an error, and `annotations` has the sentence for it.
        if notes and (notes.__class__ is not dict or any(name[:12] == PREFIX for name in notes)):
            return annotated(pod, options.enforced_annotations)
    return None


def _left_alone(pod: Pod, options: Options, *, skip_noted: bool, skip_ruled: bool) -> tuple[LeftBy, str]:
    if skip_noted:
        return "annotation", f'{PREFIX}skip is "true"'
    name = pod.spec.get("nodeName")
    if name and isinstance(name, str):
        return "nodeName", f"spec.nodeName is set to {name}"
    if pattern := excluded(pod, options):
        return "exclude", f"excluded by configuration ({pattern})"
    if skip_ruled:
        return "rule", "a rule of the configuration says skip"
    if pod.row is not None and options.custom_resources in ("seen", "none"):
        from archfit.workloads.known_rows import left_alone  # only these two leave custom resources alone

        reason = left_alone(pod.row, options)
        if reason:
            return "customResources", reason
    return _by_selector(pod)


def _by_selector(pod: Pod) -> tuple[LeftBy, str]:
    affinity = pod.spec.get("affinity")
    if affinity.__class__ is dict and "nodeAffinity" in affinity:
        later = _required_later(affinity["nodeAffinity"])
        if later:
            return "placeholder", later
    selector = pod.spec.get("nodeSelector")
    if not isinstance(selector, dict):
        return "", ""
    for label in _LABELS:
        value = selector.get(label)
        if _is_placeholder(value):
            return "placeholder", f"its nodeSelector's {label} {FILLED_IN_LATER} ({value})"
    if selector.get("type") == "virtual-kubelet":
        return (
            "virtual-kubelet",
            "it is for virtual nodes, which have no arch label (nodeSelector type: virtual-kubelet)",
        )
    return "", ""


def _required_later(node_affinity: Any) -> str:
    """Which architecture or OS in the required terms is filled in later, "" if none is."""
    required = node_affinity.get(REQUIRED) if isinstance(node_affinity, dict) else None
    for term in _dicts(required.get("nodeSelectorTerms")) if isinstance(required, dict) else ():
        for expression in _dicts(term.get("matchExpressions")):
            values = expression.get("values")
            if expression.get("key") in _LABELS and isinstance(values, list):
                value = next(filter(_is_placeholder, values), None)
                if value is not None:
                    return f"its node affinity's {expression['key']} {FILLED_IN_LATER} ({value})"
    return ""


def _dicts(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and any(mark in value for mark in _PLACEHOLDERS)


def _filled_in_later(pod: Pod) -> str:
    if not is_embedded(pod.root):
        return ""
    spec = {name: pod.spec[name] for name in _LOOKED_AT if name in pod.spec}
    metadata = {"annotations": pod.metadata.get("annotations")}
    for at, part in ((pod.path, spec), (pod.metadata_path, metadata)):
        text = _placeholder(part, "", at, len(at) + _DEPTH)
        if text:
            return text
    return ""


def _placeholder(value: Any, name: str, at: Path, deepest: int) -> str:
    if isinstance(value, str):
        later = name in _NOT_STRINGS and _is_placeholder(value)
        return f"{dotted(at)} ({value})" if later else ""
    if isinstance(value, dict):
        inside = [(key, key, member) for key, member in value.items()]
    else:
        inside = [(f"{name}[]", n, item) for n, item in enumerate(value)] if isinstance(value, list) else []
    if len(at) > deepest:
        return ""
    below = (_placeholder(member, key, (*at, step), deepest) for key, step, member in inside)
    return next(filter(None, below), "")


def _unlabelled(pod: Pod, options: Options) -> str:
    tolerations = pod.spec.get("tolerations")
    for toleration in tolerations if isinstance(tolerations, list) else ():
        key = toleration.get("key") if isinstance(toleration, dict) else None
        if isinstance(key, str) and key and (key == VIRTUAL_KUBELET or key in options.unlabelled_nodes):
            return key
    return ""


def excluded(target: Pod | Untouched, options: Options) -> Exclude | None:
    """The exclude glob that means a pod, or an object without one."""
    if not options.exclude:
        return None
    from archfit.placement.filters import GLOBS  # only runs with globs need it

    return next(map(options.exclude.__getitem__, GLOBS.meaning(options.exclude, target.ref)), None)


ISTIO_REVISION = "istio.io/rev"
ISTIO_INJECT = "sidecar.istio.io/inject"
ISTIO_TEMPLATES = "inject.istio.io/templates"


def _refused(text: str) -> Unasked | Malformed | None:
    try:
        parse(text)
    except InvalidReference as error:
        return unanswerable(text, error)
    return None


def questions(pod: Pod, own: PodOptions, *, left_alone: bool = False) -> tuple[str, ...]:
    """The distinct image strings to look up for this pod, in order.

    own: the pod's options. left_alone: also for pods that archfit leaves alone.
    """
    if own.platforms is not None or (own.left_alone and not left_alone):
        return ()
    return tuple(dict.fromkeys(use.text for use in pod.images if use.text and not _without_lookup(pod, use)))


def answers_for(
    pod: Pod, answers: Mapping[str, Answer], options: Options, own: PodOptions
) -> tuple[Answer, ...]:
    """The answer for each of `pod.images`, in order. own: the pod's options.

    Raises UsageError when two overrides match equally well and differ.
    """
    if own.platforms is not None:
        return (Found(own.platforms, origin="override"),) * len(pod.images)
    return tuple(_answer(pod, use, answers, options.image_platforms) for use in pod.images)


def _answer(
    pod: Pod, use: ImageUse, answers: Mapping[str, Answer], rows: tuple[ImagePlatforms, ...]
) -> Answer:
    answer = _without_lookup(pod, use, answers)
    if answer is None:
        return answers.get(use.text or "") or Unknown("it was not looked up")
    if use.text and rows and not use.unasked and not _refused(use.text):
        from archfit.images.overrides import override

        return override(parse(use.text), rows) or answer
    return answer


def _without_lookup(pod: Pod, use: ImageUse, references: Container[str] = ()) -> Unasked | Malformed | None:
    """What is said of an image that nobody looks up, None of another. references: texts that are some."""
    text = use.text
    if use.unasked:
        return Unasked(use.unasked)
    if not text:
        return Unasked("no image is named")
    refused = None if text in references else _refused(text)
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


def _texts(labels: Any) -> dict[str, str]:
    return {key: text_of(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
