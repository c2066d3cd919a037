"""Names that say nothing, in the package: part of `make lint`. Ruff has no rule for a list of words.

A stored name is a noun of the field: `warnings`, `rows`, `image`, `messages` or `requests`, where these would leave the
reader to find out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1] / "transformer" / "archfit"
WORDS = {"found", "one", "made", "said", "asked", "told"}
PUBLISHED = {"transformer/archfit/audit/upgrades/upgrades.py": {"asked"}}
"""Fields that a report shows under their name."""


def stored(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, name) of each variable and parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def main() -> int:
    """The exit code: 1 where a name says nothing."""
    wrong = [
        f"{path.relative_to(_PACKAGE.parents[1])}:{line}: {name!r} says nothing: name what it is"
        for path in sorted(_PACKAGE.rglob("*.py"))
        for line, name in stored(ast.parse(path.read_text(encoding="utf-8")))
        if name in WORDS - PUBLISHED.get(str(path.relative_to(_PACKAGE.parents[1])), set())
    ]
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
