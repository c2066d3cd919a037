"""What a pod gets, as a patch.

Node affinity and tolerations are appended, and the mappings above them created, each guarded by a test of what was
found there. A member whose value is null counts as missing; `{}` and `[]` are kept and filled. Where a custom resource
inherits the value of a field, or has its operator's default, the whole value is written: an own value replaces it.
"""

from __future__ import annotations

from archfit.base.memo import Memo
from archfit.base.patch import Add, Operation, Path, Test, apply
from archfit.base.results import Decision, Location, Removed
from archfit.options.settings import PREFERRED, REQUIRED, Toleration
from archfit.placement.affinity import ARCH, Expression
from archfit.placement.reach import NOTHING, RequiredTerms
from archfit.startup.record import Record
from archfit.workloads.pods import Pod
from archfit.yaml.values import Typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias


def joined(names: Iterable[str]) -> str:
    """`amd64, arm64`, sorted."""
    return ", ".join(sorted(names))


def because(lacking: Sequence[Removed]) -> str:
    """` (arm64: a, b do not offer it)`, or nothing."""
    parts = [f"{gone.architecture} is not offered by {', '.join(gone.images)}" for gone in lacking]
    return f" ({'; '.join(parts)})" if parts else ""


def taint(toleration: Toleration) -> str:
    """`key=value:effect`, as kubectl writes taints."""
    value = f"={toleration.value}" if toleration.value else ""
    effect = f":{toleration.effect}" if toleration.effect else ""
    return f"{toleration.key}{value}{effect}"


_Fields: TypeAlias = tuple[tuple[str, str], ...]


class Additions(Record):
    """What a pod gets.

    terms: for its required node affinity, narrowed only where it has one. preferred: (architecture, weight) of each
    preferred term. tolerations: those that it lacks. pins: (label, value) that its nodeSelector gets in place of the
    terms.
    """

    terms: RequiredTerms = NOTHING
    preferred: tuple[tuple[str, int], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    pins: tuple[tuple[str, str], ...] = ()


def _usual_patch(
    key: tuple[Path, tuple[tuple[Expression, ...], ...], tuple[tuple[str, int], ...], tuple[_Fields, ...]],
) -> tuple[Operation, ...]:
    """The patch of pods without affinity and tolerations, by their path in their object and what they get."""
    path, required, preferred, tolerations = key
    steps = _affinity((*path, "affinity"), None, RequiredTerms(required), preferred)
    steps += _tolerations((*path, "tolerations"), None, tolerations)
    return tuple(steps)


# A stream of many pods takes less memory where they share their patches.
_usual = Memo(_usual_patch, 256)


def pod_patch(pod: Pod, additions: Additions) -> tuple[Operation, ...]:
    """The patch for a pod whose affinity and tolerations have been read without Malformed."""
    terms, preferred = additions.terms, additions.preferred
    affinity, there = pod.spec.get("affinity"), pod.spec.get("tolerations")
    tolerations = tuple([_fields(toleration) for toleration in additions.tolerations])
    if affinity is None and there is None and pod.placement_paths is None:
        if not pod.root:
            return _usual[pod.path, terms.required, preferred, tolerations]
        patch = _usual[pod.path[len(pod.root) :], terms.required, preferred, tolerations]
        return tuple([step.replace(path=(*pod.root, *step.path)) for step in patch])
    if additions.pins:
        steps = _pinned(pod.at("nodeSelector"), pod.spec.get("nodeSelector"), additions.pins)
    else:
        steps = _affinity(pod.at("affinity"), affinity, terms, preferred)
    steps += _tolerations(pod.at("tolerations"), there, tolerations)
    return tuple(materialise_parents(pod, steps))


def _affinity(
    path: Path, affinity: Any, terms: RequiredTerms, preferred: Iterable[tuple[str, int]]
) -> list[Operation]:
    fresh: dict[str, Any] = {}
    if terms.required:
        fresh[REQUIRED] = {"nodeSelectorTerms": [_term(expressions) for expressions in terms.required]}
    preferences = [preference(architecture, weight) for architecture, weight in preferred]
    if preferences:
        fresh[PREFERRED] = preferences
    if affinity is None:
        return _created(path, {"nodeAffinity": fresh}) if fresh else []
    path = (*path, "nodeAffinity")
    node = affinity.get("nodeAffinity")
    if node is None:
        return _created(path, fresh) if fresh else []
    steps: list[Operation] = []
    for key, value in fresh.items():
        steps += _appended((*path, key), node.get(key), value)
    for index, expressions in terms.narrowed:
        at = (*path, REQUIRED, "nodeSelectorTerms", index, "matchExpressions")
        there = node[REQUIRED]["nodeSelectorTerms"][index].get("matchExpressions")
        steps += _appended(at, there, _term(expressions)["matchExpressions"])
    return steps


def _pinned(path: Path, selector: Any, pins: Sequence[tuple[str, str]]) -> list[Operation]:
    if selector is None:
        return _created(path, dict(pins))
    return [Test(path, selector), *[Add((*path, label), value) for label, value in pins]]


def _tolerations(path: Path, there: object, new: Sequence[_Fields]) -> list[Operation]:
    return _appended(path, there, [dict(fields) for fields in new]) if new else []


def _created(path: Path, value: object) -> list[Operation]:
    return [Test(path, None), Add(path, value)]


def _appended(path: Path, there: object, value: Any) -> list[Operation]:
    if there is None:
        return _created(path, value)
    return [Test(path, there), *[Add((*path, "-"), item) for item in value]]


def _term(expressions: Iterable[Expression]) -> dict[str, Any]:
    return {
        "matchExpressions": [
            {"key": key, "operator": operator, "values": list(values)}
            for key, operator, values in expressions
        ]
    }


def preference(architecture: str, weight: int) -> dict[str, Any]:
    """The preferred term for an architecture."""
    return {"weight": Typed("int", str(weight)), "preference": _term([(ARCH, "In", (architecture,))])}


def toleration_fields(toleration: Toleration) -> dict[str, str]:
    """The toleration as Kubernetes has it, without empty fields."""
    return dict(_fields(toleration))


def _fields(toleration: Toleration) -> _Fields:
    fields = [(name, getattr(toleration, name)) for name in ("key", "operator", "value", "effect")]
    return tuple([field for field in fields if field[1]])


def materialise_parents(pod: Pod, patch: Sequence[Operation]) -> list[Operation]:
    """The patch for the object that the pod is found in. patch: as if every value stood in its place."""
    paths = pod.placement_paths
    if paths is None or not patch:
        return list(patch)
    steps: list[Operation] = list(patch)
    for field, source, own in paths.inherited:
        at = pod.at(field)
        below = [step for step in steps if _below(step.path, at)]
        if below:
            within: list[Operation] = [step.replace(path=step.path[len(at) :]) for step in below]
            value = apply(pod.spec[field], within)
            written: list[Operation] = [Test(source, pod.spec[field])] if source is not None else []
            written.append(Test(at, own))
            if own is None:
                written.append(Add(at, value))
            elif isinstance(own, dict):
                written += [Add((*at, key), member) for key, member in value.items() if key not in own]
            else:
                written += [Add((*at, "-"), item) for item in value]
            first = steps.index(below[0])
            steps = [step for step in steps if not _below(step.path, at)]
            steps[first:first] = written
    added = {step.path for step in steps if isinstance(step, Add)}
    parents = [
        path for path in paths.missing if path not in added and any(_below(step.path, path) for step in steps)
    ]
    created: list[Operation] = []
    for path in parents:
        if not any(_below(path, outer) for outer in parents if outer != path):
            created.append(Test(path, None))
        created.append(Add(path, {}))
    return [*created, *steps]


def one_after_another(decisions: Iterable[tuple[Pod, Decision]]) -> Iterator[tuple[Pod, Decision]]:
    """The decisions of a stream, each of whose patches goes on from those before it.

    Strimzi's KafkaConnect has `spec.template.pod` and `spec.template.buildPod`: both need `spec.template`, which is
    created once. Milvus' `spec.components.affinity` is that of a pod, which others inherit after it was edited.
    """
    created: set[tuple[Location, Path]] = set()
    edited: dict[tuple[Location, Path], list[Operation]] = {}
    for pod, decision in decisions:
        if pod.placement_paths is None or not decision.patch:
            yield pod, decision
            continue
        missing = pod.placement_paths.missing
        there = {path for path in missing if (pod.location, path) in created}
        patch = [
            _after(step, edited.get((pod.location, step.path), ()))
            for step in decision.patch
            if step.path not in there
        ]
        created.update((pod.location, step.path) for step in patch if step.path in missing)
        for at in pod.placement_paths.at.values():
            edited[pod.location, at] = [
                step.replace(path=step.path[len(at) :])
                for step in patch
                if _below(step.path, at) and not isinstance(step, Test)
            ]
        yield pod, decision.replace(patch=tuple(patch))


def _after(step: Operation, edits: Sequence[Operation]) -> Operation:
    """The step, which expects a value, after these edits of it."""
    return step.replace(value=apply(step.value, edits)) if edits and isinstance(step, Test) else step


def _below(path: Path, parent: Path) -> bool:
    return path[: len(parent)] == parent
