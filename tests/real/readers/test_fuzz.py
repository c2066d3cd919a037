"""The fuzzer finds what is wrong, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import machine
from archfit.yaml.stream import Splice
from fuzz import properties
from fuzz.asking import Asking
from fuzz.corpus import documents
from fuzz.engine import Done, Refused, run
from fuzz.fuzzing import Fuzzing
from fuzz.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def _raised(_data: bytes, _outcome: Done) -> Done:
    raise ValueError(42)


def _byte(old: bytes, new: bytes) -> Callable[[bytes, Done], Done]:
    def plant(data: bytes, outcome: Done) -> Done:
        at = data.rindex(old)
        splice = Splice(at, at + len(old), new)
        written = outcome.data.replace(old, new)
        return outcome._replace(data=written, splices=(*outcome.splices, splice))

    return plant


def _no_decision(_data: bytes, outcome: Done) -> Done:
    return outcome._replace(transformed=outcome.transformed.replace(decisions=()))


def _no_output(_data: bytes, outcome: Done) -> Done:
    return outcome._replace(data=PODS)


def _again(_data: bytes, outcome: Done) -> Done:
    return outcome._replace(splices=outcome.splices or (Splice(0, 0, b"#"),))


def _refused(_data: bytes, _outcome: Done) -> Refused:
    return Refused((("no such luck", True),))


def _nowhere(_data: bytes, _outcome: Done) -> Refused:
    return Refused((("this is not YAML", False),))


PLANTED: dict[str, tuple[Callable[[bytes, Done], Done | Refused], str]] = {
    "a run raises": (_raised, "raises: ValueError in test_fuzz.py _raised"),
    "a value becomes another type": (_byte(b"a: 1", b"a: '1'"), "kubectl reads otherwise: instead of"),
    "a comment goes": (_byte(b"two", b"two # c"), "bytes: more than an insertion"),
    "another document is touched": (
        _byte(b"data", b" data"),
        "bytes: outside of the documents that get a patch",
    ),
    "a key stands twice": (_byte(b"data:", b"kind: x\ndata:"), "kustomize reads otherwise"),
    "a document is lost": (_byte(b"---\n", b""), "kubectl reads otherwise"),
    "the patch is not written": (_no_output, "kustomize reads otherwise: is gone"),
    "a pod is not seen": (_no_decision, "pod missing"),
    "the second run writes": (_again, "second run changes something"),
    "a good stream is refused": (_refused, "refused: no such luck"),
    "an error names no place": (_nowhere, "no place: this is not YAML"),
}


def test_a_stream_that_is_right_has_no_defect(asking: Asking) -> None:
    assert run(PODS, properties.OPTIONS["always"]).splices
    assert _signatures(asking, CHANGED) == []


@pytest.mark.parametrize("name", PLANTED)
def test_each_property_can_fail(asking: Asking, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    plant, signature = PLANTED[name]

    def planted(data: bytes, options: Any, **more: Any) -> Any:
        return plant(data, run(data, options, **more))

    monkeypatch.setattr(properties, "run", planted)
    found = _signatures(asking, CHANGED)
    assert any(one.startswith(signature) for one in found), found


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
