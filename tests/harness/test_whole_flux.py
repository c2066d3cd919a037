"""How a step of `make -C lab whole PART=flux` is judged, and what the tables say of it."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

from typing import Any

import pytest
import whole_tables

from whole.flux import steps

NODES = {"x": "amd64", "y": "arm64"}


def pod(name: str, *images: str, on: str = "", init: str = "") -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": [{"name": name, "image": f"img.test/{one}/x:1"} for one in images],
        **({"nodeName": on} if on else {}),
        **({"initContainers": [{"name": "i", "image": f"img.test/{init}/x:1"}]} if init else {}),
    }
    return {"metadata": {"name": name}, "spec": spec}


JUDGED = [
    pytest.param([pod("web", "multi", on="x"), pod("web", "multi", on="y")], [], id="both run anywhere"),
    pytest.param([pod("old", "amd", on="y"), pod("old", "amd", on="x")], ["old (1)"], id="amd64 on arm64"),
    pytest.param([pod("new", "arm64", on="x")], ["new (1)"], id="arm64 on amd64"),
    pytest.param([pod("cart", "multi", on="y", init="amd")], ["cart (1)"], id="an init container counts"),
    pytest.param([pod("pair", "multi", "amd", on="y")], ["pair (1)"], id="every container counts"),
    pytest.param([pod("old", "amd")], [], id="without a node"),
]


@pytest.mark.parametrize(("pods", "wrong"), JUDGED)
def test_pods_are_judged_by_the_names_of_images(pods: Any, wrong: list[str]) -> None:
    assert steps.judged(pods, NODES) == {"pods": len(pods), "wrong": wrong}


class _Site:
    """The workloads of one namespace."""

    def __init__(self, *workloads: dict[str, Any]) -> None:
        self._found = {f"{one['kind']}/{one['metadata']['name']}": one for one in workloads}
        self.plane = self

    def namespace(self, name: str) -> str:
        return name

    def workloads(self, _namespace: str) -> dict[str, dict[str, Any]]:
        return self._found


def workload(name: str = "web", kind: str = "Deployment", **pod_spec: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"template": {"spec": {"restartPolicy": "Always", **pod_spec}}}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


TAINT = [{"key": "kubernetes.io/arch", "operator": "Exists"}]
UNLIKE = [
    pytest.param(workload(tolerations=TAINT), workload(tolerations=TAINT), [], id="alike"),
    pytest.param(workload(), workload(affinity={}), [], id="an empty field is none"),
    pytest.param(workload(tolerations=TAINT), workload(), ["Deployment/web: tolerations"], id="a toleration is gone"),
    pytest.param(workload(), workload(tolerations=TAINT), ["Deployment/web: tolerations"], id="a toleration too many"),
    pytest.param(workload(affinity={"a": 1}), workload(affinity={"a": 2}), ["Deployment/web: affinity"], id="another affinity"),
    pytest.param(workload(), workload(nodeSelector={"a": "b"}), ["Deployment/web: nodeSelector"], id="a selector of somebody"),
    pytest.param(workload(), workload("other"), ["Deployment/web: missing"], id="missing"),
    pytest.param(
        workload(kind="CronJob", tolerations=TAINT), workload(kind="CronJob"), ["CronJob/web: tolerations"], id="of a CronJob"
    ),
    pytest.param(workload(kind="Job", tolerations=TAINT), workload(kind="Job"), [], id="a hook is no workload"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "there", "unlike"), UNLIKE)
def test_a_workload_is_compared_by_where_its_pods_may_run(wanted: Any, there: Any, unlike: list[str]) -> None:
    site: Any = _Site(there)
    assert steps.Door(site, "shop").unlike([wanted]) == unlike


STEP = {"step": "image", "ready": True, "pods": 9, "wrong": [], "unlike": []}
FAULTS = [
    pytest.param({}, True, [], id="as expected"),
    pytest.param({"ready": False, "message": "no"}, True, ["image: Ready is False: no"], id="not ready"),
    pytest.param({}, False, ["image: Ready is True: "], id="ready where it has to be refused"),
    pytest.param({"wrong": ["web (2)"]}, True, ["image: on a wrong architecture: web (2)"], id="a wrong pod"),
    pytest.param({"unlike": ["D/w"]}, True, ["image: unlike what archfit writes: D/w"], id="a term is lost"),
]


@pytest.mark.parametrize(("more", "ready", "wrong"), FAULTS)
def test_a_step_that_does_not_hold_is_a_line(more: Any, ready: bool, wrong: list[str]) -> None:
    site: Any = _Site()
    door = steps.Door(site, "shop")
    door.fine({**STEP, **more}, ready=ready)
    assert door.wrong == wrong


CELLS = [
    pytest.param({}, "Ready", id="ready"),
    pytest.param({"ready": False}, "not Ready", id="refused"),
    pytest.param(
        {"wrong": ["a (2)", "b (1)"]}, "Ready; 3 of 9 pods on a wrong architecture", id="wrong pods"
    ),
    pytest.param(
        {"unlike": ["D/w"]}, "Ready; unlike what archfit writes: D/w", id="a workload without terms"
    ),
    pytest.param({"times": 10, "events": 0}, "Ready; 10 times, 0 events of a change", id="again and again"),
]


@pytest.mark.parametrize(("more", "cell"), CELLS)
def test_a_cell_of_the_table_says_what_was_seen(more: Any, cell: str) -> None:
    assert whole_tables._cell({**STEP, **more}) == cell
