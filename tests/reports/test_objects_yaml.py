"""Objects as YAML: two readers get every value back, and people get lines."""

from __future__ import annotations

import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from archfit.policy.command import objects_yaml

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=300)
VALUES = st.recursive(
    st.one_of(
        WORDS, st.booleans(), st.integers(), st.sampled_from(["y", "on", "1e3", "0x1f", "~", "22:22", "="])
    ),
    lambda inside: st.one_of(
        st.lists(inside, max_size=3), st.dictionaries(st.text("abyn", min_size=1), inside, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abyn", min_size=1), VALUES, max_size=4))
@example({"a": "\x85"})
@example({"a": "b\u2028\nc"})
def test_every_value_comes_back(value: dict[str, object]):
    text = objects_yaml([value], ["head"]).decode()
    assert yaml.safe_load(text) == value
    assert YAML(typ="safe", pure=True).load(text) == value


def test_long_texts_are_blocks():
    lines = objects_yaml(
        [{"a": "x\n  y", "b": "word " * 40 + "end", "c": "short", "d": ["y", "1e3"]}], ["one", ""]
    ).decode()
    assert lines.startswith("# one\n#\n---\na: |-\n  x\n    y\nb: >-\n  word")
    assert lines.endswith("c: short\nd:\n- 'y'\n- '1e3'\n")
    assert max(map(len, lines.splitlines())) < 125


def test_equal_parts_are_written_twice():
    part = {"x": ["y"]}
    assert b"&" not in objects_yaml([{"a": part, "b": part}], [])
