"""The rows of `make bench`: which two commands are compared, and what the ratio must not exceed.

the pipe          archfit beside kustomize, yq and P, which is `python -I -c pass` of the same environment
lists             crds beside `yq .` and `kubectl annotate --local`, which decodes and writes the
                  list without a server (`kubectl apply --dry-run=client` asks one for each object)
the callers       helm and kustomize with archfit beside the same with `cat`
memory            64 MiB + 8 x the input, for one document in JSON 30 x
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from archfit.lookup.store.open import default_path
from callers import chart, function, kustomization, plugin
from inputs import ROOT
from pairs import Command
from warm_cache import warm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inputs import Inputs

TOOLS = ROOT / ".tools" / "bin"
MEMORY_MIB, MEMORY_OF_INPUT, MEMORY_OF_JSON = 64, 8, 30


class Row(NamedTuple):
    """One comparison. limit: what the value must not exceed; 0 for a row that only informs.

    by: what the value is: the ratio of the clock's seconds, that of processor time, or the first command's `seconds`.
    """

    what: str
    first: Command
    second: Command
    limit: float
    by: str = "ratio"


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
        warm(inputs.platforms, default_path(self.environ))
        self.empty = Command([str(programs / "python"), "-I", "-c", "pass"], self.environ)

    def archfit(self, stream: str, *words: str) -> Command:
        return Command([str(self.programs / "archfit"), *words], self.environ, self.inputs.path(stream))

    def tool(self, name: str, *words: str) -> Command:
        return Command([str(TOOLS / name), *words], self.environ)

    def yq(self, stream: str) -> Command:
        return self.tool("yq", ".", str(self.inputs.path(stream)))

    def annotated(self, stream: str) -> Command:
        return self.tool(
            *("kubectl", "annotate", "--local", "--output=yaml", "--filename", str(self.inputs.path(stream))),
            "example.com/one=1",
        )

    def built(self, stream: str) -> Command:
        return self.tool("kustomize", "build", str(kustomization(self.folder, self.inputs.path(stream))))


def rows(bench: Bench) -> Iterator[Row]:
    """All rows; what they need is made as they are asked for."""
    yield Row("warm, argo-cd / kustomize build", bench.archfit("argo-cd"), bench.built("argo-cd"), 0.06)
    yield Row("warm, argo-cd / yq .", bench.archfit("argo-cd"), bench.yq("argo-cd"), 0.20)
    yield Row("warm, argo-cd / P", bench.archfit("argo-cd"), bench.empty, 4.5)
    yield Row("warm, boutique / kustomize build", bench.archfit("boutique"), bench.built("boutique"), 1.1)
    yield Row("warm, boutique / P", bench.archfit("boutique"), bench.empty, 3.5)
    yield Row("nothing to do / P", bench.archfit("nothing"), bench.empty, 1.8)
    yield Row("dense / yq ., processor time", bench.archfit("dense"), bench.yq("dense"), 0.7, "processor")
    yield Row("dense / kustomize build", bench.archfit("dense"), bench.built("dense"), 0.03)
    yield Row("dense x 10 / dense", bench.archfit("dense10"), bench.archfit("dense"), 11)
    yield Row("dense x 50 / dense x 10", bench.archfit("dense50"), bench.archfit("dense10"), 5.5)
    yield Row("CRDs, 27 MB, seconds", bench.archfit("crds"), bench.empty, 0.3, "seconds")
    yield Row("CRDs, 27 MB / yq .", bench.archfit("crds"), bench.yq("crds"), 0)
    yield Row("CRDs, 27 MB / kubectl annotate --local", bench.archfit("crds"), bench.annotated("crds"), 0)
    yield from _function_rows(bench)
    yield from _helm_rows(bench)


def _function_rows(bench: Bench) -> Iterator[Row]:
    for name, limit in (("boutique", 1.25), ("argo-cd", 1.03)):
        ours, identity = (
            bench.tool(
                *("kustomize", "build", "--enable-alpha-plugins", "--enable-exec"),
                str(function(bench.folder, bench.inputs.path(name), called, program)),
            )
            for called, program in (("archfit", str(bench.programs / "archfit")), ("cat", "cat"))
        )
        yield Row(f"kustomize build, {name}: archfit as function / cat", ours, identity, limit)


def _helm_rows(bench: Bench) -> Iterator[Row]:
    plugins, program = bench.folder / "plugins", str(bench.programs / "archfit")
    plugin(plugins / "placed", "placed", program)
    plugin(plugins / "same", "same", "cat")
    small = str(ROOT / "fixtures" / "charts" / "small")
    big = str(chart(bench.folder, bench.inputs.path("argo-cd")))
    for helm, ours, identity in (("helm3", program, "cat"), ("helm4", "placed", "same")):
        for name, where, limit in (("small chart", small, 1.5), ("1.9 MB chart", big, 1.13)):
            first, second = (
                Command(
                    [str(TOOLS / helm), "template", "x", where, "--post-renderer", renderer],
                    {**bench.environ, "HELM_PLUGINS": str(plugins)} if helm == "helm4" else bench.environ,
                )
                for renderer in (ours, identity)
            )
            yield Row(f"{helm} template, {name}: archfit / cat", first, second, limit)
