"""docs/registries.md promises nothing without a test."""

from __future__ import annotations

import re

import pytest
import yaml

from machine import ROOT

PROMISES = yaml.safe_load((ROOT / "tests" / "support" / "registry_promises.yaml").read_text(encoding="utf-8"))
# Without its first part, which is about credentials.
PAGE = (
    (ROOT / "docs" / "registries.md").read_text(encoding="utf-8").partition("\n## Where an image is asked")[2]
)
ENTRY = re.compile(r"^(?:- |[0-9]\. |\| (?!address \||---)).*", re.MULTILINE)


@pytest.fixture(scope="module")
def names():
    """Every function and every id of a case in the tests and their fixtures."""
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for pair in re.findall(r"def (test_\w+)|id=\"([^\"]+)\"", path.read_text(encoding="utf-8")):
            found.update(filter(None, pair))
    for path in (ROOT / "fixtures").rglob("*.yaml"):
        found.update(re.findall(r"^- id: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


@pytest.mark.parametrize("promise", PROMISES)
def test_the_page_says_it_once_and_its_tests_are_there(promise, names):
    assert PAGE.count(promise) == 1
    assert PROMISES[promise]
    assert set(PROMISES[promise]) - names == set()


def test_no_item_and_no_row_of_the_page_is_without_a_test():
    entries = [line[0] for line in ENTRY.finditer(PAGE)]
    assert len(entries) > 20
    assert [entry for entry in entries if not any(entry.startswith(promise) for promise in PROMISES)] == []
