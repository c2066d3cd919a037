"""The lines that messages name are those where a person finds the node."""

from __future__ import annotations

import pytest

from archfit.yaml.tree import NodeLines

_BLOCK = """\
# comment
kind: Pod
metadata: &m
  labels: {a: b,
    c: d}
spec:
  containers:
  # the first
  - name: a
    image: x
  -
    name: b
    <<: {tty: true}
  copy: *m
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("kind",), 1),
        (("metadata",), 2),
        (("metadata", "labels", "c"), 4),
        (("spec", "containers"), 6),
        (("spec", "containers", 0), 8),
        (("spec", "containers", 0, "image"), 9),
        (("spec", "containers", 1, "name"), 11),
        (("spec", "containers", 1, "tty"), 11),
        (("spec", "containers", 2), 6),
        (("spec", "copy", "labels"), 13),
        (("spec", "tolerations", 0), 5),
    ],
)
def test_a_node_has_the_line_of_its_key_or_dash_and_what_is_not_written_that_of_its_holder(
    path: tuple[str | int, ...], line: int
) -> None:
    assert NodeLines(_BLOCK).at(path) == line


def test_lines_are_the_same_in_whatever_order_they_are_asked_for() -> None:
    lines = NodeLines(_BLOCK)
    paths = ("spec", "copy"), ("kind",), ("spec",), ("nothing",)
    assert list(map(lines.at, paths)) == [13, 1, 5, 1]


def test_of_a_key_that_stands_twice_the_later_one_counts() -> None:
    assert NodeLines("a: {b: 1}\nc: 1\na:\n  b: 2\n", twice=True).at(("a", "b")) == 3


def test_json_with_surrogate_pairs_has_lines_too() -> None:
    assert NodeLines('{"a": "\\ud83d\\ude00",\n"b": [\n1]}').at(("b", 0)) == 2
