"""Where lines go that are added below a line: never between a plain scalar and its blank lines with a tab."""

import re

from hypothesis import given
from hypothesis import strategies as st

from archfit.edit import insert


@given(st.text(" \t\r\nx", max_size=12), st.integers(0, 12))
def test_added_lines_go_below_blank_lines_with_a_tab(text, at):
    at = min(at, len(text))
    blanks = re.compile(r"(?:[ \t\r]*\n)*[ \r]*\t[ \t\r]*(?:\n|\Z)").match(text, at)
    assert insert._below_tabs(text, at) == (blanks.end() if blanks else at)


def test_many_blank_lines_take_linear_time():
    text = "\n" * 200_000 + "x\t"
    assert insert._below_tabs(text, 0) == 0
