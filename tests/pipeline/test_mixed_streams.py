"""However a stream is read, by documents or by items, it becomes what it does as one whole.

whole     every part one document
sliced    items of lists by themselves: values, messages and decisions are those of the whole
"""

import random
from typing import Any, NamedTuple

import pytest

from archfit import pipeline
from archfit.base.errors import ArchfitError, InvalidInput
from archfit.options.settings import Options
from archfit.workloads import inventory
from archfit.yaml import stream
from archfit.yaml.compose import parse
from archfit.yaml.scan import whole
from archfit.yaml.stream import split
from fuzz.engine import lookup
from fuzz.mixed import mixed

STREAMS = 60
OPTIONS = {
    "leave": Options(on_conflict="leave"),
    "fail": Options(),
    "always": Options(on_conflict="leave", affinity="always", prefer=(("arm64", 5),)),
    "never": Options(on_conflict="leave", affinity="never", immutable="full"),
}


class Outcome(NamedTuple):
    """All that is written and said of a stream, but for where objects stand and how they are indented.

    A sliced item begins a text of its own, and messages name paths. values: of the documents that are written;
    None where nothing is.
    """

    values: list[Any] | None
    messages: set[Any]
    decisions: list[Any]
    answers: list[Any]
    untouched: set[Any]


def outcome(data: bytes, options: Options) -> Outcome | str:
    """What becomes of the stream, or the error that ends the run."""
    try:
        read = stream.read_stream(data, "pass")
        made = pipeline.transform(read.data, read.pieces, options, lookup)
    except ArchfitError as error:
        return f"{type(error).__name__}: {error}"
    written = b"".join(map(bytes, stream.parts(read.data, made.splices)))
    return Outcome(
        None if made.failed() else [_value(written[piece.start : piece.end]) for piece in split(written)],
        {(result.severity, result.ref) for result in made.messages},
        [
            (
                pod.ref,
                pod.path[len(pod.root) :],
                len(pod.images),
                pod.immutable,
                decision.outcome,
                decision.reason,
            )
            for pod, decision in made.decisions
        ],
        list(made.answers.items()),
        {(one.ref, one.known, one.controller) for one in made.inventory.untouched},
    )


def _value(text: bytes) -> Any:
    """The value of a document; its text where the parser refuses it, as archfit leaves it alone then."""
    try:
        return parse(text.decode()).value
    except InvalidInput:
        return text


def as_a_whole(data: bytes, options: Options, patched: pytest.MonkeyPatch) -> Outcome | str:
    patched.setattr(inventory, "spans", lambda _data, piece, _is_podless: [whole(piece)])
    return outcome(data, options)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_stream_that_is_read_in_parts_becomes_what_the_whole_becomes(options):
    chance, changed = random.Random(options), 0
    for seed in range(STREAMS):
        data = mixed(chance).encode(errors="replace")
        found = outcome(data, OPTIONS[options])
        with pytest.MonkeyPatch.context() as patched:
            expected = as_a_whole(data, OPTIONS[options], patched)
        assert found == expected, (seed, data)
        changed += isinstance(expected, Outcome) and any(row[-2] == "Change" for row in expected.decisions)
    assert changed > STREAMS // 10
