"""The part `tools`: the blocks of docs/tools.md, each with its real program (lab/whole/tool_runs.py).

The control plane has the controllers of Deployments, and a stand-in for the kubelet says that pods are ready, so that a
tool that waits for its Deployment ends. A tool whose program no registry of packages has runs where that program is on
PATH, and is named with the reason where it is not.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import machine
from control_plane import ControlPlane
from kubelet import Kubelet
from whole.tool_page import Workplace, blocks_of, digest
from whole.tool_runs import RUNS, ToolRun

PROGRAMS = (
    *("helm3", "helm4", "check-jsonschema"),
    *dict.fromkeys(
        program for run in RUNS.values() for program in run.programs.values() if program in machine.TABLE
    ),
)
_LAST_LINES = 8


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every tool of the page. Raises AssertionError where the control plane ends."""
    measured, wrong = [], []
    place = folder / "plane"
    place.mkdir()
    with ControlPlane(place, "--advertise-address=127.0.0.1") as plane:
        plane.controllers("deployment", "replicaset")
        with Kubelet(plane, unbound=True):
            for name, blocks in blocks_of().items():
                row: dict[str, Any] = {"tool": name, "blocks": digest(blocks)}
                tool = RUNS[name]
                if tool.lacking():
                    measured.append({**row, "read": tool.read})
                    continue
                began = time.monotonic()
                try:
                    _follow(folder / str(len(measured)), plane, name, tool)
                except AssertionError as error:
                    wrong.append(f"{name}: " + "\n  ".join(str(error).strip().splitlines()[-_LAST_LINES:]))
                    measured.append({**row, "read": tool.read})
                else:
                    seconds = round(time.monotonic() - began)
                    measured.append({**row, "with": tool.said(), "ran": tool.ran, "seconds": seconds})
                plane.alive()
    return {"tools": measured}, wrong


def _follow(folder: Path, plane: ControlPlane, name: str, tool: ToolRun) -> None:
    """Raises AssertionError."""
    folder.mkdir()
    with Workplace(folder, plane, tool.programs) as place:
        tool.follow(place, blocks_of()[name])
