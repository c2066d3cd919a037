"""A machine for `archfit doctor`: a home, and a PATH that holds nothing but stand-ins.

machine.program("kubectl", 'echo v1.36.3')    a shell script on PATH
machine.finding("cache")                      the findings of a subject, by the command's JSON
machine.code                                  how the last run ended
"""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from archfit import __version__
from archfit.doctor.command import diagnose as run

HELM_3 = 'case "$1" in version) echo v3.22.0;; env) echo "$HELM_PLUGINS";; esac'
HELM_4 = (
    'case "$1" in version) echo v4.3.1;; env) echo "$HELM_PLUGINS";; *) echo "Error: no" >&2; exit 1;; esac'
)
KUSTOMIZE = "echo v5.8.1"
KUBECTL = """\
case "$*" in
'version --client') echo 'Client Version: v1.36.3';;
'config current-context') echo kind-test;;
esac"""


class Found(NamedTuple):
    """One finding. remedy: "" where there is none."""

    state: str
    text: str
    remedy: str


class DoctorMachine:
    """See the module."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "bin"
        for made in (self.home, self.bin):
            made.mkdir()
        self.environ = {"HOME": str(self.home), "PATH": f"{self.bin}"}
        self.code = -1
        self.value: dict[str, Any] = {}

    def program(self, name: str, script: str) -> Path:
        """Only `mkdir` of the system can be started by it."""
        path = self.bin / name
        text = script.replace("mkdir", "/bin/mkdir").replace("sleep", "/bin/sleep")
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def archfit(self, version: str = __version__) -> None:
        self.program("archfit", f"echo archfit {version}")

    def file(self, name: str, text: str, mode: int = 0o600) -> Path:
        """Below the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def text(self, *words: str) -> str:
        """What the command writes."""
        out = io.BytesIO()
        self.code = run(words, out, self.environ)
        return out.getvalue().decode()

    def look(self, *words: str) -> dict[str, list[Found]]:
        """The findings by subject, in the order of the command."""
        self.value = json.loads(self.text(*words, "--json"))
        found: dict[str, list[Found]] = {}
        for one in self.value["findings"]:
            found.setdefault(one["subject"], []).append(Found(one["state"], one["text"], one["remedy"] or ""))
        return found

    def entry_points(self) -> dict[str, str]:
        """What the last look found about each entry point: yes, no, wrong or -."""
        return {one["entryPoint"]: one["here"] for one in self.value["entryPoints"]}
