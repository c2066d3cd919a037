"""`make bench`: archfit beside kustomize, yq, kubectl and helm, both sides in one run; tables in Markdown.

    python benchmarks [--runs N] [--seconds N] [--only WORD].. [--python PATH]

Each row is a ratio of two commands run in turn, the limit that it must keep, and the absolute medians behind it
(`rows`). Rows of long commands have fewer pairs, so that all rows take about a quarter of an hour.
Nothing leaves loopback.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from inputs import ROOT, made
from pairs import compared, timed

sys.path.insert(0, str(ROOT / "fixtures"))
sys.path.insert(0, str(ROOT / "tests" / "support"))

from registry import Registry

from environment import clean_environment, default_python
from rows import MEMORY_MIB, MEMORY_OF_INPUT, MEMORY_OF_JSON, Bench, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUND_TRIP_SECONDS = 0.05
_STREAMS = "small boutique nothing argo-cd dense dense10 dense-json crds crds-list dense50"


def measure(bench: Bench, runs: int, seconds: float, only: Sequence[str]) -> None:
    """Prints the table of ratios."""
    print(
        "| what | value | wanted | of processor time | first | second | peak MiB | pairs |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for row in rows(bench):
        if not any(word in row.what for word in only):
            continue
        pair = compared(row.first, row.second, runs, seconds)
        value = {"ratio": pair.ratio, "processor": pair.processor_ratio, "seconds": pair.first.seconds}[
            row.by
        ]
        print(
            f"| {row.what} | {value:.3g} | {_goal(value, row.limit)} | {pair.processor_ratio:.3g} "
            f"| {pair.first.seconds * 1000:.0f} ms "
            f"| {pair.second.seconds * 1000:.0f} ms | {pair.first.peak_mib:.0f} / {pair.second.peak_mib:.0f} "
            f"| {pair.pairs} |",
            flush=True,
        )


def measure_memory(bench: Bench) -> None:
    """Prints the largest resident size of a warm run of each input."""
    print("\n| warm run of | input MiB | peak MiB | wanted |\n| --- | --- | --- | --- |")
    for name in _STREAMS.split():
        size = bench.inputs.path(name).stat().st_size / 2**20
        peak = compared(bench.archfit(name), bench.empty, 1).first.peak_mib
        times = MEMORY_OF_JSON if name.endswith("-json") else MEMORY_OF_INPUT
        goal = _goal(peak, MEMORY_MIB + times * size)
        print(f"| {name} | {size:.2f} | {peak:.1f} | {goal} |", flush=True)


def _goal(value: float, limit: float) -> str:
    return f"≤ {limit:.3g}{'' if value <= limit else ' (missed)'}" if limit else "-"


def measure_cold(bench: Bench, runs: int) -> None:
    """Prints what a run costs that has to ask for 40 images, 50 ms away, two more round trips for a connection."""
    warm = sorted(timed(bench.archfit("many")).seconds for _ in range(runs))[runs // 2]
    waits = threading.Event()
    with Registry(
        bench.inputs.platforms,
        before_request=lambda _asked: waits.wait(ROUND_TRIP_SECONDS),
        before_connection=lambda: waits.wait(2 * ROUND_TRIP_SECONDS),
    ) as distant:
        cold = bench.archfit("many", "--no-cache", *distant.mirrors())
        seconds = sorted(timed(cold).seconds for _ in range(runs))[runs // 2]
        distant.forget()
        timed(cold)
        path = (2 + 2) * ROUND_TRIP_SECONDS
        print(
            f"\nCold, 40 images: {seconds * 1000:.0f} ms; warm run {warm * 1000:.0f} ms + critical path "
            f"{path * 1000:.0f} ms at 32 connections: ratio {seconds / (warm + path):.2f} (wanted: 1.15); "
            f"{len(distant.asked)} requests, {distant.connections} connections"
        )


def main() -> None:
    """Makes the inputs and the environment, and measures."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=25, help="pairs of each row at most")
    parser.add_argument(
        "--seconds", type=float, default=30, help="of each row, which has three pairs at least"
    )
    parser.add_argument("--only", action="append", help="rows that hold this text, or `memory`, or `cold`")
    parser.add_argument("--python", default=default_python(), help="that of the clean environment")
    chosen = parser.parse_args()
    asked = subprocess.run([chosen.python, "-V"], stdout=subprocess.PIPE, text=True, check=True)
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors"
    print(f"{machine}, {asked.stdout.strip()}, {time.strftime('%Y-%m-%d')}, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        inputs = made(folder / "inputs", largest=True)
        bench = Bench(folder, clean_environment(folder / "venv", chosen.python), inputs)
        only = chosen.only or ["", "memory", "cold"]
        measure(bench, chosen.runs, chosen.seconds, only)
        if "memory" in only:
            measure_memory(bench)
        if "cold" in only:
            measure_cold(bench, chosen.runs)


if __name__ == "__main__":
    main()
