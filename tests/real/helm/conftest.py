"""`registry`: the images of the demo, served on loopback; `helms("helm3")`: see tests/support/helm_runs.py."""

import json

import pytest
from registry import Registry

import machine
from chart_runs import Chart
from helm_runs import Helm


@pytest.fixture(scope="session")
def registry():
    """Every image of the project's charts."""
    known = machine.ROOT / "fixtures" / "demo" / "platforms.json"
    with Registry(json.loads(known.read_text(encoding="utf-8"))) as running:
        yield running


@pytest.fixture(scope="session")
def mirrors(registry):
    """The value of ARCHFIT_MIRROR for it."""
    return " ".join(registry.mirrors()[1::2])


@pytest.fixture(scope="session")
def helms(mirrors, tmp_path_factory):
    """A Helm by name, set up once."""
    ready: dict[str, Helm] = {}

    def helm(name: str) -> Helm:
        if name not in ready:
            ready[name] = Helm(name, tmp_path_factory.mktemp(name), mirrors)
        return ready[name]

    return helm


@pytest.fixture
def helm3(helms):
    """Helm 3, with archfit on PATH."""
    return helms("helm3")


@pytest.fixture
def helm4(helms):
    """Helm 4, with the plugin installed."""
    return helms("helm4")


@pytest.fixture(params=["helm3", "helm4"])
def helm(request, helms):
    """Both, one after the other."""
    return helms(request.param)


@pytest.fixture(params=["helm3", "helm4"])
def chart(request, real):
    """The chart of archfit in both Helms."""
    return Chart(request.param)
