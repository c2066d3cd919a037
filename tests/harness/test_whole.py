"""What `make -C lab whole` measured is of what archfit writes today, else the pages have another archfit's figures."""

import pytest
import whole_tables

from whole import karpenter
from whole.argocd.renders import manifests
from whole.fleet import turns
from whole.fleet.site import RELEASES
from whole.flux import forms


@pytest.mark.real
def test_argo_cd_gets_the_manifests_that_were_measured():
    """Else run `make -C lab whole PART=argocd`."""
    written = manifests()
    assert written == whole_tables.measured("argocd")["manifests"]
    assert written["everywhere-hub"] != written["everywhere-edge"], "clusters with other architectures"


@pytest.mark.real
def test_flux_gets_the_patches_that_were_measured():
    """Else run `make -C lab whole PART=flux`."""
    assert whole_tables.measured("flux")["writes"] == forms.digests()


@pytest.mark.real
@pytest.mark.parametrize("engine", RELEASES)
def test_the_chart_renders_what_was_run(engine):
    """Else run `make -C lab whole PART=fleet`."""
    assert whole_tables.measured("fleet")["written"][engine] == turns.digest(engine)


@pytest.mark.parametrize("turn", karpenter.TURNS, ids=lambda turn: "-".join(turn).replace(" ", "-"))
def test_archfit_writes_what_was_measured(turn):
    """Else run `make -C lab whole PART=karpenter`."""
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
