"""A patch as the object needs it: holders created, what is inherited written out.

    the way to a field is missing      add {} for each mapping on it, from the top, guarded by a test of the first one
    a field is such a holder itself    it is added as the patch has it (spec.affinity of CloudNativePG)
    the field's value is inherited,    the whole value is written, with what the patch adds: an own value replaces it
    or the operator's default
    two pods need the same holder      the first one's patch creates it (`holders_once`)

The patch so far is about a pod spec with every value in its place (`Pod.at`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from archfit.patch import Add, Operation, Path, Test, apply
from archfit.results import Decision, Location
from archfit.workloads.pods import Pod


def fitted(pod: Pod, patch: Sequence[Operation]) -> list[Operation]:
    """The patch for the object that the pod is found in."""
    places = pod.places
    if places is None or not patch:
        return list(patch)
    steps: list[Operation] = list(patch)
    for field, source, empty in places.inherited:
        at = pod.at(field)
        own = [step for step in steps if _below(step.path, at)]
        if own:
            within: list[Operation] = [step.replace(path=step.path[len(at) :]) for step in own]
            value = apply(pod.spec[field], within)
            written: list[Operation] = [Test(source, pod.spec[field])] if source is not None else []
            written.append(Test(at, [] if empty else None))
            written += [Add((*at, "-"), item) for item in value] if empty else [Add(at, value)]
            first = steps.index(own[0])
            steps = [step for step in steps if not _below(step.path, at)]
            steps[first:first] = written
    added = {step.path for step in steps if isinstance(step, Add)}
    holders = [
        path
        for path in places.missing
        if path not in added and any(_below(step.path, path) for step in steps)
    ]
    made: list[Operation] = []
    for path in holders:
        if not any(_below(path, outer) for outer in holders if outer != path):
            made.append(Test(path, None))
        made.append(Add(path, {}))
    return [*made, *steps]


def holders_once(decisions: Iterable[tuple[Pod, Decision]]) -> Iterator[tuple[Pod, Decision]]:
    """The decisions of a stream, whose patches create a mapping that several pods of an object need once.

    Strimzi's KafkaConnect has `spec.template.pod` and `spec.template.buildPod`: both need `spec.template`.
    """
    made: set[tuple[Location, Path]] = set()
    for pod, decision in decisions:
        missing = pod.places.missing if pod.places is not None and decision.patch else ()
        there = {path for path in missing if (pod.location, path) in made}
        patch = [step for step in decision.patch if not (there and step.path in there)]
        made.update((pod.location, step.path) for step in patch if step.path in missing)
        yield pod, decision.replace(patch=tuple(patch)) if there else decision


def _below(path: Path, holder: Path) -> bool:
    return path[: len(holder)] == holder
