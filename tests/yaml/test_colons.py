"""The colon behind a key, as YAML's grammar finds it."""

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from archfit.yaml.tree import colon_follows

_SIGNS = "a:# \t\r\n"
_COLON = re.compile(r"(?:[ \t\r\n]|#[^\n]*+)*+:").match


def test_a_colon_follows_blanks_lines_and_comments():
    texts = ["".join(text) for length in range(6) for text in itertools.product(_SIGNS, repeat=length)]
    assert [text for text in texts if colon_follows(text, 0) != bool(_COLON(text))] == []


@given(st.text(_SIGNS), st.integers(0, 20))
def test_it_is_looked_for_from_an_offset(text, at):
    assert colon_follows(text, at) == bool(_COLON(text, at))
