"""Which pods archfit leaves alone, and the options that rules and annotations give the others.

    the first of these that holds                                    leaves the pod as it is
    metadata.ownerReferences[].controller: true                      its controller decides; nothing else is read
    archfit.dev/skip: "true" on the object or a template on the way
    spec.nodeName                                                    the scheduler is not asked
    --exclude KIND[/NAMESPACE[/NAME]]                                globs; parts left out match everything
    rules: [{match: .., skip: true}]
    an embedded object whose placement or containers are filled in later
    an architecture or OS that is filled in later                    `{{..}}`, `$(..)`, `${..}`, `<<..>>` in templates
                                                                     in nodeSelector or the required node affinity
    nodeSelector type: virtual-kubelet                               for nodes without an arch label alone

A pod that tolerates virtual-kubelet.io/provider, or a key of unlabelledNodes, may run on such nodes beside real
ones: it is like any other pod, but keeps such nodes reachable. An empty key does not count.

Exclude globs: `DaemonSet`, `*/kube-system`, `job/*/migrate-*`. `*`, `?` and `[..]` as in fnmatch; the kind in
any case, the rest as written; a namespace that the stream does not give is "" and matched by `*` alone.

Rules: every rule whose match holds applies, in order, and a later one overrides an earlier one, key by key.
All of namespace, kind (in any case), name and labels have to hold; a label is there when the pod template or
the object carries it with this value. The pod's own annotations come last: `tolerate` overrides, `only`
narrows further.

Filled in later: fields of an embedded object that get their value when the object is made: what they hold is unknown.
Only what Kubernetes has as a mapping or a list is meant; an image that is filled in is for `evidence`.

    ResourceGraphDefinition   nodeSelector: ${schema.spec.nodeSelector}
    ResourceSet               tolerations: << inputs.tolerations >>
    TriggerTemplate           affinity: $(tt.params.affinity)
    any template              containers: [{{ .. }}]
"""

from __future__ import annotations

from archfit.images.platforms import Platform
from archfit.options.settings import Options, TolerationRule
from archfit.patch import Path, dotted
from archfit.record import Record
from archfit.results import Result
from archfit.typing_names import Any, Literal, TypeAlias
from archfit.workloads.pods import PREFERRED, REQUIRED, Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.options.option_entries import Exclude
    from archfit.placement.annotations import Annotations
    from archfit.workloads.coverage.untouched import Untouched

LeftBy: TypeAlias = (
    'Literal["", "controller", "annotation", "nodeName", "exclude", "rule", "placeholder", "virtual-kubelet"]'
)
_OURS = "archfit.dev/"  # `annotations.PREFIX`
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
    tolerate: the toleration rules that apply.
    prefer: (architecture, weight) pairs.
    unlabelled: the key by which it tolerates nodes without an arch label, "" where it does not.
    platforms: of every image, from `archfit.dev/image-platforms`; None without it.
    results: errors in the annotations.
    controller: the controller that decides for the pod, "" if there is none.
    """

    left_alone: str = ""
    only: frozenset[str] | None = None
    only_by: str = ""
    tolerate: tuple[TolerationRule, ...] = ()
    prefer: tuple[tuple[str, int], ...] = ()
    platforms: tuple[Platform, ...] | None = None
    results: tuple[Result, ...] = ()
    controller: str = ""
    unlabelled: str = ""
    left_by: LeftBy = ""


def pod_options(pod: Pod, options: Options) -> PodOptions:
    """The options of this pod, from those of the run, rules and annotations."""
    if "ownerReferences" in pod.object_metadata:
        from archfit.workloads.owner import controller_of  # live objects have it

        controller = controller_of(pod.object_metadata)
        if controller:
            return PodOptions(
                f"its controller decides ({controller})",
                platforms=_stated(pod, options),
                controller=controller,
                left_by="controller",
            )
    if pod.root:
        later = _filled_in_later(pod)
        if later:
            stated = _stated(pod, options)
            return PodOptions(f"{later} is filled in later", platforms=stated, left_by="placeholder")
    noted = _annotated(pod, options)
    only, tolerate, prefer, skip = None, None, None, None
    only_by: list[str] = []
    if options.rules:
        from archfit.placement.filters import matched  # only runs with rules need it
    for rule in options.rules:
        if matched(pod, rule.match):
            only = rule.only if rule.only is not None else only
            tolerate = rule.tolerate if rule.tolerate is not None else tolerate
            prefer = rule.prefer if rule.prefer is not None else prefer
            skip = rule.skip if rule.skip is not None else skip
    narrowed = None if only is None else frozenset(only)
    if narrowed is not None:
        only_by.append("a rule of the configuration")
    if noted and noted.only is not None:
        narrowed = noted.only if narrowed is None else narrowed & noted.only
        only_by.append(f"{_OURS}only")
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
        noted.platforms if noted else None,
        noted.results if noted else (),
        unlabelled=_unlabelled(pod, options),
        left_by=left_by,
    )


def _stated(pod: Pod, options: Options) -> tuple[Platform, ...] | None:
    noted = _annotated(pod, options)
    return noted.platforms if noted else None


def _annotated(pod: Pod, options: Options) -> Annotations | None:
    """The annotations on the way to the pod; None where none is archfit's."""
    for metadata in (pod.metadata, pod.object_metadata, *[metadata for _, metadata in pod.between]):
        notes = metadata.get("annotations")
        # What is no mapping is an error, and `annotations` has the sentence for it.
        if notes and (notes.__class__ is not dict or any(name[:12] == _OURS for name in notes)):
            from archfit.placement.annotations import annotated

            return annotated(pod, options.enforced_annotations)
    return None


def _left_alone(pod: Pod, options: Options, *, skip_noted: bool, skip_ruled: bool) -> tuple[LeftBy, str]:
    if skip_noted:
        return "annotation", f'{_OURS}skip is "true"'
    name = pod.spec.get("nodeName")
    if name and isinstance(name, str):
        return "nodeName", f"spec.nodeName is set to {name}"
    for pattern in options.exclude:
        if excluded(pod, pattern):
            return "exclude", f"excluded by configuration ({pattern})"
    if skip_ruled:
        return "rule", "a rule of the configuration says skip"
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
            return "placeholder", f"its nodeSelector's {label} is filled in later ({value})"
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
                    return f"its node affinity's {expression['key']} is filled in later ({value})"
    return ""


def _dicts(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and any(mark in value for mark in _PLACEHOLDERS)


def _filled_in_later(pod: Pod) -> str:
    """The first such field of a pod in an embedded object, and its text; "" if there is none."""
    if all(step == "items" or isinstance(step, int) for step in pod.root):
        return ""
    spec = {name: pod.spec[name] for name in _LOOKED_AT if name in pod.spec}
    metadata = {"annotations": pod.metadata.get("annotations")}
    for at, part in ((pod.path, spec), (pod.metadata_path, metadata)):
        found = _placeholder(part, "", at, len(at) + _DEPTH)
        if found:
            return found
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


def excluded(one: Pod | Untouched, pattern: Exclude) -> bool:
    """Whether an exclude glob means a pod, or an object without one."""
    from archfit.placement.filters import named_by  # only runs with globs need it

    return named_by(one.ref, pattern)
