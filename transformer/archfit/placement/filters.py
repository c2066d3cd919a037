"""Which objects and images a filter of the user means, and what is said of one that means nothing of the input.

    Deployment, deployments, deploy, sts, ds      a kind as manifests or kubectl's command line name it, in any case
    deployments.apps, Deployment.v1.apps          with the group, or with version and group
    Deployment/shop/cart                          kind, namespace, name: each a glob
    deployment/cart                               behind a kind without wildcards: the name, as for kubectl, or the
                                                  namespace
    */shop                                        behind a glob: the namespace
    shop                                          a kind, which is hardly meant: the warning shows what may be

Source: kubectl api-resources; kubectl get --help (TYPE[.VERSION][.GROUP]).
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from archfit.base.errors import InvalidReference
from archfit.base.memo import Memo
from archfit.base.printable import few
from archfit.base.results import Message, ObjectRef
from archfit.base.row_finder import RowFinder
from archfit.base.spelling import nearest
from archfit.images.overrides import OVERRIDES
from archfit.images.reference import Reference, parse
from archfit.options.settings import Exclude, Match, Options, Settings
from archfit.workloads.pods import Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from typing import TypeVar

    T = TypeVar("T")

_SHORT = {
    "cj": "cronjob",
    "deploy": "deployment",
    "ds": "daemonset",
    "po": "pod",
    "rc": "replicationcontroller",
    "rs": "replicaset",
    "sts": "statefulset",
}
_SHOWN = 5
_COMPARED = 1000


def is_glob(text: str) -> bool:
    """Whether it holds a wildcard of fnmatch."""
    return any(mark in text for mark in "*?[")


def _kinds(word: str) -> frozenset[str]:
    """The kinds in lower case that a word without wildcards may mean."""
    kinds = {word, _SHORT.get(word, word)}
    for plural, single in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(plural):
            kinds.add(word[: -len(plural)] + single)
    return frozenset(kinds)


_meant = Memo(_kinds, 1024)


def names_kind(pattern: str, ref: ObjectRef) -> bool:
    """Whether the pattern means the kind of the object."""
    return _named_kinds[pattern, ref.kind, ref.api_version]


def _names_kind(names: tuple[str, str, str]) -> bool:
    word, kind, api_version = (name.lower() for name in names)
    if is_glob(word):
        return fnmatchcase(kind, word)
    name, dot, qualifier = word.partition(".")
    group, _, version = api_version.rpartition("/")
    return kind in _meant[name] and (not dot or (group != "" and qualifier in (group, f"{version}.{group}")))


_named_kinds = Memo(_names_kind, 4096)


def identified(ref: ObjectRef, kind: str, namespace: str, name: str) -> bool:
    """Whether the object is of this kind, namespace and name; "" is any."""
    return (
        (not kind or names_kind(kind, ref))
        and (not namespace or fnmatchcase(ref.namespace, namespace))
        and (not name or fnmatchcase(ref.name, name))
    )


def second_names_object(glob: Exclude) -> bool:
    """Whether the second part may be a name, too, as in `deployment/cart`."""
    return bool(glob.namespace) and not glob.name and not is_glob(glob.kind)


def named_by(ref: ObjectRef, glob: Exclude) -> bool:
    """Whether the glob means the object."""
    return identified(ref, glob.kind, glob.namespace, glob.name) or (
        second_names_object(glob) and identified(ref, glob.kind, "", glob.namespace)
    )


def matched(pod: Pod, match: Match) -> bool:
    """Whether a rule of the configuration is about the pod."""
    return identified(pod.ref, match.kind, match.namespace, match.name) and all(
        _labelled(pod, key, value) for key, value in match.labels
    )


def _labelled(pod: Pod, key: str, value: str) -> bool:
    for metadata in (pod.metadata, pod.object_metadata):
        labels = metadata.get("labels")
        if isinstance(labels, dict) and key in labels and text_of(labels[key]) == value:
            return True
    return False


def _conditions(match: Match) -> list[list[Hashable]]:
    literal = {"namespace": match.namespace, "name": match.name}
    conditions: list[list[Hashable]] = [
        [pair] for pair in literal.items() if pair[1] and not is_glob(pair[1])
    ]
    if match.kind and not is_glob(match.kind):
        conditions.append([("kind", kind) for kind in _meant[match.kind.lower().partition(".")[0]]])
    return conditions + [[label] for label in match.labels]


def _of_glob(glob: Exclude) -> list[list[list[Hashable]]]:
    either = [Match(glob.namespace, glob.kind, glob.name)]
    either += [Match("", glob.kind, glob.namespace)] * second_names_object(glob)
    return list(map(_conditions, either))


def _keys(ref: ObjectRef) -> list[Hashable]:
    return [("namespace", ref.namespace), ("name", ref.name), ("kind", ref.kind.lower())]


def _pod_keys(pod: Pod) -> list[Hashable]:
    labels = [metadata.get("labels") for metadata in (pod.metadata, pod.object_metadata)]
    pairs = [pair for own in labels if isinstance(own, dict) for pair in own.items()]
    return _keys(pod.ref) + [(key, text_of(value)) for key, value in pairs]


GLOBS = RowFinder(_of_glob, _keys, named_by)
"""Globs that mean an ObjectRef."""
MATCHES = RowFinder(lambda match: [_conditions(match)], _pod_keys, matched)
RULES = RowFinder(
    lambda rule: [_conditions(rule.match)], _pod_keys, lambda pod, rule: matched(pod, rule.match)
)
"""Rules that are about a pod."""


def unmatched(settings: Settings, pods: Sequence[Pod], refs: Iterable[ObjectRef]) -> list[Message]:
    """What is said of this run's filters that mean nothing of the input. refs: of all that may hold pods."""
    own, objects = dict(settings.filters), list(dict.fromkeys(refs))
    return [
        Message("warning", f"{own[key]}: {sentence}")
        for key, missed in MISSED.items()
        if key in own
        for sentence in missed(settings.options, pods, objects)
    ]


def _excluding_nothing(options: Options, _pods: Sequence[Pod], refs: Sequence[ObjectRef]) -> list[str]:
    return _first(GLOBS.idle(options.exclude, refs), lambda glob: nothing_matches(glob, refs))


def _stating_nothing(options: Options, pods: Sequence[Pod], _refs: Sequence[ObjectRef]) -> list[str]:
    images = _references(text for pod in pods for _, text in pod.named_images if text)
    idle = OVERRIDES.idle(options.image_platforms, images)
    return _first(idle, lambda row: _no_image(row.pattern, images))


def _ruling_nothing(options: Options, pods: Sequence[Pod], _refs: Sequence[ObjectRef]) -> list[str]:
    idle = RULES.idle(options.rules, pods)
    return _first(idle, lambda rule: f"no pod of the input matches {_shown(rule.match)}")


def _of_no_node(options: Options, architectures: Iterable[tuple[str, ...]]) -> list[str]:
    cluster = [name for name in options.cluster_architectures if "/" not in name]
    return [
        f"{', '.join(names)}: the cluster has only {', '.join(cluster)}: if it has other nodes, name them in "
        "--cluster-architectures"
        for names in dict.fromkeys(architectures)
        if not set(names) & set(cluster)
    ]


MISSED: Mapping[str, Callable[[Options, Sequence[Pod], Sequence[ObjectRef]], list[str]]] = {
    "exclude": _excluding_nothing,
    "imagePlatforms": _stating_nothing,
    "rules": _ruling_nothing,
    "tolerate": lambda options, _pods, _refs: _of_no_node(
        options, [rule.architectures for rule in options.tolerate]
    ),
    "prefer": lambda options, _pods, _refs: _of_no_node(options, [(name,) for name, _ in options.prefer]),
}
"""By the key of an option that is a `filter`: a sentence about each of its entries that means nothing of the input."""


def of_no_namespace(settings: Settings, pods: Sequence[Pod]) -> list[Message]:
    """The warning about filters of a file that mean no pod of the input, and would mean one if it had the namespace
    that its pipeline knows.
    """
    options = settings.options
    loose = [pod for pod in pods if not pod.ref.namespace]
    if not loose:
        return []
    asking = [rule.match for rule in options.rules if _asks_for_namespace(rule.match.namespace)]
    missed = MATCHES.idle(asking, pods)
    if "exclude" not in dict(settings.filters):
        globs = [glob for glob in options.exclude if glob.name and _asks_for_namespace(glob.namespace)]
        idle = GLOBS.idle(globs, [pod.ref for pod in pods])
        missed += [Match(glob.namespace, glob.kind, glob.name) for glob in idle]
    anywhere = [match.replace(namespace="") for match in missed]
    for pod in loose:
        if next(MATCHES.meaning(anywhere, pod), None) is not None:
            text = (
                "rules and exclude of the configuration that name a namespace do not count for objects without "
                "one, as Helm renders them: match them by kind, name or labels, or render them with "
                "metadata.namespace"
            )
            return [pod.message("warning", text, ("metadata",))]
    return []


def _asks_for_namespace(glob: str) -> bool:
    return bool(glob) and not fnmatchcase("", glob)


def _first(idle: Sequence[T], sentence: Callable[[T], str]) -> list[str]:
    """A sentence about each of the first ones, and how many there are. A name that is near one takes time to find."""
    sentences = [sentence(item) for item in idle[:_SHOWN]]
    more = len(idle) - _SHOWN
    return [*sentences, f"{more} more match nothing in the input"] if more > 0 else sentences


def nothing_matches(glob: Exclude, refs: Sequence[ObjectRef]) -> str:
    """A sentence about a glob that means none of the objects, with those that may be meant."""
    text = str(glob)
    last = text.rpartition("/")[2]
    names = ["/".join(filter(None, (ref.qualified_kind, ref.namespace, ref.name))) for ref in refs]
    meant = [name for name, ref in zip(names, refs, strict=True) if ref.name and fnmatchcase(ref.name, last)]
    near = nearest(text, names[:_COMPARED]) if not meant else ""
    head = f"nothing in the input matches {text!r}"
    if "/" not in text and not is_glob(text):
        head += ", which is read as a kind"
        meant = meant or [f"*/{text}"] * any(ref.namespace == text for ref in refs)
    if meant or near:
        return f"{head}: did you mean {few(meant or [near], _SHOWN)}?"
    return f"{head}: it holds {few(names, _SHOWN) or 'no pods'}"


def _shown(match: Match) -> str:
    parts = [("namespace", match.namespace), ("kind", match.kind), ("name", match.name), *match.labels]
    return "{" + ", ".join(f"{key}: {value}" for key, value in parts if value) + "}"


def _no_image(pattern: str, images: Sequence[Reference]) -> str:
    tagged = ":" in pattern.rpartition("/")[2]
    names = list(dict.fromkeys(f"{image.name}:{image.tag}" if tagged else image.name for image in images))
    near = nearest(pattern, names[:_COMPARED])
    hint = f"did you mean {near!r}?" if near else f"it holds {few(names, _SHOWN) or 'none'}"
    return f"no image of the input matches {pattern!r}: {hint}"


def _references(texts: Iterable[str]) -> list[Reference]:
    references = []
    for text in dict.fromkeys(texts):
        try:
            references.append(parse(text))
        except InvalidReference:
            continue
    return references
