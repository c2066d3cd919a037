"""The fuzzer finds what is wrong, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import machine
from fuzz import properties
from fuzz.asking import Asking
from fuzz.corpus import documents
from fuzz.engine import run
from fuzz.fuzzing import Fuzzing
from fuzz.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml_judge import Judge

# `a` and `d:3` need something: see engine.lookup.
PODS = b"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: one
spec:
  template:
    spec:
      containers:
      - image: nginx:1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: two
data:
  a: 1
"""
CHANGED = Stream(PODS, "always")


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    with Asking(machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")) as running:
        yield running


def _signatures(asking: Asking, one: Stream) -> list[str]:
    return [defect.signature for defect in Fuzzing(asking, ()).defects_of(one)]


def test_a_stream_that_is_right_has_no_defect(asking: Asking) -> None:
    assert run(PODS, properties.OPTIONS["always"]).splices
    assert _signatures(asking, CHANGED) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_run_finds_nothing_in_generated_streams(asking: Asking, seed: int) -> None:
    tally = Fuzzing(asking, ()).run(seed, 700, 60)
    assert tally.defects == {}
    assert tally.changed > 100


def test_a_short_run_finds_nothing_in_real_documents(asking: Asking, judge: Judge) -> None:
    real = documents(machine.shared("corpus"), judge)
    assert len(real) > 300
    tally = Fuzzing(asking, real).run(3, 1000, 60)
    assert tally.defects == {}
    assert tally.changed > 150
