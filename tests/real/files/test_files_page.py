"""docs/files.md, followed word by word: each of its shell blocks, in order, with the real helm, kustomize and git."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import machine
from file_runs import pod
from program import PROGRAM
from warm_cache import warm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "chart/values.yaml": "replicas: 1\n",
    "chart/templates/deployment.yaml": pod("{{ .Release.Name }}")
    .decode()
    .replace("spec:\n  t", "spec:\n  replicas: {{ .Values.replicas }}\n  t", 1),
    "values.yaml": "replicas: 3\n",
    "extra.yaml": pod("extra").decode(),
    "overlay/kustomization.yaml": "resources: [web.yaml]\n",
    "overlay/web.yaml": pod("web").decode(),
}
# What a block must leave behind or print, by a word that only it has.
SHOWS = {
    "check rendered/": b"as archfit would leave it: 1 pod spec, 1 image",
    "git apply": b"",
    "--kustomize": b"+++ b/kustomize-build\n",
}


RENDER = ["template", "web", "./chart", "--output-dir", "rendered"]


def test_every_block_of_the_page_runs(tool: Callable[[str], str], tmp_path: Path) -> None:
    cache, bin_folder, work = tmp_path / "cache.sqlite", tmp_path / "bin", tmp_path / "work"
    warm({"x.io/amd:1": ["linux/amd64"]}, str(cache))
    bin_folder.mkdir()
    for name, program in (
        ("helm", tool("helm3")),
        ("kustomize", tool("kustomize")),
        ("archfit", str(PROGRAM)),
    ):
        (bin_folder / name).symlink_to(program)
    for name, text in CHART.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    environ = {
        **os.environ,
        "PATH": f"{bin_folder}:/usr/bin:/bin",
        "ARCHFIT_CACHE": str(cache),
        "ARCHFIT_OFFLINE": "true",
    }
    blocks = BLOCK.findall((machine.ROOT / "docs" / "files.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 6
    shown = set()
    for block in blocks:
        if "--output-dir" not in block:  # every block begins with manifests that nobody transformed
            shutil.rmtree(work / "rendered")
            subprocess.run([tool("helm3"), *RENDER], cwd=work, env=environ, capture_output=True, check=True)
        # The check for arm64 finds what it looks for.
        expected = 3 if "--require arm64" in block else 0
        done = subprocess.run(
            ["sh", "-euc", block],
            cwd=work,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == expected, (block, done.stderr.decode())
        for word, text in SHOWS.items():
            if word in block:
                shown.add(word)
                assert text in done.stdout
    assert shown == SHOWS.keys()
    assert b"nodeAffinity" in (work / "placed.yaml").read_bytes()
    assert (work / "placed/web/templates/deployment.yaml").exists()
