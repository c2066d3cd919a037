"""Names that say nothing, or are a second word for a thing: part of `make lint`. Ruff has no rule for a list of words.

A stored name is a noun of the field: `warnings`, `rows`, `image`, `messages` or `requests`, where these would leave the
reader to find out. The second words are those in the last column of the table in CONTRIBUTING.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = _ROOT / "transformer" / "archfit"
_ROW = re.compile(r"^\| [^|]+ \| [^|]+ \| ([^|]*)\|$", re.MULTILINE)
WORDS = {"found", "one", "made", "said", "asked", "told"}
PUBLISHED = {
    "transformer/archfit/audit/upgrades.py": {"asked"},
    "transformer/archfit/explain/explanation.py": {"decided"},
}
"""Fields that a report shows under their name."""


def second_words() -> set[str]:
    """Those of the table. Raises ValueError where it is not there."""
    _, head, table = (
        (_ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words\n")
    )
    words = {
        word for cells in _ROW.findall(table.partition("\n## ")[0]) for word in re.findall(r"`(\w+)`", cells)
    }
    if not head or not words:
        raise ValueError("CONTRIBUTING.md has no table of words")
    return words


def stored(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, name) of each variable, parameter, function and class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def main() -> int:
    """The exit code: 1 where a name says nothing."""
    words = WORDS | second_words()
    wrong = [
        f"{path.relative_to(_ROOT)}:{line}: {name!r} says nothing, or is a second word: name what it is"
        for path in sorted(_PACKAGE.rglob("*.py"))
        for line, name in stored(ast.parse(path.read_text(encoding="utf-8")))
        if name in words - PUBLISHED.get(str(path.relative_to(_ROOT)), set())
    ]
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
