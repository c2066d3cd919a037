"""`archfit doctor` beside real programs: both Helms with the plugin, kustomize, kubectl; and this machine as it is."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

import machine
from archfit import __version__
from helm_runs import SYSTEM_PATH, set_up, start
from program import PROGRAM, Ran


class Here:
    """A user whose PATH has real programs before the system's. Call it with the words of the command."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        for made in (self.home, self.bin):
            made.mkdir()
        self.environ = {**os.environ, "HOME": str(self.home), "PATH": f"{self.bin}:/nowhere"}

    def has(self, *names: str) -> None:
        for name in names:
            (self.bin / name).symlink_to(PROGRAM if name == "archfit" else machine.tool(name))

    def __call__(self, *words: str) -> Ran:
        return start([str(PROGRAM), "doctor", *words], self.environ)

    def findings(self, *words: str) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for one in json.loads(self("--json", *words).stdout)["findings"]:
            found.setdefault(one["subject"], []).append(one)
        return found


@pytest.fixture
def here(tmp_path):
    return Here(tmp_path)


def test_every_door_of_a_machine_that_has_all_is_open(here):
    here.has("archfit", "helm4", "kustomize", "kubectl")
    set_up(here.home / "plugins")
    here.environ["HELM_PLUGINS"] = str(here.home / "plugins")
    (here.home / ".kube").mkdir()
    (here.home / ".kube" / "config").write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
        "contexts: [{name: test, context: {cluster: c, user: u}}]\n",
        encoding="utf-8",
    )
    value = json.loads(here("--json").ok())
    entries = {one["entryPoint"]: one["here"] for one in value["entryPoints"]}
    assert {entries[name] for name in ("Helm 4", "kustomize", "audit, policy --live")} == {"yes"}
    texts = {one["subject"]: one["text"] for one in value["findings"]}
    assert texts["helm plugin"].endswith("it rendered a chart with one Pod")
    assert texts["context"].startswith("test;")
    here.has("helm3")
    both = here("--json")
    assert both.status == 3  # Helm 3 reads HELM_PLUGINS, too
    assert "loads none of its own plugins" in both.stdout.decode()


def test_a_plugin_of_another_version_is_wrong_in_a_real_helm(here):
    here.has("archfit", "helm4")
    set_up(here.home / "plugins")
    plugin = here.home / "plugins" / "archfit" / "plugin.yaml"
    plugin.write_text(plugin.read_text(encoding="utf-8").replace(__version__, "0.0.1"), encoding="utf-8")
    here.environ["HELM_PLUGINS"] = str(here.home / "plugins")
    (found,) = here.findings()["helm plugin"]
    assert (found["state"], found["remedy"]) == ("wrong", "archfit setup helm --check")
    assert "is of archfit 0.0.1" in found["text"]


def test_this_machine_is_looked_at_in_time(here):
    here.environ["PATH"] = f"{PROGRAM.parent}:{os.environ['PATH']}:{SYSTEM_PATH}"
    before = time.monotonic()
    ran = here("--timeout", "30s")
    assert time.monotonic() - before < 55  # one program alone may take 60 s
    assert ran.status in {0, 3}, ran.stderr
    assert ran.stderr == ""
    text = ran.stdout.decode()
    assert "ENTRY POINT " in text
    assert (ran.status == 3) == ("\nwrong " in f"\n{text}")
