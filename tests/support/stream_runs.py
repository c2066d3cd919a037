"""A stream transformed in runs and as a whole, and all that comes of it, without network.

in_runs(data, options, Asked(0.5))        half of the images are known before the lookup
as_a_whole(data, options, Asked(0.5))     the outcome that it must have
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from archfit import pipeline, stream
from archfit.errors import ArchfitError
from fuzz.engine import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from archfit.images.platforms import Found
    from archfit.options.settings import Options
    from archfit.pipeline import Settled, Transformed


class Asked:
    """The lookup of `fuzz.engine`, of which a share is known before; what it was asked."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.looked_up: list[list[str]] = []
        self.known_of: list[str] = []

    def lookup(self, texts: list[str]) -> Mapping[str, Found]:
        self.looked_up.append(list(texts))
        return lookup(texts)

    def known(self, texts: list[str]) -> Mapping[str, Found]:
        self.known_of += texts
        return lookup(text for text in texts if crc32(text[::-1].encode()) % 1000 < 1000 * self.share)


def outcome(of: Callable[[], Transformed | Settled]) -> Any:
    """Everything that a run writes, says and reports, but for the summaries."""
    try:
        made = of()
    except ArchfitError as error:
        return type(error), str(error)
    pods = [
        (
            pod.ref,
            pod.location,
            pod.path,
            pod.named_images,
            pod.immutable,
            pod.placed_elsewhere,
            decision,
        )
        for pod, decision in made.decisions
    ]
    return pods, made.results, list(made.answers.items()), made.splices, made.untouched, made.failed()


def in_runs(data: bytes, options: Options, asked: Asked) -> tuple[Any, bool]:
    """The outcome, and whether it was made without the documents."""
    read = stream.read(data, "pass")
    made: list[Transformed | Settled] = []

    def run() -> Transformed | Settled:
        made.append(pipeline.transform_in_runs(read.data, read.pieces, options, asked.lookup, asked.known))
        return made[0]

    return outcome(run), bool(made) and isinstance(made[0], pipeline.Settled)


def as_a_whole(data: bytes, options: Options, asked: Asked) -> Any:
    read = stream.read(data, "pass")
    return outcome(lambda: pipeline.transform(read.data, read.pieces, options, asked.lookup))


def readable(texts: Sequence[bytes]) -> Iterator[bytes]:
    for text in texts:
        try:
            stream.read(text, "pass")
        except ArchfitError:
            continue
        yield text


def settled_alike(data: bytes, options: Options, share: float) -> bool:
    """Asserts that runs have the outcome and the one lookup of the whole, and know each text once.

    Whether the outcome was made without the documents.
    """
    whole, runs = Asked(share), Asked(share)
    expected = as_a_whole(data, options, whole)
    found, lean = in_runs(data, options, runs)
    assert found == expected
    assert runs.looked_up == whole.looked_up
    assert len(runs.known_of) == len(set(runs.known_of))
    return lean
