"""`make bench`: archfit beside kustomize, yq and helm, both sides in one run; a table in Markdown.

    python benchmarks [--runs N] [--seconds N] [--only WORD].. [--python PATH]

Each row is a ratio of two commands run in turn, the bound that it states, and the absolute medians behind it (`rows`);
then the memory of a warm run of each stream, and runs that ask registries (`cold`). Rows of long commands have fewer
pairs, so that all rows take about a quarter of an hour. Exit 3 where a row misses what it states. A run of all rows
renews docs/proof.md. Nothing leaves loopback once the inputs are there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import cold
from environment import clean_environment, default_python
from inputs import machine, made
from measured import Table
from pairs import compared
from rows import MEMORY_MIB, MEMORY_OF_INPUT, MEMORY_OF_JSON, Bench, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRAMS = "go kustomize yq helm3 helm4 uv crane regctl"
_STREAMS = "small shop nothing argo-cd dense dense10 dense-json crds crds-list dense50"


def measure(bench: Bench, table: Table, runs: int, seconds: float, only: Sequence[str]) -> None:
    """The rows of ratios."""
    for row in rows(bench):
        if not any(word in row.what for word in only):
            continue
        pair = compared(row.first, row.second, runs, seconds)
        value = {"ratio": pair.ratio, "processor": pair.processor_ratio, "seconds": pair.first.seconds}[
            row.by
        ]
        table.row(
            *(row.what, f"{value:.3g}", table.bound(value, row.limit)),
            *(f"{one.seconds * 1000:.0f} ms, {one.peak_mib:.0f} MiB" for one in (pair.first, pair.second)),
            f"{pair.processor_ratio:.3g}",
        )


def measure_memory(bench: Bench, table: Table) -> None:
    """The largest resident size of a warm run of each input."""
    for name in _STREAMS.split():
        size = bench.inputs.path(name).stat().st_size / 2**20
        peak = compared(bench.archfit(name), bench.empty, 1).first.peak_mib
        times = MEMORY_OF_JSON if name.endswith("-json") else MEMORY_OF_INPUT
        bound = table.bound(peak, MEMORY_MIB + times * size)
        table.row(f"memory of {name}, MiB", f"{peak:.0f}", bound, "", f"{size:.2f} MiB of input", "")


def main() -> int:
    """Makes the inputs and the environment, and measures."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=25, help="pairs of each row at most")
    parser.add_argument(
        "--seconds", type=float, default=30, help="of each row, which has three pairs at least"
    )
    parser.add_argument("--only", action="append", help="rows that hold this text, or `memory`, or `cold`")
    parser.add_argument("--python", default=default_python(), help="that of the clean environment")
    chosen = parser.parse_args()
    if lacking := [name for name in _PROGRAMS.split() if not machine.find(name)]:
        parser.error(f"{', '.join(lacking)} missing: install Go (https://go.dev/dl/), and run `make bench`")
    asked = subprocess.run([chosen.python, "-V"], stdout=subprocess.PIPE, text=True, check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        bench = Bench(folder, clean_environment(folder / "venv", chosen.python), made(folder / "inputs"))
        head = ("What", "Value", "Stated", "archfit", "Beside", "Of processor time")
        table = Table("rows", *head, python=asked.stdout.split()[1])
        only = chosen.only or ["", "memory", "cold"]
        measure(bench, table, chosen.runs, chosen.seconds, only)
        if "memory" in only:
            measure_memory(bench, table)
        if "cold" in only:
            cold.measure(bench, table, chosen.runs)
    if not chosen.only:
        table.keep()
    return 3 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
