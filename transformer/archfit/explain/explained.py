"""Everything that is explained about the inputs of a run: pods, and objects that are passed over, with their places.

inventory, decisions ── explanation of each pod ── where it stands ──┬── `text`       the tree
                     objects that are passed over ────────────────┴── `command`    JSON

`explained` makes both for one input, of the objects that `wanted` accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from archfit.base.results import Decision, Location, ObjectRef
from archfit.explain.explanation import Explanation, explanation
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.pipeline import StreamInventory
from archfit.startup.record import Record
from archfit.workloads.builtin import by_kind
from archfit.workloads.documents import Lines
from archfit.workloads.pods import Pod


class Place(Record):
    """Where an object stands. file: of the input, "" for standard input. line: of the object in it.

    document: its number in the stream. source: the file that Helm names above it, "" if it names none.
    """

    file: str
    line: int
    document: int
    source: str

    def __str__(self) -> str:
        if self.file:
            return f"{self.file}:{self.line}"
        return f"line {self.line} of the stream, {self.source}" if self.source else f"line {self.line}"


class ExplainedPod(Record):
    """One pod. several: its object holds other pods too. settled: nothing about it needs attention."""

    place: Place
    explanation: Explanation
    several: bool = False

    @property
    def settled(self) -> bool:
        """Whether it was decided without an error, and some node can run it."""
        one = self.explanation
        return one.outcome not in ("Conflict", "Unresolved") and all(
            message.severity != "error" for message in one.messages
        )


class PassedOver(Record):
    """An object that may hold pods and that no row reads, or only in part. controller: what made it, or ""."""

    place: Place
    api_version: str
    kind: str
    namespace: str
    name: str
    reason: str
    controller: str


class Explained(Record):
    """What is explained about one or more inputs."""

    pods: tuple[ExplainedPod, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()


def explained(
    name: str,
    data: bytes,
    found: StreamInventory,
    decisions: Sequence[tuple[Pod, Decision]],
    answers: Mapping[str, Answer],
    options: Options,
    wanted: Callable[[ObjectRef], bool] = lambda _ref: True,
) -> Explained:
    """One input, explained. name: of its file, "" for standard input. data, found, decisions: of the input."""
    rows, lines = by_kind(options.workloads), Lines(data, found.documents)
    counts: dict[tuple[Location, object], int] = {}
    for pod, _ in decisions:
        counts[pod.location, pod.root] = counts.get((pod.location, pod.root), 0) + 1
    pods = [
        ExplainedPod(
            _place(name, pod.location, lines.line(pod, (*pod.root, "kind"))),
            explanation(pod, own, decision, answers, options, rows),
            counts[pod.location, pod.root] > 1,
        )
        for (pod, own), (_, decision) in zip(found.pods(), decisions, strict=True)
        if wanted(pod.ref)
    ]
    passed = (
        PassedOver(
            _place(name, one.location, one.location.line),
            one.ref.api_version,
            one.ref.kind,
            one.ref.namespace,
            one.ref.name,
            one.reason,
            one.controller,
        )
        for one in found.untouched
        if wanted(one.ref)
    )
    return Explained(tuple(pods), tuple(passed))


def merged(parts: Iterable[Explained]) -> Explained:
    """Several inputs as one."""
    parts = tuple(parts)
    return Explained(
        tuple(pod for part in parts for pod in part.pods),
        tuple(one for part in parts for one in part.passed_over),
    )


def _place(name: str, location: Location, line: int) -> Place:
    return Place(name, line, location.document, location.source)
