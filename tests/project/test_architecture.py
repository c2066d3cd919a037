"""The picture in .github/CONTRIBUTING.md agrees with the imports at run time."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from functools import cache

import grimp

from machine import ROOT

PACKAGE = ROOT / "transformer" / "archfit"
_ARROW = re.compile(r"^\s*(\w+)(?:\[\"[^\"]*\"\])? --> (\w+)", re.MULTILINE)
_NODE = re.compile(r"^\s*(\w+)\[\"(\w+): [^\"]+\"\]", re.MULTILINE)


def picture() -> str:
    page = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return page.partition("```mermaid\n")[2].partition("```")[0]


ARROWS = set(_ARROW.findall(picture()))
NODES = dict(_NODE.findall(picture()))


def _contract() -> dict[str, list[str]]:
    """The first contract of import-linter, whose `ignore_imports` are the gates from the command line to a product."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract: dict[str, list[str]] = configuration["tool"]["importlinter"]["contracts"][0]
    return contract


@cache
def imports() -> set[tuple[str, str]]:
    """Pairs of packages of which the first imports the second when it runs."""
    graph = grimp.build_graph("archfit", exclude_type_checking_imports=True, cache_dir=None)
    gates = [tuple(gate.split(" -> ")) for gate in _contract()["ignore_imports"]]
    pairs = {
        (importer.split(".")[1], imported.split(".")[1])
        for importer in graph.modules - {"archfit"}
        for imported in graph.find_modules_directly_imported_by(importer) - {"archfit"}
        if not any(fnmatch(importer, start) and fnmatch(imported, end) for start, end in gates)
    }
    return {(importer, imported) for importer, imported in pairs if importer != imported}


def below(node: str) -> set[str]:
    """What the arrows lead to from a node."""
    found: set[str] = set()
    left = [node]
    while left:
        here = left.pop()
        fresh = {to for start, to in ARROWS if start == here} - found
        found |= fresh
        left += fresh
    return found


def test_every_package_is_in_the_picture_under_its_name() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages - set(NODES) == set()
    assert {name for name, label in NODES.items() if name != label} == set()
    assert {
        name for name in NODES if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").is_file()
    } == set()


def test_every_arrow_is_an_import() -> None:
    assert {name for arrow in ARROWS for name in arrow} == set(NODES)
    assert sorted(ARROWS - imports()) == [], "take these arrows out of .github/CONTRIBUTING.md"


def test_every_import_follows_the_arrows() -> None:
    beside = sorted(
        (importer, imported)
        for importer, imported in imports()
        if {importer, imported} <= set(NODES) and imported not in below(importer)
    )
    assert beside == [], "turn these imports round, or draw them in .github/CONTRIBUTING.md"


def test_no_arrow_leads_back() -> None:
    assert [name for name in NODES if name in below(name)] == []
