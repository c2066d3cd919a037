"""A clean environment with archfit as users have it today.

Wheel and locked dependencies are installed by uv with compiled bytecode. Its console script, like that of pip 24 and
pipx, does not import `re`; that of pip 23 does, which costs every run 2 ms. The Python is the system's where it is new
enough: one that a version manager has compiled without profiles takes three times as long to start.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from inputs import ROOT

_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"


def default_python() -> str:
    """The system's Python, or the one that runs this."""
    system = Path("/usr/bin/python3")
    if system.exists() and not subprocess.run([system, "-c", _NEW_ENOUGH], check=False).returncode:
        return str(system)
    return sys.executable


def clean_environment(folder: Path, python: str = "") -> Path:
    """A new environment in folder; the folder of its programs."""
    wheels = folder.with_name(f"{folder.name}-wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    subprocess.run([python or default_python(), "-m", "venv", "--without-pip", folder], check=True)
    install = [ROOT / ".tools" / "bin" / "uv", "pip", "install", "--quiet", "--compile-bytecode"]
    install += ["--python", folder / "bin" / "python"]
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "locks/run.lock"], check=True)
    subprocess.run([*install, "--no-deps", "--no-index", *wheels.glob("*.whl")], check=True)
    return folder / "bin"
