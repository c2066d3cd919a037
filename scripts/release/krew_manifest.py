"""krew's manifest with the checksums of the archives that are there; platforms without one are left out.

python scripts/release/krew_manifest.py DIST        writes DIST/krew/archfit.yaml from DIST/binary/
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from places import ROOT, Release, Wrong, project_version, run, tool

TEMPLATE = Path(__file__).parent / "templates" / "krew.yaml"
_PLATFORM = re.compile(r"    - selector:\n(?:      .*\n)+")
_URI = re.compile(r"^      uri: .*/([^/\n]+)$", re.MULTILINE)
_SUM = re.compile(r'^      sha256: ".*"$', re.MULTILINE)


def text(template: str, version: str, archives: list[Path]) -> str:
    """The manifest. Raises Wrong where no platform is left, and where an archive has no platform."""
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}
    used = set()

    def platform(match: re.Match[str]) -> str:
        block = match[0]
        (name,) = _URI.findall(block)
        if name not in sums:
            return ""
        used.add(name)
        return _SUM.sub(f'      sha256: "{sums[name]}"', block)

    made = _PLATFORM.sub(platform, template)
    if f"  version: v{version}\n" not in made:
        raise Wrong(
            f"{TEMPLATE.name} is not of version {version}: python scripts/release/versions.py {version}"
        )
    if not used or set(sums) - used:
        raise Wrong(f"{TEMPLATE.name} has no platform for {sorted(set(sums) - used) or 'any archive'}")
    return re.sub(r"\A(?:#.*\n)+", "", made)


def write(dist: Path) -> Path:
    """The manifest of the archives in dist/binary/. Raises Wrong."""
    archives = sorted(dist.glob("binary/*.tar.gz"))
    made = text(TEMPLATE.read_text(encoding="utf-8"), project_version(ROOT), archives)
    place = dist / "krew" / "archfit.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(made, encoding="utf-8")
    return place


def build(release: Release) -> str:
    """The manifest in dist/krew/, and what krew's own check says of it; that installs the archive, offline."""
    place = write(release.dist)
    home = release.work / "krew"
    archive = next(iter(sorted(release.dist.glob("binary/*.tar.gz"))))
    words = ("install", f"--manifest={place}", f"--archive={archive}")
    run(tool("krew"), *words, KREW_ROOT=str(home), HOME=str(release.work))
    said = run(home / "bin" / "kubectl-archfit", "--version")
    if said != f"archfit {release.version}\n":
        raise Wrong(f"the installed plugin says {said!r}")
    return "krew installs it"


if __name__ == "__main__":
    try:
        print(write(Path(sys.argv[1])))
    except (IndexError, Wrong) as error:
        sys.exit(f"krew_manifest: {error}")
