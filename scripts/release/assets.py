"""What the page of a release on GitHub has: files with names of their own, their checksums, and the notes.

    python scripts/release/assets.py DIST ASSETS NOTES

    ASSETS/    wheel, source archive, binaries, list of materials, krew.yaml, SHA256SUMS, and
               archfit-plugin.gpg, the key that `helm plugin install --keyring` takes
    NOTES      the newest entry of CHANGELOG.md

Chart and plugin have the same file name; they are in the registry.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from pathlib import Path

from places import ROOT, Wrong

_KINDS = {"python": 2, "binary": 2, "sbom": 1, "krew": 1}


def gather(dist: Path, assets: Path) -> list[Path]:
    """The files, copied and with their checksums. Raises Wrong where a kind lacks one."""
    assets.mkdir(parents=True, exist_ok=True)
    found = []
    for kind, number in _KINDS.items():
        paths = sorted((dist / kind).glob("*"))
        if len(paths) != number:
            raise Wrong(f"dist/{kind} has {len(paths)} files, not {number}")
        found += [
            Path(shutil.copyfile(path, assets / ("krew.yaml" if kind == "krew" else path.name)))
            for path in paths
        ]
    found += [
        Path(shutil.copyfile(key, assets / key.name)) for key in (dist / "plugin").glob("archfit-plugin.gpg")
    ]
    sums = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(found)
    )
    (assets / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return found


def notes(changelog: str) -> str:
    """The text of the newest entry."""
    entry = re.search(r"^## [^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return entry[1].strip() + "\n" if entry else ""


def main(words: list[str]) -> int:
    """The exit code."""
    try:
        dist, assets, text = map(Path, words)
        gather(dist, assets)
    except (ValueError, Wrong) as error:
        print(f"assets: {error}", file=sys.stderr)
        return 1
    text.write_text(notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
