"""One parser for each notation: what only its parser has to write stands in one module, and others take its values."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import archfit

PACKAGE = Path(archfit.__file__).parent
# Notation, an expression for a literal that a parser of it needs, the module.
NOTATIONS = [
    ("the names of Docker Hub", r"(index|registry-1)\.docker\.io", "images/reference.py"),
    ("a digest", r"sha256:\[", "images/reference_grammar.py"),
    ("a path of an image", r"\[\._\]\|__", "images/reference_grammar.py"),
    ("an IPv6 address as a registry's host", r"\\\[\[[a-f0-9A-F-]*:\]", "images/reference_grammar.py"),
    ("a cache server", r"redis\(s\?\)://", "options/text_form.py"),
]
# Values that options parsed; who takes them apart again reads the notation a second time.
PARSED = {"mirrors", "cache", "allow_hosts", "deny_hosts", "exclude", "tolerate", "image_platforms", "assume"}
_TEXT_METHODS = {"split", "rsplit", "partition", "rpartition", "startswith", "endswith", "removeprefix"}


def literals(path: Path) -> list[str]:
    """The strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


LITERALS = {str(path.relative_to(PACKAGE)): literals(path) for path in sorted(PACKAGE.rglob("*.py"))}


@pytest.mark.parametrize(
    ("written", "module"), [row[1:] for row in NOTATIONS], ids=[row[0] for row in NOTATIONS]
)
def test_a_notation_is_parsed_in_one_module(written: str, module: str) -> None:
    """A second module with such a literal is a second parser."""
    assert [name for name, texts in LITERALS.items() if any(re.search(written, text) for text in texts)] == [
        module
    ]


def test_nobody_takes_the_text_of_an_option_apart_again() -> None:
    """Behind the options, mirrors, caches, hosts and excludes are values."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in _TEXT_METHODS
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in PARSED
        and getattr(node.value.value, "id", "") in {"operator", "options", "settings"}
    ]
    assert found == []
