"""Plain numbers as Go's YAML reads them: int64, uint64, float64, else a text."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archfit.yaml.unusual_text import number_kind
from archfit.yaml.values import NoJsonNumber, Typed, plain, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17", 17),
        ("-17", -17),
        ("017", 15),
        ("0o17", 15),
        ("0x1f", 31),
        ("1_000", 1000),
        ("08", 8.0),
        ("0x_", "0x_"),
        ("0b_", "0b_"),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("9" * 300, float("9" * 300)),
        ("9" * 5000, "9" * 5000),
        ("1e3", 1000.0),
        ("1e400", "1e400"),
        ("on", True),
    ],
)
def test_a_plain_number_is_what_go_makes_of_it(text, value):
    found = plain(resolve(text))
    assert found == value
    assert type(found) is type(value)


# What numbers, dates, times, words and almost-numbers are made of; the last three are digits that are not ASCII.
_SIGNS = "+-._:~=<!019abefxXoOiInNfFgTzmyk \u0665\uff11\u00b2"
_WORDS = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true", "yes", "on", "y", "false", "no", "off", "n"}


def by_grammar(text: str) -> object:
    """What the grammar alone makes of a plain scalar: None, the kind of what it is, or the text."""
    if text in _WORDS:
        return None
    if text.lower() in _BOOLEANS and text in {text.lower(), text.capitalize(), text.upper()}:
        return "bool"
    kind = number_kind(text)
    return "none in JSON" if kind == "float" and text[-1] in "fFnN" else kind or text


def kind_of(text: str) -> object:
    try:
        found = resolve(text)
    except NoJsonNumber:
        return "none in JSON"
    if not isinstance(found, Typed):
        return found
    assert found.kind == "bool" or found.text == text
    return found.kind


@pytest.mark.parametrize("length", range(4))
def test_short_texts_are_what_the_grammar_makes_of_them(length):
    texts = map("".join, itertools.product(_SIGNS, repeat=length))
    assert [text for text in texts if kind_of(text) != by_grammar(text)] == []


@given(
    st.text(_SIGNS, max_size=12)
    | st.from_regex(r"[-+]?[0-9_.]{0,5}(?:[eE.:-][-+]?[0-9a-f]{0,4})?", fullmatch=True)
)
@example("190:20:30")
@example("2001-12-14t21:59:43.10-05:00")
@example("1.27.0-alpine")
@example("0b1010_0111_0100_1010_1110")
@example("685_230.15")
@example("6.8523015e+5")
@example("5d4f8c7b9e")
@example("0o7_7")
@example("+.inf")
@example("-.nan")
@example("--port=8080")
def test_longer_texts_are_what_the_grammar_makes_of_them(text):
    assert kind_of(text) == by_grammar(text)
