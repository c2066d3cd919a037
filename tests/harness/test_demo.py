"""The demo's parts: its manifests are what Helm prints, its registry knows their images, its diff is true."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import machine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEMO = machine.ROOT / "fixtures" / "demo"
CHARTS = machine.ROOT / "fixtures" / "charts"

STAND_IN = """\
#!{python}
import os, sys, urllib.request
mirrors = dict(word.split("=", 1) for word in sys.argv[2::2])
for line in os.environ["PLACES"].split():
    host, path = line.split("=")
    url = mirrors[host].removesuffix(host) + "v2/" + host + path
    urllib.request.urlopen(url).read()
print("placed", *sorted(name for name in os.environ if name.startswith("ARCHFIT_")), file=sys.stderr)
sys.stdout.write(sys.stdin.read().replace("storage: 20Gi", "storage: 21Gi"))
"""


@pytest.fixture(scope="module")
def demo() -> Any:
    spec = importlib.util.spec_from_file_location("archfit_demo", DEMO / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def template(helm: str, chart: str, *more: str) -> bytes:
    words = [helm, "template", "demo", CHARTS / chart, "--namespace", "demo", *more]
    return subprocess.run(words, capture_output=True, check=True).stdout


def test_the_manifests_are_what_helm_prints(tool: Callable[[str], str]) -> None:
    assert template(tool("helm3"), "shop", "--include-crds") == (DEMO / "rendered.yaml").read_bytes()


@pytest.mark.parametrize("chart", ["shop", "small"])
def test_both_helms_render_the_same_objects(tool: Callable[[str], str], judge: Any, chart: str) -> None:
    three, four = (judge.kubectl(template(tool(helm), chart)) for helm in ("helm3", "helm4"))
    assert three == four
    assert len(three) > 8


def test_the_small_chart_is_as_small_as_the_benchmarks_say(tool: Callable[[str], str]) -> None:
    assert 6_500 < len(template(tool("helm3"), "small")) < 7_500


def test_the_registry_knows_every_image(judge: Any) -> None:
    objects = judge.kubectl((DEMO / "rendered.yaml").read_bytes())
    written = {
        image
        for item in objects
        if item["kind"] not in {"ConfigMap", "CustomResourceDefinition"}
        for image in re.findall(r'"image": "([^"]+)"', json.dumps(item))
    }
    assert written == set(json.loads((DEMO / "platforms.json").read_text(encoding="utf-8")))
    assert len(written) >= 12


def test_it_runs_the_program_and_shows_diff_and_summary(
    demo: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "archfit"
    program.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("ARCHFIT_ON_CONFLICT", "leave")
    nginx, server = "/library/nginx/manifests/1.29.3", "/mssql/server/manifests/2022-CU21-ubuntu-22.04"
    monkeypatch.setenv("PLACES", f"docker.io={nginx} mcr.microsoft.com={server}")
    assert demo.main(str(program)) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith(("+", "-"))] == [
        "--- rendered.yaml",
        "+++ placed.yaml",
        "-            storage: 20Gi",
        "+            storage: 21Gi",
    ]
    assert "placed" in shown
    assert shown[-1] == f"    helm template . | {program} | kubectl apply -f -"


def test_a_failure_is_shown_and_passed_on(
    demo: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "archfit"
    program.write_text("#!/bin/sh\ncat >/dev/null\necho 'no such image' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    assert demo.main(str(program)) == 1
    assert capsys.readouterr().out == "no such image\n"


@pytest.mark.parametrize(
    ("colour", "shown"),
    [
        pytest.param(False, "--- rendered.yaml\n+++ placed.yaml\n@@ -1 +1,2 @@\n a\n+b\n", id="plain"),
        pytest.param(
            True,
            "\x1b[31m--- rendered.yaml\x1b[0m\n\x1b[32m+++ placed.yaml\x1b[0m\n"
            "\x1b[36m@@ -1 +1,2 @@\x1b[0m\n a\n\x1b[32m+b\x1b[0m\n",
            id="coloured",
        ),
    ],
)
def test_diff(demo: Any, *, colour: bool, shown: str) -> None:
    assert demo.diff("a\n", "a\nb\n", colour=colour) == shown
    assert demo.diff("a\n", "a\n", colour=colour) == ""
