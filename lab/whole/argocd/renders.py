"""What archfit writes for the applications, and what a render takes.

manifests()      application -> digest of what archfit writes, before anything happens
Peak(parent)     .kib: the largest memory of a process below that one
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import machine
from argocd_caller import BUILD, SYSTEM_PATH, tools_folder
from operators.build import Failed
from program import PROGRAM
from whole.argocd.judges import BUILT_FOR

FOLDER = machine.ROOT / "fixtures" / "whole" / "argocd"
_LOOK_SECONDS = 0.02
_BUILD = {**BUILD, "ARGOCD_APP_NAME": "shop"}
_PARAMETERS = [
    {"name": "values-files", "array": ["values-production.yaml"]},
    {"name": "prefer", "map": {"arm64": "10"}},
]
# application -> folder of the repository, what Argo CD adds to the environment
_RENDERED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "plain": ("plain", {}),
    "chart": ("chart", {}),
    "kustomized": ("kustomized/overlay", {}),
    "parameters": ("chart", {"ARGOCD_APP_PARAMETERS": json.dumps(_PARAMETERS)}),
    "options": ("options", {}),
    "everywhere-hub": ("everywhere", {"ARGOCD_ENV_ARCHFIT_CLUSTER_ARCHITECTURES": "amd64,arm64"}),
    "everywhere-edge": ("everywhere", {"ARGOCD_ENV_ARCHFIT_CLUSTER_ARCHITECTURES": "arm64"}),
}


def manifests() -> dict[str, str]:
    """What archfit writes for each application before anything happens: its digest. Raises Failed."""
    told = [
        f"--image-platforms=img.test/{name}/*={','.join(f'linux/{one}' for one in sorted(built))}"
        for name, built in BUILT_FOR.items()
    ]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        tools_folder(Path(folder) / "bin")
        for name, (path, environ) in _RENDERED.items():
            done = subprocess.run(
                [PROGRAM, "argocd", "generate", "--no-cache", *told],
                cwd=FOLDER / "git" / path,
                env={
                    "PATH": f"{folder}/bin:{SYSTEM_PATH}",
                    "HOME": folder,
                    "TMPDIR": folder,
                    **_BUILD,
                    **environ,
                },
                capture_output=True,
                check=False,
            )
            if done.returncode:
                raise Failed(f"rendering {name}", done.stderr.decode(errors="replace"))
            found[name] = hashlib.sha256(done.stdout).hexdigest()[:12]
    return found


class Peak:
    """Looks at the processes below another one, and keeps the largest resident memory of archfit's (proc(5), VmHWM)."""

    def __init__(self, parent: Callable[[], int]) -> None:
        self._parent, self.kib = parent, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            parent = self._parent()
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{parent}/task").iterdir() if parent else ():
                    for child in (task / "children").read_text(encoding="utf-8").split():
                        text = Path(f"/proc/{child}/status").read_text(encoding="utf-8")
                        said = dict(line.split(":", 1) for line in text.splitlines())
                        # Before it is another program, a child has the memory of its parent.
                        if said["Name"].strip() == "archfit" and "VmHWM" in said:
                            self.kib = max(self.kib, int(said["VmHWM"].split()[0]))
