"""The pages show what `make -C lab whole` measured, and archfit writes today what was run then."""

import pytest
import whole_tables

import machine
from whole import karpenter
from whole.fleet import turns
from whole.fleet.site import RELEASES

DOCS = machine.ROOT / "docs"


@pytest.mark.real
@pytest.mark.parametrize("engine", RELEASES)
def test_the_chart_renders_what_was_run(engine):
    """Else run `make -C lab whole PART=fleet`."""
    assert whole_tables.measured("fleet")["written"][engine] == turns.digest(engine)


@pytest.mark.parametrize("turn", karpenter.TURNS, ids=lambda turn: "-".join(turn).replace(" ", "-"))
def test_archfit_writes_what_was_measured(turn):
    """Else the figures of the page are those of another archfit: run `make -C lab whole PART=karpenter`."""
    (found,) = [
        one
        for one in whole_tables.measured("karpenter")["turns"]
        if (one["pools"], one["workloads"], one["policy"]) == turn
    ]
    assert found["stream"] == karpenter.digest(karpenter.workloads(turn))
    if turn.workloads == karpenter.WRITTEN:
        assert found["wrong"], "as written something has to be wrong, or the turn shows nothing"
    else:
        assert (found["wrong"], found["pending"]) == ([], [])
