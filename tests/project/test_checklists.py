"""tests/support/checklists.md: each point of the five lists has a test, and the tests that it names exist."""

from __future__ import annotations

import re
from collections import defaultdict

from machine import ROOT

_TEST = re.compile(r"(?P<file>test_\w+): `(?P<name>[^`]+)`")
POINTS = {"conformance": 60, "security": 25, "integrations": 53, "admission": 30}


def table() -> dict[str, dict[int, list[tuple[str, str]]]]:
    """List -> number -> (file, function or id of a case)."""
    found: dict[str, dict[int, list[tuple[str, str]]]] = defaultdict(dict)
    part = ""
    for line in (ROOT / "tests" / "support" / "checklists.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[1:] == ["what", "tests"]:
            part = cells[0]
        elif cells and cells[0].isdigit():
            found[part][int(cells[0])] = _TEST.findall(cells[-1])
    return found


def names() -> dict[str, set[str]]:
    """File -> functions and ids in it."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        for pair in re.findall(r"def (test_\w+)|id=\"([^\"]+)\"", path.read_text(encoding="utf-8")):
            found[path.stem].update(filter(None, pair))
    return found


def test_every_point_has_a_test() -> None:
    found = table()
    assert {part: sorted(found[part]) for part in POINTS} == {
        part: list(range(1, last + 1)) for part, last in POINTS.items()
    }
    assert [(part, number) for part in found for number, tests in found[part].items() if not tests] == []


def test_the_tests_exist_under_these_names() -> None:
    there = names()
    named = {test for points in table().values() for tests in points.values() for test in tests}
    assert len(named) > 150
    assert sorted(test for test in named if test[1] not in there[test[0]]) == []


def test_no_test_is_named_after_a_number_of_a_list() -> None:
    numbered = re.compile(r"(conformance|security)[-_][0-9]|test_(checks?_)?[0-9]{2}_[a-z]{3}")
    found = sorted(name for own in names().values() for name in own if numbered.search(name))
    assert [name for name in found if not name.startswith("test_64_")] == []
