"""`make -C lab whole`: how parts run and end, how a turn of Karpenter is judged, and that the figures are those of today."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import whole_tables

import machine
from archfit.audit.fleet.setup_files import ENGINES
from operators.build import Failed
from whole import karpenter, parts
from whole.fleet import turns
from whole.parts import Part, run_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DOCS = machine.ROOT / "docs"


@pytest.fixture(autouse=True)
def _in_this_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of its own takes rights that not every user has."""
    monkeypatch.setattr(parts, "alone", lambda: None)


def fine(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    return {"turns": []}, []


def with_faults(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    return {"turns": []}, ["a pod has no node"]


def fails(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    raise Failed("building x", "line 1\nline 2\n")


def ends(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    raise AssertionError("etcd has ended:\nno space")


def breaks(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    raise KeyError("x")


def killed(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    os.kill(os.getpid(), 9)
    return {}, []


@pytest.mark.parametrize(
    ("run", "measured", "wrong"),
    [
        pytest.param(fine, {"turns": []}, (), id="as expected"),
        pytest.param(with_faults, {"turns": []}, ("a pod has no node",), id="something does not hold"),
        pytest.param(fails, None, ("building x failed\n    line 1\n    line 2",), id="a step that failed"),
        pytest.param(ends, None, ("etcd has ended:\n  no space",), id="a program that ended"),
        pytest.param(breaks, None, ("it ended with status 1 and said nothing",), id="a bug"),
        pytest.param(killed, None, ("it ended with status -9 and said nothing",), id="killed"),
    ],
)
def test_a_part_ends_and_the_others_run(
    run: Any, measured: Any, wrong: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, second = run_all({"first": Part((), run), "second": Part((), fine)})
    assert (first.name, first.measured, first.wrong) == ("first", measured, wrong)
    assert (second.name, second.measured, second.wrong) == ("second", {"turns": []}, ())
    assert list(tmp_path.iterdir()) == []


def test_a_part_without_its_program_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find", lambda name: None if name == "karpenter-kwok" else name)
    lacking, there = run_all({"lacking": Part(karpenter.PROGRAMS, fails), "there": Part(("etcd",), fine)})
    assert lacking.wrong == ("karpenter-kwok is missing: go install sigs.k8s.io/karpenter/kwok@v1.14.0",)
    assert there.wrong == ()


def test_no_process_of_a_part_that_is_killed_goes_on(tmp_path: Path) -> None:
    """The control plane starts its programs so that they end with it (prctl(2), PR_SET_PDEATHSIG)."""
    import control_plane

    written = tmp_path / "pid"

    def run(_folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
        program = [sys.executable, "-c", "import signal; signal.pause()"]
        process = subprocess.Popen(program, preexec_fn=control_plane._end_with_parent)  # noqa: PLW1509
        written.write_text(str(process.pid))
        os.kill(os.getpid(), 9)
        return {}, []

    (ended,) = run_all({"part": Part((), run)})
    assert ended.measured is None
    process = int(written.read_text())
    give_up = time.monotonic() + 10
    while _is_running(process):
        assert time.monotonic() < give_up


def _is_running(process: int) -> bool:
    try:
        state = (
            (machine.Path(f"/proc/{process}/stat")).read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        )
    except FileNotFoundError:
        return False
    return state != "Z"


def node(name: str, architecture: str, price: str = "0.5") -> dict[str, Any]:
    labels = {
        "kubernetes.io/arch": architecture,
        "karpenter.sh/nodepool": "default",
        "eks-node-viewer/instance-price": price,
    }
    return {"metadata": {"name": name, "labels": labels}}


def pod(name: str, *images: str, on: str = "", daemon: bool = False, init: str = "") -> dict[str, Any]:
    owners = [{"kind": "DaemonSet" if daemon else "ReplicaSet"}]
    containers = [{"name": name, "image": f"img.test/{image}/x:1"} for image in images]
    spec = {"containers": containers, **({"nodeName": on} if on else {})}
    if init:
        spec["initContainers"] = [{"name": "i", "image": f"img.test/{init}/x:1"}]
    return {"metadata": {"name": name, "ownerReferences": owners}, "spec": spec}


NODES = [node("x", "amd64"), node("y", "arm64", "0.25"), node("z", "arm64", "0.25")]
JUDGED = [
    pytest.param([pod("web", "multi", on="x"), pod("web", "multi", on="y")], {}, id="both run anywhere"),
    pytest.param([pod("old", "amd", on="y"), pod("old", "amd", on="x")], {"wrong": ["old (1)"]}, id="amd64 on arm64"),
    pytest.param([pod("new", "arm64", on="x")], {"wrong": ["new (1)"]}, id="arm64 on amd64"),
    pytest.param([pod("cart", "multi", on="y", init="amd")], {"wrong": ["cart (1)"]}, id="an init container counts"),
    pytest.param([pod("pair", "multi", "amd", on="y")], {"wrong": ["pair (1)"]}, id="every container counts"),
    pytest.param([pod("web", "multi"), pod("web", "multi")], {"pending": ["web (2)"]}, id="without a node"),
    pytest.param([pod("agent", "multi", on="x", daemon=True)], {"pods": 0, "missing": ["agent on 2 of 3 nodes"]}, id="a DaemonSet is missing"),
    pytest.param([pod("probe", "amd", on="x", daemon=True)], {"pods": 0}, id="a DaemonSet where its images run"),
    pytest.param(
        [pod("probe", "amd", on=one, daemon=True) for one in "xyz"], {"pods": 0, "wrong": ["probe (2)"]}, id="and where they do not"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("pods", "found"), JUDGED)
def test_a_turn_is_judged_by_the_names_of_images(pods: Any, found: Any) -> None:
    expected = {
        "nodes": {"amd64": 1, "arm64": 2}, "nodePools": {"default": 3}, "dollars": 1.0, "pods": len(pods), "wrong": [], "pending": [], "missing": [],
    }  # fmt: skip
    assert karpenter.judged(NODES, pods) == {**expected, **found}


@pytest.mark.parametrize("engine", ENGINES)
def test_setup_fleet_writes_what_was_run(engine: str) -> None:
    """Else run `make -C lab whole PART=fleet`."""
    assert whole_tables.measured("fleet")["written"][engine] == turns.digest(engine)


@pytest.mark.parametrize("turn", karpenter.TURNS, ids=lambda turn: "-".join(turn).replace(" ", "-"))
def test_archfit_writes_what_was_measured(turn: karpenter.Turn) -> None:
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


@pytest.mark.parametrize("page", ["clouds.md", "proof.md", "tools.md", "undo.md"])
def test_the_pages_show_what_was_measured(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert whole_tables.updated(text) == text


def test_a_page_without_markers_is_one_error() -> None:
    with pytest.raises(
        ValueError,
        match="the page has none of the lines <!-- whole -->, <!-- argocd -->, <!-- fleet -->, <!-- flux -->, <!-- karpenter -->, <!-- tools -->",
    ):
        whole_tables.updated("# Page\n")
