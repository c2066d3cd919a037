"""Where the parts of a release are, and how its steps start programs.

dist/python/    archfit-V.tar.gz (source archive), archfit-V-py3-none-any.whl
dist/binary/    archfit-V-linux-ARCH.tar.gz, the folder of `make bundle` as an archive
dist/chart/     archfit-V.tgz, the Helm chart
dist/plugin/    the Helm 4 plugin
dist/krew/      archfit.yaml, with the checksums of the archives in dist/binary/
dist/homebrew/, dist/nix/, dist/mise/, dist/asdf/    what package managers take (package_managers)
dist/sbom/      archfit-V.cdx.json, what the wheel brings along (CycloneDX)
dist/SHA256SUMS
"""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class Wrong(Exception):
    """A part of the release is not as it has to be."""


@dataclass(frozen=True)
class Release:
    """dist: where the parts go. work: a folder that is removed afterwards. python: the one with the locked tools.

    tag: the tag that is released, as v0.1.0; "" for a check.
    """

    dist: Path
    work: Path
    python: str
    tag: str = ""

    @property
    def version(self) -> str:
        """Of pyproject.toml."""
        return project_version(ROOT)

    def folder(self, name: str) -> Path:
        """A folder of dist/, made where it is missing."""
        made = self.dist / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def only(self, pattern: str) -> Path:
        """The one file of dist/ that the pattern names. Raises Wrong."""
        found = sorted(self.dist.glob(pattern))
        if len(found) != 1:
            raise Wrong(f"{len(found)} files are {self.dist.name}/{pattern}, not one")
        return found[0]


def project_version(root: Path) -> str:
    """The version in pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: str = project["version"]
    return found


def architecture() -> str:
    """The machine's, as Kubernetes names it. Raises Wrong for others than amd64 and arm64."""
    machine = platform.machine()
    if platform.system() != "Linux" or machine not in ARCHITECTURES:
        raise Wrong(f"binaries are for Linux on amd64 and arm64; this is {platform.system()} on {machine}")
    return ARCHITECTURES[machine]


def run(*words: str | Path, cwd: Path = ROOT, **environ: str) -> str:
    """Runs a command quietly; what it writes to standard output. Raises Wrong with its words where it fails."""
    try:
        done = subprocess.run(
            words, cwd=cwd, env={**os.environ, **environ}, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise Wrong(f"{words[0]}: {error.strerror}") from None
    if done.returncode:
        raise Wrong(
            f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}".rstrip()
        )
    return done.stdout


def unpack(archive: Path, into: Path) -> Path:
    """Unpacks a tar.gz into a folder, which it makes and gives. Raises Wrong where it cannot be read.

    The program and not `TarFile.extractall(filter=..)`, which came with Python 3.11.4: tar refuses names that leave the
    folder, too. It takes a colon in a path as the name of a host, so it gets the archive's name alone.
    """
    into.mkdir(parents=True, exist_ok=True)
    run("tar", "-xzf", archive.name, "-C", into.resolve(), cwd=archive.parent)
    return into


def tool(name: str) -> Path:
    """A program of tests/support/machine.py's table. Raises Wrong where it is missing."""
    path = ROOT / ".tools" / "bin" / name
    if not path.exists():
        raise Wrong(f"{name} is missing: .venv/bin/python tests/support/install_tools.py {name}")
    return path
