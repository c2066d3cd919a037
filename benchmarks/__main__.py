"""`make bench`: archfit beside kustomize, yq and helm, both sides in one run; a table in Markdown.

    python benchmarks [--runs N] [--only WORD]

Each row is a ratio of two commands run in turn, the limit that it must keep, and the absolute medians behind it.
P is `python -I -c pass` of the same environment. Nothing leaves loopback.
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
from typing import TYPE_CHECKING, NamedTuple

from inputs import ROOT, Inputs, chart, clean_environment, function, kustomization, made
from pairs import Command, compared, timed

sys.path.insert(0, str(ROOT / "fixtures"))
sys.path.insert(0, str(ROOT / "tests" / "support"))

from registry import Registry

from archfit.store.directories import default_path
from warm_cache import warm

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ROOT / ".tools" / "bin"
ROUND_TRIP_SECONDS = 0.05


class Row(NamedTuple):
    """One comparison. limit: what the ratio must not exceed. processor: of processor time, not of the clock's."""

    what: str
    first: Command
    second: Command
    limit: float
    processor: bool = False


class Bench:
    """The commands, on inputs in a temporary folder with a cache of their own."""

    def __init__(self, folder: Path, programs: Path, inputs: Inputs) -> None:
        self.folder, self.programs, self.inputs = folder, programs, inputs
        # PATH has no HELM_ or ARCHFIT_ variables behind it, and Python no switch that costs start-up.
        self.environ = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "LANG": "C.UTF-8"}
        small = str(ROOT / "fixtures" / "charts" / "small")
        rendered = subprocess.run(
            [TOOLS / "helm3", "template", "x", small], stdout=subprocess.PIPE, check=True
        ).stdout
        inputs.path("small").write_bytes(rendered)
        self.empty = Command([str(programs / "python"), "-I", "-c", "pass"], self.environ)

    def archfit(self, stream: str, *words: str) -> Command:
        return Command([str(self.programs / "archfit"), *words], self.environ, self.inputs.path(stream))

    def tool(self, name: str, *words: str) -> Command:
        return Command([str(TOOLS / name), *words], self.environ)

    def fill_cache(self) -> None:
        warm(self.inputs.platforms, default_path(self.environ))

    def rows(self) -> Iterator[Row]:
        path = self.inputs.path
        argo, boutique = (
            self.tool("kustomize", "build", str(kustomization(self.folder, path(name))))
            for name in ("argo-cd", "boutique")
        )
        dense = self.tool("kustomize", "build", str(kustomization(self.folder, path("dense"))))
        yield Row("warm, argo-cd / kustomize build", self.archfit("argo-cd"), argo, 0.10)
        yield Row(
            "warm, argo-cd / yq .", self.archfit("argo-cd"), self.tool("yq", ".", str(path("argo-cd"))), 0.30
        )
        yield Row("warm, argo-cd / P", self.archfit("argo-cd"), self.empty, 5)
        yield Row("warm, boutique / kustomize build", self.archfit("boutique"), boutique, 2)
        yield Row("warm, boutique / P", self.archfit("boutique"), self.empty, 4)
        yield Row(
            "dense / yq ., processor time",
            self.archfit("dense"),
            self.tool("yq", ".", str(path("dense"))),
            1.2,
            processor=True,
        )
        yield Row("dense / kustomize build", self.archfit("dense"), dense, 0.05)
        yield Row("dense x 10 / dense", self.archfit("dense10"), self.archfit("dense"), 11)
        yield Row("nothing to do / P", self.archfit("nothing"), self.empty, 2.2)
        yield from self.function_rows()
        yield from self.helm_rows()

    def function_rows(self) -> Iterator[Row]:
        for name, limit in (("boutique", 1.25), ("argo-cd", 1.05)):
            ours, identity = (
                self.tool(
                    *("kustomize", "build", "--enable-alpha-plugins", "--enable-exec"),
                    str(function(self.folder, self.inputs.path(name), called, program)),
                )
                for called, program in (("archfit", str(self.programs / "archfit")), ("cat", "cat"))
            )
            yield Row(f"kustomize build, {name}: archfit as function / cat", ours, identity, limit)

    def helm_rows(self) -> Iterator[Row]:
        plugins = self.folder / "plugins"
        _plugin(plugins / "placed", "placed", str(self.programs / "archfit"))
        _plugin(plugins / "same", "same", "cat")
        small, big = (
            str(ROOT / "fixtures" / "charts" / "small"),
            str(chart(self.folder, self.inputs.path("argo-cd"))),
        )
        for helm, ours, identity in (
            ("helm3", str(self.programs / "archfit"), "cat"),
            ("helm4", "placed", "same"),
        ):
            for name, where, limit in (("small chart", small, 1.7), ("1.9 MB chart", big, 1.35)):
                first, second = (
                    Command(
                        [str(TOOLS / helm), "template", "x", where, "--post-renderer", renderer],
                        {**self.environ, "HELM_PLUGINS": str(plugins)} if helm == "helm4" else self.environ,
                    )
                    for renderer in (ours, identity)
                )
                yield Row(f"{helm} template, {name}: archfit / cat", first, second, limit)


def _plugin(folder: Path, name: str, command: str) -> None:
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(
        f"apiVersion: v1\ntype: postrenderer/v1\nname: {name}\nversion: 0.1.0\nruntime: subprocess\n"
        f"runtimeConfig:\n  platformCommand:\n  - command: {command}\n",
        encoding="utf-8",
    )


def measure(bench: Bench, runs: int, only: str) -> None:
    """Prints the table of ratios."""
    print("| what | ratio | must reach | first | second | peak MiB |\n| --- | --- | --- | --- | --- | --- |")
    for row in bench.rows():
        if only not in row.what:
            continue
        pair = compared(row.first, row.second, runs)
        ratio = pair.processor_ratio if row.processor else pair.ratio
        verdict = "" if ratio <= row.limit else " (missed)"
        print(
            f"| {row.what} | {ratio:.3g} | ≤ {row.limit:g}{verdict} | {pair.first.seconds * 1000:.0f} ms "
            f"| {pair.second.seconds * 1000:.0f} ms | {pair.first.peak_mib:.0f} / {pair.second.peak_mib:.0f} |",
            flush=True,
        )


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
            f"{path * 1000:.0f} ms at 32 connections: ratio {seconds / (warm + path):.2f} (must reach 1.3); "
            f"{len(distant.asked)} requests, {distant.connections} connections"
        )


def main() -> None:
    """Makes the inputs and the environment, and measures."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="pairs of each row")
    parser.add_argument("--only", default="", help="rows that hold this text")
    chosen = parser.parse_args()
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors"
    print(f"{machine}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        inputs = made(folder / "inputs")
        programs = clean_environment(folder / "venv")
        bench = Bench(folder, programs, inputs)
        bench.fill_cache()
        measure(bench, chosen.runs, chosen.only)
        if chosen.only in "cold":
            measure_cold(bench, chosen.runs)


if __name__ == "__main__":
    main()
