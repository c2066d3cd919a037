"""The same run twice draws the same, whatever ran before, and archfit writes the same for each order of a set."""

import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine import ROOT
from program import archfit


def drawn() -> list[tuple[str, int]]:
    found = []

    @given(st.text(), st.integers())
    def draw(text: str, number: int) -> None:
        found.append((text, number))

    draw()
    return found


def test_a_property_draws_the_same_whatever_modules_are_loaded(monkeypatch, tmp_path):
    first = drawn()
    module = ModuleType("loaded_by_another")
    path = tmp_path / "loaded_by_another.py"
    path.write_text(f"WORDS = {[f'word{number}' for number in range(400)]}", encoding="utf-8")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert drawn() == first


@pytest.mark.parametrize("words", ["transform --stamp", "check --json", "explain --json", "patch"])
def test_the_order_of_a_set_changes_no_byte(words):
    stream = (ROOT / "fixtures" / "demo" / "rendered.yaml").read_bytes()
    options = [
        "--offline",
        "--no-cache",
        "--image-platforms=*=linux/arm64,linux/amd64,linux/s390x,windows/amd64",
    ]
    options += ["--prefer=arm64=2,amd64=1", "--tolerate=gke", "--cluster-architectures=arm64,amd64,s390x"]
    ran = [archfit(stream, *words.split(), *options, PYTHONHASHSEED=seed) for seed in ("1", "2", "3")]
    assert ran[0].stdout
    assert ran[0] == ran[1] == ran[2]
