"""Values and expressions as CEL writes them."""

from __future__ import annotations

import pytest

from archfit.policy.cel.cel_text import all_of, any_of, cel, choice, is_literal, literal, mixed, pattern, rows


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("nginx:1", "'nginx:1'", id="a text"),
        pytest.param("it's \\ a\nline", r"'it\'s \\ a\nline'", id="a text with escapes"),
        pytest.param("\u00e9\u2028", r"'\U000000e9\U00002028'", id="only ASCII is written"),
        pytest.param(True, "true", id="a boolean"),
        pytest.param(10, "10", id="a number"),
        pytest.param(("a", "b"), "['a', 'b']", id="a list"),
        pytest.param({"a": [], "b": ["c"]}, "{'a': [], 'b': ['c']}", id="a mapping"),
    ],
)
def test_a_literal(value: str | int | list[str], written: str):
    assert literal(value) == written


def test_members_of_several_types_are_dyn():
    assert mixed({"a": ["b"], "c": 1}) == "{'a': dyn(['b']), 'c': dyn(1)}"


def test_a_part_is_indented_as_its_line():
    source = """
        a.map(x,
          %part)
        """
    assert cel(source, part="b\n|| c") == "a.map(x,\n  b\n  || c)"


def test_the_first_case_that_holds_is_the_value():
    assert choice([("a", "1"), ("b", "2")], "3") == "a\n  ? 1\n: b\n  ? 2\n: 3"
    assert choice([], "3") == "3"


def test_conditions_joined():
    assert (all_of([]), all_of(["a"]), all_of(["a", "b || c"])) == ("true", "a", "(a) && (b || c)")
    assert (any_of([]), any_of(["a"]), any_of(["a", "b"])) == ("false", "a", "(a) || (b)")


def test_rows_stand_on_lines_of_their_own():
    assert rows(["'a'", "'b'"]) == "[\n  'a',\n  'b'\n]"
    assert rows([], "{", "}") == "{}"


@pytest.mark.parametrize(
    ("glob", "expression"),
    [
        pytest.param("web-*", "(?s)^web-.*$", id="anything"),
        pytest.param("w?b", "(?s)^w.b$", id="one character"),
        pytest.param("a.b+c", r"(?s)^a\.b\+c$", id="what is special in expressions"),
        pytest.param("[a-c]x", "(?s)^[a-c]x$", id="a class"),
        pytest.param("[!a]", "(?s)^[^a]$", id="not in a class"),
        pytest.param("[]-]", r"(?s)^[\x{5D}\x{2D}]$", id="a class of marks"),
        pytest.param("a[", r"(?s)^a\[$", id="no class"),
        pytest.param("[b-a]", r"(?s)^[^\x00-\x{10FFFF}]$", id="a class that matches nothing"),
        pytest.param("[!b-a]", "(?s)^.$", id="a class that matches everything"),
    ],
)
def test_a_glob_as_a_regular_expression(glob: str, expression: str):
    assert pattern(glob) == expression


def test_what_stands_before_a_glob_stands_for_itself():
    assert pattern("/a*", literal="[::1]") == r"(?s)^\[::1\]/a.*$"


def test_a_glob_without_wildcards_is_literal():
    assert [is_literal(glob) for glob in ("shop", "s*", "s?", "[s]")] == [True, False, False, False]
