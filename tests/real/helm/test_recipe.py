"""The recipe of docs/helm.md is true: every `sh` block of it runs, under the Helm of its section."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

import machine
from helm_runs import CHARTS, SYSTEM_PATH, start
from program import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE = (machine.ROOT / "docs" / "helm.md").read_text(encoding="utf-8")
UPGRADE = re.compile(r"^helm upgrade --install", re.MULTILINE)


def blocks(section: str) -> list[str]:
    """The `sh` blocks below a heading, its subsections left out."""
    text = PAGE.partition(f"\n{section}\n")[2].partition("\n#")[0]
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_no_block_is_left_out() -> None:
    sections = ("## Helm 3", "## Helm 4", "### helm plugin install", "### The signed plugin")
    assert [len(blocks(section)) for section in sections] == [
        1,
        1,
        1,
        2,
    ]  # test_signed_plugin.py runs the last two
    assert PAGE.count("```sh\n") == 5


@pytest.mark.parametrize(
    ("section", "helm", "renders"),
    [
        pytest.param("## Helm 3", "helm3", 3, id="helm3"),
        pytest.param("## Helm 4", "helm4", 2, id="helm4"),
        pytest.param("### helm plugin install", "helm4", 0, id="helm4-plugin-install"),
    ],
)
def test_the_recipe_runs(
    section: str, helm: str, renders: int, tool: Callable[[str], str], mirrors: str, tmp_path: Path
) -> None:
    home, folder = tmp_path / "home", tmp_path / "bin"
    (home / ".local" / "share" / "helm" / "plugins").mkdir(parents=True)
    folder.mkdir()
    (folder / "helm").symlink_to(tool(helm))
    (folder / "archfit").symlink_to(PROGRAM)
    shutil.copytree(CHARTS / "small", tmp_path / "chart")
    shutil.copytree(machine.ROOT / "helm-plugin", tmp_path / "helm-plugin")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environ = {
        **kept, "HOME": str(home), "PATH": f"{folder}:{SYSTEM_PATH}", "ARCHFIT_MIRROR": mirrors
    }  # fmt: skip
    (block,) = blocks(section)
    script = "set -eu\n" + UPGRADE.sub("helm template", block)
    if not renders:
        script += "helm template web ./chart --post-renderer archfit\n"
    ran = start(["/bin/sh", "-c", script], environ, tmp_path)
    assert ran.status == 0, ran.stderr
    assert ran.stdout.count(b"name: web-worker-2\n") == max(renders, 1)
    assert ran.stdout.count(b"key: kubernetes.io/arch\n") == 4 * max(renders, 1)
