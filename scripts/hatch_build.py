"""What hatchling does while it builds a wheel: the manual page goes into share/man/man1."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPage(BuildHookInterface[Any]):
    """Makes the page anew. The sources may be mounted read-only, so it is written somewhere else."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own
        self._folder = tempfile.TemporaryDirectory()
        page = Path(self._folder.name) / "archfit.1"
        script = Path(self.root) / "scripts" / "man_page.py"
        done = subprocess.run([sys.executable, script], check=True, capture_output=True)
        page.write_bytes(done.stdout)
        build_data["shared_data"][str(page)] = "share/man/man1/archfit.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        self._folder.cleanup()
