"""Short runs of the fuzzer; `make -C lab fuzz` runs as long as it is told to."""

import pytest

import machine
from fuzz.asking import Asking
from fuzz.corpus import documents
from fuzz.fuzzing import Fuzzing


@pytest.fixture(scope="module")
def asking():
    with Asking(machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")) as running:
        yield running


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_run_finds_nothing_in_generated_streams(asking, seed):
    tally = Fuzzing(asking, ()).run(seed, 700, 60)
    assert tally.defects == {}
    assert tally.changed > 100


def test_a_short_run_finds_nothing_in_real_documents(asking, judge):
    real = documents(machine.shared("corpus"), judge)
    assert len(real) > 300
    tally = Fuzzing(asking, real).run(3, 1000, 60)
    assert tally.defects == {}
    assert tally.changed > 150
