"""A run of the fuzzer: batches of streams, one judge, and the smallest stream of each signature.

tally = Fuzzing(asking, real).run(seed, numbers, until)
tally.defects    {signature: Case}: the first stream that showed it, made smaller
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fuzz.asking import Answer, Asking, answered
from fuzz.engine import Done, Refused
from fuzz.properties import SLOW, Defect, Examined, counted_otherwise, examine, judged, recount
from fuzz.shrinking import shrunk
from fuzz.streams import Stream, stream


class Case(NamedTuple):
    """A defect: where it was found first, the smallest stream that shows it, and what happens there."""

    number: int
    stream: Stream
    detail: str


class Tally:
    def __init__(self) -> None:
        self.streams = self.changed = self.refused = self.killed = 0
        self.counts: dict[str, int] = {}
        self.defects: dict[str, Case] = {}


class Fuzzing:
    """The streams of a seed, one after the other. real: documents of the corpus."""

    def __init__(self, asking: Asking, real: Sequence[Any]) -> None:
        self._asking = asking
        self._real = real

    def run(
        self,
        seed: int,
        streams: int,
        seconds: float,
        found: Callable[[str, Case], None] = lambda _signature, _case: None,
    ) -> Tally:
        """At most so many streams, for at most so long. found: is told of each new signature."""
        tally = Tally()

        def examined_of(number: int) -> tuple[int, Examined]:
            return number, examine(stream(seed, number, self._real))

        for (number, examined), answer in answered(
            self._asking, range(streams), examined_of, lambda one: one[1].asked, seconds
        ):
            tally.streams += 1
            tally.refused += isinstance(examined.outcome, Refused)
            tally.changed += isinstance(examined.outcome, Done) and bool(examined.outcome.splices)
            tally.killed += examined.asked is not None and answer is None
            for defect in self._defects(examined, answer):
                tally.counts[defect.signature] = tally.counts.get(defect.signature, 0) + 1
                if defect.signature not in tally.defects:
                    case = self._case(number, examined.stream, defect)
                    tally.defects[defect.signature] = case
                    found(defect.signature, case)
        return tally

    def defects_of(self, one: Stream) -> list[Defect]:
        """All that is wrong with one stream."""
        examined = examine(one)
        answer = self._asking.ask([examined.asked])[0] if examined.asked else None
        return self._defects(examined, answer)

    def _defects(self, examined: Examined, answer: Answer | None) -> list[Defect]:
        again = recount(examined, answer)
        if again is not None:
            answer = self._asking.ask([again])[0]
        return [*examined.defects, *judged(examined, answer), *counted_otherwise(examined, answer)]

    def _case(self, number: int, one: Stream, defect: Defect) -> Case:
        if defect.signature == SLOW:
            return Case(number, one, defect.detail)

        def fails(candidate: Stream) -> bool:
            return any(other.signature == defect.signature for other in self.defects_of(candidate))

        small = shrunk(one, fails)
        return Case(
            number,
            small,
            next(
                (other.detail for other in self.defects_of(small) if other.signature == defect.signature),
                defect.detail,
            ),
        )
