"""Releases with archfit from install to uninstall, and archfit taken out again: real Helms, API server and controllers.

`make -C lab whole PART=helm` and `PART=undo` take the steps and ways that cost more time.
"""

import pytest
import whole_tables

from whole.helmfile import placed
from whole.karpenter import digest
from whole.release_life import Step, life
from whole.release_site import ReleaseSite, platforms_of
from whole.undo_ways import OF_THE_CHART, PLACED, WAYS


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with ReleaseSite(tmp_path_factory.mktemp("site"), platforms_of("helm")) as running:
        yield running


def rolled(steps: list[Step]) -> dict[str, list[str]]:
    """Which workloads got other pods in each step; nothing was wrong."""
    assert [(step.what, step.wrong) for step in steps if step.wrong] == []
    return {step.what: step.rolled for step in steps if step.rolled}


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_a_release_lives_with_archfit(site, name):
    steps = life(site, name, waits=False)
    assert rolled(steps) == {
        "upgrade, a new image": ["Deployment/web"],
        "upgrade, an image that lost arm64": ["Deployment/web"],
        "rollback": ["Deployment/web"],
    }
    assert len(steps) == 9


@pytest.mark.parametrize(
    ("way", "stays", "rolls"),
    [
        pytest.param(
            "helm3, then helm4 --server-side", [], OF_THE_CHART, id="a release that Helm 4 took over"
        ),
        pytest.param("files with --stamp", [], PLACED, id="stamped files"),
        pytest.param("another field manager", PLACED, [], id="another field manager"),
        pytest.param("policy", ["8 pods until they are replaced"], [], id="policy"),
    ],
)
def test_archfit_is_taken_out(site, way, stays, rolls):
    undone = WAYS[way](site)
    assert undone.wrong == []
    assert (undone.stays, undone.rolled) == (stays, rolls)


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_archfit_writes_what_helmfile_was_measured_with(site, name):
    """Else the steps of the page are those of another archfit: run `make -C lab whole PART=helmfile`."""
    record = whole_tables.measured("helmfile")
    assert record["streams"][name] == digest(placed(site, name))
    assert [step["what"] for step in record["steps"] if step["wrong"]] == []
