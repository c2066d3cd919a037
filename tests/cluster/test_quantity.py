"""Quantities and requests, case by case; tests/real/audit asks the scheduler's own code about thousands."""

import pytest

from archfit.audit.running.pod_requests import requested, requested_by_manifest
from archfit.cluster.quantity import milli, nano, units

_GIB = 1 << 30


@pytest.mark.parametrize(
    ("text", "in_milli", "in_units"),
    [
        ("0", 0, 0),
        ("1", 1000, 1),
        ("100m", 100, 1),
        ("0.1", 100, 1),
        (".5", 500, 1),
        ("1.", 1000, 1),
        ("1Ki", 1024_000, 1024),
        ("1.5Gi", 1536 * 1024 * 1024 * 1000, 3 * _GIB // 2),
        ("1k", 1_000_000, 1000),
        ("1e3", 1_000_000, 1000),
        ("1E3", 1_000_000, 1000),
        ("1e-3", 1, 1),
        ("1E", 2**63 - 1, 10**18),
        ("1n", 1, 1),
        ("0.1n", 1, 1),
        ("9Ei", 2**63 - 1, 2**63 - 1),
        ("+2", 2000, 2),
        ("-2", -2000, -2),
        (2, 2000, 2),
        (0.5, 500, 1),
        (1e22, 2**63 - 1, 2**63 - 1),
        ("1e999999999", 2**63 - 1, 2**63 - 1),
        ("1e-999999999", 1, 1),
    ],
)
def test_a_quantity_is_exact(text, in_milli, in_units):
    assert (milli(nano(text)), units(nano(text))) == (in_milli, in_units)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1K",
        "1ki",
        "1mi",
        "1e",
        "1e2m",
        "0x10",
        "1,5",
        "1..5",
        "\u0661",
        None,
        True,
        [],
        "9" * 1000,
    ],
)
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(ValueError, match="quantity"):
        nano(text)


def _container(cpu: str = "", *, limit: str = "", sidecar: bool = False) -> dict[str, object]:
    resources = {name: {"cpu": text} for name, text in (("requests", cpu), ("limits", limit)) if text}
    return {"name": "c", "resources": resources, **({"restartPolicy": "Always"} if sidecar else {})}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        pytest.param({"containers": [_container("1"), _container("500m")]}, 1500, id="containers add up"),
        pytest.param({"containers": [_container("1")], "initContainers": [_container("3")]}, 3000, id="an init container is a minimum"),
        pytest.param({"containers": [_container("1")], "initContainers": [_container("1", sidecar=True)]}, 2000, id="a sidecar adds up"),
        pytest.param({"containers": [_container("1")], "initContainers": [_container("1", sidecar=True), _container("3")]}, 4000, id="init after a sidecar"),
        pytest.param({"containers": [_container("1")], "initContainers": [_container("3"), _container("1", sidecar=True)]}, 3000, id="init before a sidecar"),
        pytest.param({"containers": [_container("1")], "overhead": {"cpu": "250m"}}, 1250, id="overhead"),
        pytest.param({"containers": [_container("1")], "resources": {"requests": {"cpu": "5"}}, "overhead": {"cpu": "1"}}, 6000, id="the pod's own"),
        pytest.param({"containers": [_container("nonsense")]}, 0, id="no quantity counts as nothing"),
        pytest.param({}, 0, id="nothing"),
    ],
)  # fmt: skip
def test_a_pod_requests_by_the_formula_of_the_scheduler(spec, cpu):
    assert requested({"spec": spec}) == (cpu, 0)


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        pytest.param({"containers": [_container(limit="2")]}, 2000, id="limits of a container"),
        pytest.param({"containers": [_container("1", limit="2")]}, 1000, id="a request stays"),
        pytest.param({"containers": [_container("0", limit="2")]}, 0, id="a request of nothing stays"),
        pytest.param({"containers": [_container()], "initContainers": [_container(limit="2")]}, 2000, id="of an init container"),
        pytest.param({"containers": [_container()], "resources": {"limits": {"cpu": "3"}}}, 3000, id="limits of the pod"),
        pytest.param({"containers": [_container("1")], "resources": {"limits": {"cpu": "3"}}}, 1000, id="what containers request stands before"),
        pytest.param({"containers": [_container("1")], "resources": {"limits": {"cpu": "3"}, "requests": {"cpu": "2"}}}, 2000, id="what the pod requests"),
    ],
)  # fmt: skip
def test_a_manifest_gets_the_requests_that_the_api_server_would_write(spec, cpu):
    assert requested_by_manifest(spec) == (cpu, 0)
