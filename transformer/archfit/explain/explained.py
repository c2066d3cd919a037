"""Everything that is explained about a run: pods, and objects that are passed over, with their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from archfit.base.results import Decision, Location, ObjectRef
from archfit.explain.explanation import Explanation, explanation
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.startup.record import Record
from archfit.stream_inventory import StreamInventory
from archfit.workloads.builtin import by_kind
from archfit.workloads.documents import Lines
from archfit.workloads.pods import Pod
from archfit.workloads.unsupported.untouched import Untouched


class ExplainedPod(Record):
    """One pod. location: of its object in the input. several: its object holds other pods too."""

    location: Location
    explanation: Explanation
    several: bool = False

    @property
    def settled(self) -> bool:
        """Whether it was decided without an error, and some node can run it."""
        errors = any(message.severity == "error" for message in self.explanation.messages)
        return self.explanation.outcome not in ("Conflict", "Unresolved") and not errors


class Explained(Record):
    """What is explained. passed_over: what may hold pods and is left as it is."""

    pods: tuple[ExplainedPod, ...] = ()
    passed_over: tuple[Untouched, ...] = ()


def explained(
    data: bytes,
    inventory: StreamInventory,
    decisions: Sequence[tuple[Pod, Decision]],
    answers: Mapping[str, Answer],
    options: Options,
    wanted: Callable[[ObjectRef], bool] = lambda _ref: True,
) -> Explained:
    """What a stream holds, explained: the objects that `wanted` accepts."""
    rows, lines = by_kind(options.workloads), Lines(data, inventory.documents)
    counts = Counter((pod.location, pod.root) for pod, _ in decisions)
    pods = [
        ExplainedPod(
            pod.location.replace(line=lines.line(pod, (*pod.root, "kind"))),
            explanation(pod, own, decision, answers, options, rows),
            counts[pod.location, pod.root] > 1,
        )
        for (pod, own), (_, decision) in zip(inventory.pods(), decisions, strict=True)
        if wanted(pod.ref)
    ]
    return Explained(tuple(pods), tuple(left for left in inventory.untouched if wanted(left.ref)))
