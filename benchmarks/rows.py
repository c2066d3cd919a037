"""The rows of `make bench`: which two commands are compared, and what the ratio must not exceed.

the pipe          archfit beside kustomize, yq and P, which is `python -I -c pass` of the same environment
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
from tls_files import tls_files
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
        self.environ = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "SSL_CERT_FILE": str(tls_files().ca),
        }
        small = str(ROOT / "fixtures" / "charts" / "small")
        rendered = subprocess.run(
            [TOOLS / "helm3", "template", "x", small], stdout=subprocess.PIPE, check=True
        ).stdout
        inputs.path("small").write_bytes(rendered)
        warm(inputs.platforms, default_path(self.environ))
        self.empty = Command([str(programs / "python"), "-I", "-c", "pass"], self.environ)

    def archfit(self, stream: str, *words: str) -> Command:
        """A run with a stream as its input, "" for none."""
        read = self.inputs.path(stream) if stream else None
        return Command([str(self.programs / "archfit"), *words], self.environ, read)

    def tool(self, name: str, *words: str) -> Command:
        return Command([str(TOOLS / name), *words], self.environ)

    def yq(self, stream: str) -> Command:
        return self.tool("yq", ".", str(self.inputs.path(stream)))

    def built(self, stream: str) -> Command:
        return self.tool("kustomize", "build", str(kustomization(self.folder, self.inputs.path(stream))))


def rows(bench: Bench) -> Iterator[Row]:
    """All rows; what they need is made as they are asked for."""
    yield Row("warm, argo-cd / kustomize build", bench.archfit("argo-cd"), bench.built("argo-cd"), 0.065)
    yield Row("warm, argo-cd / yq .", bench.archfit("argo-cd"), bench.yq("argo-cd"), 0.22)
    yield Row("warm, shop / kustomize build", bench.archfit("shop"), bench.built("shop"), 1.3)
    yield Row("nothing to do / P", bench.archfit("nothing"), bench.empty, 2.1)
    yield Row("dense / yq ., processor time", bench.archfit("dense"), bench.yq("dense"), 1.0, "processor")
    yield Row("dense x 10 / dense", bench.archfit("dense10"), bench.archfit("dense"), 11)
    yield Row("dense x 50 / dense x 10", bench.archfit("dense50"), bench.archfit("dense10"), 5.5)
    yield Row("CRDs, 27 MB, seconds", bench.archfit("crds"), bench.yq("crds"), 0.3, "seconds")
    yield from _function_rows(bench)
    yield from _helm_rows(bench)


def _function_rows(bench: Bench) -> Iterator[Row]:
    for name, limit in (("shop", 1.25), ("argo-cd", 1.03)):
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
        for name, where, limit in (("small chart", small, 1.6), ("1.9 MB chart", big, 1.25)):
            first, second = (
                Command(
                    [str(TOOLS / helm), "template", "x", where, "--post-renderer", renderer],
                    {**bench.environ, "HELM_PLUGINS": str(plugins)} if helm == "helm4" else bench.environ,
                )
                for renderer in (ours, identity)
            )
            yield Row(f"{helm} template, {name}: archfit / cat", first, second, limit)
