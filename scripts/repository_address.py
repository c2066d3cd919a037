"""The address of the repository, in every file that holds it.

    python scripts/repository_address.py                                  prints it
    python scripts/repository_address.py https://github.com/NAME/archfit  `python scripts/repository_address.py URL`

The one place is `Source` of [project.urls] in pyproject.toml. Until it is set, the owner is the placeholder OWNER. An
owner is replaced only in front of the repository's name, and only where it is part of an address:

    github.com/NAME/archfit        pages, and the names of Go and of git
    ghcr.io/NAME/archfit           images and OCI artifacts, in lower case
    name.github.io/archfit         the site, in lower case
    github>NAME/archfit            a preset of Renovate
    uses: NAME/archfit             a workflow of GitHub; `repo:` and `repository:` too
    $CI_SERVER_FQDN/NAME/archfit   a component of GitLab

Tests are not rewritten: they compare with pyproject.toml.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from install_block import updated

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PLACEHOLDER = "OWNER"
NAME = "archfit"
_URL = re.compile(rf"https://github\.com/([A-Za-z0-9](?:[A-Za-z0-9-]{{0,37}}[A-Za-z0-9])?)/{NAME}")
_LEFT_OUT = {"tests", "fixtures", "dist", "node_modules"}
_WHERE = r"(?P<where>github\.com[/:]|ghcr\.io/|github>|(?:uses|repo|repository): *[\"']?|CI_SERVER_FQDN/)"
_SITE = r"(?P<site>(?<![\w.-]){owner}\.github\.io)"


def address(root: Path = ROOT) -> str:
    """The address that pyproject.toml has."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: str = project["urls"]["Source"]
    return found


def owner_of(url: str) -> str:
    """The owner in an address. Raises ValueError for other URLs."""
    match = _URL.fullmatch(url.removesuffix("/").removesuffix(".git"))
    if not match:
        raise ValueError(f"{url!r} is not the address of a repository: write https://github.com/NAME/{NAME}")
    return match[1]


def is_set(root: Path = ROOT) -> bool:
    """Whether the placeholder has been replaced."""
    return owner_of(address(root)) != PLACEHOLDER


def replaced(text: str, old: str, new: str) -> str:
    """The text with another owner in each address of the repository."""
    lower = new if new == PLACEHOLDER else new.lower()

    def written(match: re.Match[str]) -> str:
        if match["site"]:
            return f"{lower}.github.io"
        where: str = match["where"]
        return where + (lower if where == "ghcr.io/" else new)

    return _addresses(old).sub(written, text)


def _addresses(owner: str) -> re.Pattern[str]:
    name = f"(?i:{re.escape(owner)})"
    return re.compile(rf"(?:{_WHERE}{name}|{_SITE.format(owner=name)})(?=/{NAME}(?![A-Za-z0-9_]))")


def files(root: Path) -> Iterator[Path]:
    """The text files of the repository, but for tests, their fixtures, and what is made from others."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if _walked(Path(folder, name), root))
        yield from (
            Path(folder, name)
            for name in sorted(names)
            if not name.endswith((".png", ".pyc", ".lock", "PKG-INFO"))
        )


def _walked(folder: Path, root: Path) -> bool:
    name = folder.name
    if name.startswith("."):
        return name in {".github", ".ci"}
    # `make docs` writes site/ at the top.
    return (
        name not in _LEFT_OUT and not name.endswith((".egg-info", "__pycache__")) and folder != root / "site"
    )


def write(root: Path, url: str) -> list[Path]:
    """The files that another address changes. Raises ValueError."""
    old, new = owner_of(address(root)), owner_of(url)
    changed = []
    for path in files(root):
        try:
            with path.open(encoding="utf-8", newline="") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        fresh = replaced(text, old, new)
        if path.suffix == ".md":
            fresh = updated(fresh, published=new != PLACEHOLDER)
        if fresh != text:
            with path.open("w", encoding="utf-8", newline="") as file:
                file.write(fresh)
            changed.append(path)
    return changed


def explanations(root: Path) -> Iterator[str]:
    """The lines of pages that explain the placeholder, which a person removes once the address is set."""
    for path in files(root):
        if path.suffix == ".md":
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if re.search(rf"`{PLACEHOLDER}`|\b{PLACEHOLDER} (?:is a placeholder|stands for)", line):
                    yield f"{path.relative_to(root)}:{number}"


def main(words: list[str]) -> int:
    """The exit code."""
    if not words:
        print(address())
        return 0
    try:
        (url,) = words
        changed = write(ROOT, url)
    except ValueError as error:
        print(f"repository_address: {error}", file=sys.stderr)
        return 2
    for path in changed:
        print(path.relative_to(ROOT))
    print(f"{address()}: {len(changed)} files changed")
    left = list(explanations(ROOT)) if is_set() else []
    if left:
        print(f"these lines still explain the placeholder {PLACEHOLDER}: {', '.join(left)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
