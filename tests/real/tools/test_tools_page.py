"""docs/tools.md: the blocks for which `make test` has the programs; `make -C lab whole` runs the others too."""

import pytest
import yaml

import machine
import published_crds
from control_plane import ControlPlane
from whole.tool_page import PAGE, Workplace, blocks_of
from whole.tool_runs import RUNS

# tests/real/examples plays a playbook with the same module.
SLOW = {"Ansible"}
HERE = [
    name
    for name, run in RUNS.items()
    if name not in SLOW
    and all(one in machine.TABLE and one not in machine.ON_REQUEST for one in run.programs.values())
]


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """Of its own: what a tool leaves is deleted whole."""
    with ControlPlane(tmp_path_factory.mktemp("plane")) as running:
        yield running


@pytest.mark.parametrize("tool", HERE)
def test_the_blocks_of_a_tool_place_and_stop_where_archfit_fails(tool, plane, tmp_path):
    with Workplace(tmp_path, plane, RUNS[tool].programs) as place:
        RUNS[tool].follow(place, blocks_of()[tool])


def test_the_pipe_at_the_top_of_the_page(plane, tmp_path):
    pipe = PAGE.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0]
    with Workplace(tmp_path, plane, {}) as place:
        place.refused(lambda: place.shell(pipe))
        place.shell(pipe)
        place.deployed("web")


def test_tekton_takes_the_task(schema_judge):
    schema_judge.load(path for path in published_crds.files() if path.name == "300-task.yaml")
    assert "v1" in schema_judge.kinds["tekton.dev", "Task"]
    assert schema_judge.errors(yaml.safe_load(blocks_of()["Tekton"][0].text)) == []
