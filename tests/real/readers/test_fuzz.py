"""Short runs of the fuzzer; `make -C lab fuzz` runs as long as it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import machine
from fuzz.asking import Asking
from fuzz.corpus import documents
from fuzz.fuzzing import Fuzzing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml_judge import Judge


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    with Asking(machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")) as running:
        yield running


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_run_finds_nothing_in_generated_streams(asking: Asking, seed: int) -> None:
    tally = Fuzzing(asking, ()).run(seed, 700, 60)
    assert tally.defects == {}
    assert tally.changed > 100


def test_a_short_run_finds_nothing_in_real_documents(asking: Asking, judge: Judge) -> None:
    real = documents(machine.shared("corpus"), judge)
    assert len(real) > 300
    tally = Fuzzing(asking, real).run(3, 1000, 60)
    assert tally.defects == {}
    assert tally.changed > 150
