"""What Homebrew, Nix, mise and asdf take, from one table: the version, the address, and the checksums of the release.

    python scripts/release/package_managers.py DIST        writes DIST/homebrew, DIST/nix, DIST/mise and DIST/asdf

    homebrew/archfit.rb          a formula for a tap: archfit from its source archive, and locks/sources.lock
    nix/flake.nix                a flake: the same archive, with the libraries of nixpkgs
    mise/archfit.toml            an entry for mise's registry
    asdf/list-all, ..            what an asdf plugin has in bin/: it installs the binary of this machine

`ruby -c` reads the formula, a shell runs asdf's scripts and the checksums are those of locks/run.lock. Neither
`brew audit` nor `nix flake check` runs here: see .github/RELEASING.md.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from string import Template
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import package_sources
from places import ROOT, Release, Wrong, project_version
from repository_address import address

_TEMPLATES = Path(__file__).parent / "templates"
# File below dist/ -> its template.
FILES = {
    "homebrew/archfit.rb": "archfit.rb",
    "nix/flake.nix": "flake.nix",
    "mise/archfit.toml": "mise.toml",
    "asdf/list-all": "asdf-list-all.sh",
    "asdf/download": "asdf-download.sh",
    "asdf/install": "asdf-install.sh",
}
# Names of nixpkgs that are not those of PyPI.
_NIX = {"ruamel.yaml": "ruamel-yaml"}


class Facts(NamedTuple):
    """sha256: of the source archive. needed: names of the packages that pyproject.toml states, in order."""

    version: str
    address: str
    sha256: str
    needed: tuple[str, ...]
    sources: tuple[package_sources.Source, ...]


def facts(archive: Path) -> Facts:
    """Of the repository and of the source archive. Raises Wrong for a checksum that locks/run.lock lacks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["audit"], *extras["redis"]]
    found = tuple(package_sources.sources(package_sources.LOCK.read_text(encoding="utf-8")))
    checked(found, (ROOT / "locks/run.lock").read_text(encoding="utf-8"))
    names = tuple(match[0] for line in lines if (match := re.match(r"[A-Za-z0-9._-]+", line)))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    return Facts(project_version(ROOT), address(), digest, names, found)


def checked(found: tuple[package_sources.Source, ...], lock: str) -> None:
    """Raises Wrong for a source that locks/run.lock does not have."""
    for one in found:
        block = re.search(
            rf"^{re.escape(one.name)}=={re.escape(one.version)}\b.*\n(?:    .*\n?)*", lock, re.MULTILINE
        )
        if block is None or f"sha256:{one.sha256}" not in block[0]:
            raise Wrong(f"locks/sources.lock: {one.name} {one.version} is not in locks/run.lock: make lock")


def texts(given: Facts) -> dict[str, str]:
    """File below dist/ -> its text."""
    values = {
        "version": given.version,
        "address": given.address,
        "repository": "/".join(given.address.split("/")[-2:]),
        "archive": f"{given.address}/releases/download/v{given.version}/archfit-{given.version}.tar.gz",
        "sha256": given.sha256,
        "resources": "\n".join(
            f'  resource "{one.name}" do\n    url "{one.url}"\n    sha256 "{one.sha256}"\n  end\n'
            for one in given.sources
        ),
        "libraries": " ".join(_NIX.get(name.lower(), name.lower()) for name in given.needed),
    }
    return {
        name: _Text((_TEMPLATES / template).read_text(encoding="utf-8")).substitute(values)
        for name, template in FILES.items()
    }


class _Text(Template):
    """`@version@` is a value: `$` belongs to shells and to Nix."""

    pattern = r"@(?P<named>[a-z0-9]+)@|(?P<escaped>(?!))|(?P<braced>(?!))|(?P<invalid>(?!))"  # type: ignore[assignment]


def write(dist: Path) -> list[Path]:
    """The files, from the source archive in dist/python. Raises Wrong."""
    archives = sorted(dist.glob("python/*.tar.gz"))
    if len(archives) != 1:
        raise Wrong(f"{len(archives)} source archives are in {dist}/python, not one")
    made = []
    for name, text in texts(facts(archives[0])).items():
        path = dist / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.parent.name == "asdf":
            path.chmod(0o755)
        made.append(path)
    return made


def build(release: Release) -> str:
    """The files in dist/, and what the shell says of asdf's scripts."""
    made = write(release.dist)
    for path in made:
        if path.parent.name == "asdf":
            done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
            if done.returncode:
                raise Wrong(f"{path.name}: {done.stderr.strip()}")
    return f"{len(made)} files; brew and nix are not asked"


if __name__ == "__main__":
    try:
        print(*write(Path(sys.argv[1])), sep="\n")
    except (IndexError, Wrong) as error:
        sys.exit(f"package_managers: {error}")
