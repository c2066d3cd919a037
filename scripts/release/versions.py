"""The version of pyproject.toml, in every file that says it.

    python scripts/release/versions.py              names the files that say another one; exit 1 if there are any
    python scripts/release/versions.py X.Y.Z        `python scripts/release/versions.py X.Y.Z`: writes it everywhere

A file says it in one of the forms of PLACES; a test proves that no other form is in use.
The newest entry of CHANGELOG.md is `## Unreleased` until a release, and `## 0.1.0 - 2026-01-31` in one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from places import ROOT, Wrong, project_version
from repository_address import files

if TYPE_CHECKING:
    from collections.abc import Iterator

_V = r"(?P<version>\d+\.\d+\.\d+)"
# (paths, form)
PLACES = (
    (r"pyproject\.toml", rf'^version = "{_V}"$'),
    (r"transformer/archfit/__init__\.py", rf'^__version__ = "{_V}"$'),
    (r"charts/archfit/Chart\.yaml", rf"^(?:appVersion|version): {_V}$"),
    (r".*plugin\.yaml", rf"^version: {_V}$"),
    (r".*artifacthub-pkg\.ya?ml", rf"^(?:appVersion|version): {_V}$"),
    # Images: archfit:0.1.0, registry.example.com/archfit-bundle:0.1.0.
    (r".*", rf"\barchfit(?:-[a-z]+)?:{_V}\b"),
    # Files of a release: archfit-0.1.0-linux-amd64.tar.gz, releases/download/v0.1.0/.
    (r".*", rf"\barchfit-{_V}(?=[-.][a-z*])"),
    (r".*", rf"/archfit/releases/download/v{_V}/"),
    (r"scripts/release/templates/krew\.yaml", rf"^  version: v{_V}$"),
    (r".*\.md|.*\.ya?ml", rf"--version {_V}\b"),
    # A ref of git, as in workflows and hooks.
    (r".*\.md|.*\.ya?ml", rf"/archfit(?:/[\w./-]+)?@v{_V}\b"),
    (r".*\.md|.*\.ya?ml", rf"\brev: v{_V}\b"),
    # The input `version` of GitLab's component, and its default in the table.
    (r"templates/archfit\.yml", rf"^      default: v{_V}$"),
    (r"docs/ci\.md", rf"^\| `version` \|.*`v{_V}` \|$"),
)
_ENTRY = re.compile(r"^## \[?(Unreleased|\d+\.\d+\.\d+)\]?(?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


def said(root: Path) -> Iterator[tuple[str, int, str]]:
    """(path, line, version) of every place that says a version of archfit."""
    for path in files(root):
        name = path.relative_to(root).as_posix()
        forms = _forms(name)
        text = _text(path) if forms and name != "CHANGELOG.md" else ""
        for form in forms:
            for match in re.finditer(form, text, re.MULTILINE):
                yield name, text.count("\n", 0, match.start()) + 1, match["version"]


def wrong(root: Path) -> list[str]:
    """What disagrees with pyproject.toml."""
    version = project_version(root)
    found = [f"{name}:{line}: {other}, not {version}" for name, line, other in said(root) if other != version]
    newest = changelog(root)
    if newest not in {"Unreleased", version}:
        found.append(f"CHANGELOG.md: the newest entry is {newest}, not {version} or Unreleased")
    return found


def changelog(root: Path) -> str:
    """The newest entry of CHANGELOG.md: Unreleased or a version; "" without any."""
    entry = _ENTRY.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    return entry[1] if entry else ""


def write(root: Path, version: str) -> list[str]:
    """The paths of the files that another version changes. Raises Wrong."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Wrong(f"{version!r} is not a version: write three numbers, such as 1.2.3")
    changed = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        forms = _forms(name)
        text = _text(path) if forms and name != "CHANGELOG.md" else ""
        fresh = text
        for form in forms:
            fresh = re.sub(form, lambda match: _with(match, version), fresh, flags=re.MULTILINE)
        if fresh != text:
            with path.open("w", encoding="utf-8", newline="") as file:
                file.write(fresh)
            changed.append(name)
    return changed


def _with(match: re.Match[str], version: str) -> str:
    start, end = (place - match.start() for place in match.span("version"))
    return f"{match[0][:start]}{version}{match[0][end:]}"


def _forms(name: str) -> list[str]:
    return [form for paths, form in PLACES if re.fullmatch(paths, name)]


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        return ""


def main(words: list[str]) -> int:
    """The exit code."""
    try:
        if words:
            changed = write(ROOT, *words)
            print(
                "\n".join(
                    [*changed, f"{words[0]}: {len(changed)} files changed; write it into CHANGELOG.md, too"]
                )
            )
            return 0
        found = wrong(ROOT)
    except (TypeError, Wrong) as error:
        print(f"versions: {error}", file=sys.stderr)
        return 2
    print("\n".join(found or [project_version(ROOT)]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
