"""Archives that no tool writes: each is read within bounds, and nothing is guessed."""

import tracemalloc
from random import Random
from time import process_time

import pytest

from hostile_archives import KINDS, MAY_BE_READ
from hostile_layers import read

MOST_BYTES = 48 << 20
MOST_SECONDS = 20.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_archive_ends_within_its_bounds(kind):
    blob = KINDS[kind](Random(kind))
    began = process_time()
    tracemalloc.start()
    try:
        said = read(blob)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    assert process_time() - began < MOST_SECONDS
    assert said.startswith(("unread: ", "right: ") if kind in MAY_BE_READ else "unread: "), said
