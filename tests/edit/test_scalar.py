"""Strings as text: whatever it says, every reader gets the same string back."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archfit.edit.render import Style, block, flow, quoted, scalar
from archfit.yaml.compose import parse
from archfit.yaml.values import PlainKey, Typed

WORDS = [
    "true",
    "True",
    "TRUE",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "Y",
    "N",
    "null",
    "Null",
    "~",
    "1",
    "012",
    "1e3",
    "0x1",
    "1_0",
    "22:22",
    "=",
    "<<",
    "-",
    "?",
    ".inf",
    "nan",
    "NaN",
    "Infinity",
    "2001-01-01",
    "a:",
    "#a",
    "@",
    "`",
]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("arm64", "arm64", id="a word"),
        pytest.param("kubernetes.io/arch", "kubernetes.io/arch", id="a label"),
        pytest.param("a-b.c/d", "a-b.c/d", id="dots, dashes and slashes"),
        pytest.param("", '""', id="nothing"),
        pytest.param("a b", '"a b"', id="a blank"),
        pytest.param("a_b", '"a_b"', id="an underscore"),
        pytest.param("-a", '"-a"', id="a dash first"),
        pytest.param("1a", '"1a"', id="a digit first"),
        pytest.param("é", '"é"', id="beyond ASCII"),
        pytest.param("a\u2028\x7f\ufeff", '"a\\u2028\\u007f\\ufeff"', id="what YAML cannot print"),
        pytest.param('"\\', '"\\"\\\\"', id="quotes and backslashes"),
    ],
)
def test_written(text, written):
    assert scalar(text) == written
    assert scalar(text, as_json=True) == (written if written.startswith('"') else f'"{written}"')


@pytest.mark.parametrize("word", WORDS)
def test_words_that_mean_something_else_are_quoted(judge, word):
    assert scalar(word) == quoted(word)
    assert judge.kubectl(f"a: {scalar(word)}\n".encode()) == [{"a": word}]
    assert judge.kustomize(f"a: {scalar(word)}\n".encode()) == [{"a": word}]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(None, "null", id="null"),
        pytest.param(5, "5", id="a number"),
        pytest.param(Typed("bool", "true"), "true", id="a boolean"),
        pytest.param(Typed("int", "0x1F"), "0x1F", id="a number as it was written"),
        pytest.param(PlainKey("y"), "y", id="a key as it was written"),
    ],
)
def test_what_is_no_string_is_not_quoted(value, written):
    assert scalar(value) == scalar(value, as_json=True) == written


@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_any_string_survives(judge, text):
    document = f"a: {scalar(text)}\nb: [{scalar(text)}]\nc: {{d: {scalar(text)}}}\n"
    value = {"a": text, "b": [text], "c": {"d": text}}
    assert parse(document).value == value
    assert judge.kubectl(document.encode()) == judge.kustomize(document.encode()) == [value]


values = st.recursive(
    st.one_of(st.none(), st.sampled_from(["a", "on", "", "x y", "é"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["k", "on", "a b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    value=values,
    indent=st.sampled_from([1, 2, 4]),
    dash=st.sampled_from([0, 2]),
    column=st.sampled_from([0, 3]),
)
def test_block_and_flow_say_the_same(value, indent, dash, column):
    assert parse(f"a: {flow(value)}\n").value == {"a": value}
    assert parse(f"a: {flow(value, as_json=True)}\n").value == {"a": value}
    if isinstance(value, (dict, list)) and value:
        lines = block(value, column, Style(indent, dash if indent > 1 or not dash else 0))
        assert parse("\n".join([*lines, ""])).value == value


@given(st.text("aZ09./-_ é\u0661\n:", max_size=6))
def test_plain_text_is_letters_digits_and_three_marks(text):
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9./-]*", text, re.ASCII) is not None
    assert (scalar(text) == text) is plain
