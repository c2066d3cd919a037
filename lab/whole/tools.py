"""The part `tools`: the blocks of docs/tools.md, each with its real program (lab/whole/tool_runs.py).

The control plane has the controllers of Deployments, and a stand-in for the kubelet says that pods are ready, so that a
tool that waits for its Deployment ends. A tool whose program no registry of packages has runs where that program is on
PATH. Where a program is not there, the record keeps what the tool's last run was, with its date.
"""

import datetime as dt
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import machine
from control_plane import ControlPlane
from kubelet import Kubelet
from whole.tool_page import Workplace, blocks_of, digest
from whole.tool_runs import RUNS, ToolRun

MEASURED = machine.ROOT / "fixtures" / "whole" / "tools" / "measured.json"
WANTED = tuple(
    dict.fromkeys(
        program for run in RUNS.values() for program in run.programs.values() if program in machine.TABLE
    )
)
_LAST_LINES = 8


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every tool of the page. Raises AssertionError where the control plane ends."""
    measured, wrong = [], []
    last = {row["tool"]: row for row in json.loads(MEASURED.read_text(encoding="utf-8"))["tools"]}
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    place = folder / "plane"
    place.mkdir()
    with ControlPlane(place, "--advertise-address=127.0.0.1") as plane:
        plane.controllers("deployment", "replicaset")
        with Kubelet(plane, unbound=True):
            for name, blocks in blocks_of().items():
                row: dict[str, Any] = {"tool": name, "blocks": digest(blocks)}
                tool = RUNS[name]
                if lacking := tool.lacking():
                    measured.append(last[name] if "ran" in last.get(name, ()) else {**row, "read": tool.read})
                    pinned = [machine.TABLE[one] for one in lacking if one in machine.TABLE]
                    wrong += [f"{name}: {one.name} is missing: {one.line}" for one in pinned]
                    continue
                began = time.monotonic()
                try:
                    _follow(folder / str(len(measured)), plane, name, tool)
                except AssertionError as error:
                    wrong.append(f"{name}: " + "\n  ".join(str(error).strip().splitlines()[-_LAST_LINES:]))
                    measured.append({**row, "read": tool.read})
                else:
                    seconds = round(time.monotonic() - began)
                    how = {"with": tool.said(), "ran": tool.ran, "date": today, "seconds": seconds}
                    measured.append({**row, **how})
                plane.alive()
    return {"tools": measured}, wrong


def _follow(folder: Path, plane: ControlPlane, name: str, tool: ToolRun) -> None:
    """Raises AssertionError."""
    folder.mkdir()
    with Workplace(folder, plane, tool.programs) as place:
        tool.follow(place, blocks_of()[name])
