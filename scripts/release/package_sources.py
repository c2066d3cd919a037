"""locks/sources.lock: source archives of what archfit runs with, for package managers that build from source.

    python scripts/release/package_sources.py > locks/sources.lock        `make lock` does it; needs uv

A line for each package: name, version, address and SHA-256 of its source archive. The packages are those of archfit
with the extras `audit` and `redis`, on the Python of the formula; the versions are those of locks/run.lock.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from places import ROOT, Wrong, run, tool

LOCK = ROOT / "locks/sources.lock"
PYTHON = "3.13"
_HEAD = (
    "# Source archives for package managers (scripts/release/package_managers.py); `make lock` writes it.\n"
)


class Source(NamedTuple):
    """One package: `sha256` is that of the archive at `url`."""

    name: str
    version: str
    url: str
    sha256: str


def sources(text: str) -> list[Source]:
    """The lines of the lock. Raises Wrong."""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    if not rows or any(len(row) != len(Source._fields) for row in rows):
        raise Wrong("locks/sources.lock is not a table of four columns: make lock")
    return [Source(*row) for row in rows]


def fresh() -> str:
    """The text of the lock, by uv. Raises Wrong."""
    uv = tool("uv")
    wanted = run(
        uv, "pip", "compile", "pyproject.toml", "--extra", "audit", "--extra", "redis", "--python-version", PYTHON,
        "--constraint", "locks/run.lock", "--no-header", "--no-annotate", "--no-emit-index-url", "--quiet",
    )  # fmt: skip
    pins = re.findall(r"^([a-z0-9.-]+)==(\S+)$", wanted, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        _project(Path(folder), pins)
        run(uv, "lock", "--quiet", "--python", sys.executable, cwd=Path(folder))
        locked = tomllib.loads((Path(folder) / "uv.lock").read_text(encoding="utf-8"))["package"]
    archives = {one["name"]: one for one in locked}
    rows = []
    for name, version in pins:
        archive = archives[name].get("sdist")
        if archive is None or archives[name]["version"] != version:
            raise Wrong(
                f"{name} {version} has no source archive: leave it out of the formula, or pin another version"
            )
        rows.append(Source(name, version, archive["url"], archive["hash"].removeprefix("sha256:")))
    return _HEAD + "".join(" ".join(row) + "\n" for row in rows)


def _project(folder: Path, pins: list[tuple[str, str]]) -> None:
    """A project whose lock has these versions."""
    lines = ", ".join(f'"{name}=={version}"' for name, version in pins)
    text = f'[project]\nname = "pins"\nversion = "0"\nrequires-python = ">=3.11"\ndependencies = [{lines}]\n'
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        sys.stdout.write(fresh())
    except Wrong as error:
        sys.exit(f"package_sources: {error}")
