"""Builds and verifies everything that a release publishes, into dist/ (see places).

    python scripts/release [--dist DIR] [--tag v0.1.0] [STEP ..]      `make release-check` runs all steps

Prints a line for each step and a table of the artifacts. Nothing is published. The exit code is 1 when a step fails;
the steps that do not need it go on. With --tag the version, CHANGELOG.md and the repository's address must be those of
a release.

A new artifact is a function that takes a Release, puts files below dist/ and returns a few words, or raises Wrong; it
becomes a row of STEPS.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import binary_archive
import generated
import helm_archives
import krew_manifest
import package_managers
import python_archives
import repository_address
import versions
from places import ROOT, Release, Wrong


def same_version(release: Release) -> str:
    """Every file says the version of pyproject.toml; for a tag, the changelog and the address are set."""
    found = versions.wrong(ROOT)
    if release.tag:
        if release.tag != f"v{release.version}":
            found.append(f"the tag {release.tag} is not v{release.version}, the version in pyproject.toml")
        if versions.changelog(ROOT) != release.version:
            found.append(f"CHANGELOG.md: the newest entry is not {release.version}")
        if not repository_address.is_set():
            found.append(
                "the repository's address is not set: python scripts/repository_address.py https://github.com/NAME/archfit"
            )
    if found:
        raise Wrong("\n".join(found))
    return release.version


# (name, what it builds or checks, the steps whose artifacts it needs)
STEPS = (
    ("versions", same_version, ()),
    ("generated", generated.check, ()),
    ("python", python_archives.build, ()),
    ("content", python_archives.content, ("python",)),
    ("metadata", python_archives.metadata, ("python",)),
    ("install", python_archives.install, ("python",)),
    ("sbom", python_archives.materials, ("install",)),
    ("binary", binary_archive.build, ()),
    ("binary-smoke", binary_archive.check, ("binary",)),
    ("krew", krew_manifest.build, ("binary",)),
    ("managers", package_managers.build, ("python",)),
    ("chart", helm_archives.chart, ()),
    ("plugin", helm_archives.plugin, ()),
)


def main(argv: list[str]) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="make release-check", description=__doc__.partition("\n")[0])
    parser.add_argument("--dist", default="dist", help="where the artifacts go; default: dist")
    parser.add_argument("--tag", default="", help="the tag that is released, as v0.1.0")
    parser.add_argument("step", nargs="*", help=", ".join(name for name, _, _ in STEPS))
    asked = parser.parse_args(argv)
    unknown = set(asked.step) - {name for name, _, _ in STEPS}
    if unknown:
        parser.error(f"there is no step {', '.join(sorted(unknown))}")
    dist = Path(asked.dist).resolve()
    if not asked.step:
        for folder in (
            "python",
            "binary",
            "chart",
            "plugin",
            "krew",
            "sbom",
            "homebrew",
            "nix",
            "mise",
            "asdf",
        ):
            shutil.rmtree(dist / folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="archfit-release-") as work:
        failed = run_steps(Release(dist, Path(work), sys.executable, asked.tag), asked.step)
    print(table(dist))
    return 1 if failed else 0


def run_steps(release: Release, chosen: list[str]) -> set[str]:
    """The names of the steps that failed or could not run. chosen: all where it is empty."""
    failed: set[str] = set()
    for name, step, needs in STEPS:
        if chosen and name not in chosen:
            continue
        began = time.monotonic()
        lacking = sorted(failed & set(needs))
        try:
            said = f"not run, because {', '.join(lacking)} failed" if lacking else step(release)
        except Wrong as error:
            lacking = [name]
            said = f"FAILED: {error}"
        if lacking:
            failed.add(name)
        print(f"{name:13}{time.monotonic() - began:6.1f} s  {said}", flush=True)
    return failed


def table(dist: Path) -> str:
    """Path, size in bytes and SHA-256 of each artifact; writes SHA256SUMS with the same."""
    paths = sorted(path for path in dist.glob("*/*") if path.is_file())
    sums = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    if sums:
        lines = [f"{digest}  {path.relative_to(dist).as_posix()}\n" for path, digest in sums.items()]
        (dist / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    rows = [
        (path.relative_to(dist).as_posix(), f"{path.stat().st_size:,}", digest)
        for path, digest in sums.items()
    ]
    width = max((len(name) for name, _, _ in rows), default=0)
    return "\n".join(["", *(f"{name:{width}}  {size:>12}  {digest}" for name, size, digest in rows)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
