"""The runtimes' own code, as a judge; and both registries with what the `fill` of a module puts into them."""

import pytest
from tests.real.registries.runtime_judge import RuntimeJudge

import machine
from real_registries import Running, distribution, ggcr


@pytest.fixture(scope="module")
def runtimes():
    binary = machine.go_build(machine.ROOT / "tests" / "judges" / "runtime", "runtime_judge")
    with RuntimeJudge(binary) as judge:
        yield judge


@pytest.fixture(scope="module")
def content(request, tmp_path_factory):
    """A folder that distributions serve, filled through a plain one, which syncs each file that it writes."""
    folder = tmp_path_factory.mktemp("content")
    with distribution(folder) as running:
        request.module.fill(running, synced=True)
    return folder


@pytest.fixture(scope="module")
def debian(content):
    with distribution(content) as running:
        yield running


@pytest.fixture(scope="module")
def google(request, tmp_path_factory):
    with ggcr(tmp_path_factory.mktemp("ggcr")) as running:
        request.module.fill(running, synced=False)
        yield running


@pytest.fixture(params=["debian", "google"])
def server(request):
    running: Running = request.getfixturevalue(request.param)
    return running
