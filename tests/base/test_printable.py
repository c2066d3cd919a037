"""The one cleaner: what it shows for what, what it leaves alone, and how long a line may be."""

import io
import json

import pytest

from archfit.base.printable import LONGEST_LINE, beneath, encoded, few, json_text, lines, messages, visible

ODD = (
    *map(chr, (*range(9), *range(11, 32), *range(127, 160))),
    *"\u200b\u200c\u200d\u200e\u200f\u061c\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
    "\ud800",
    "\udfff",
    "\U000e0041",
)


@pytest.mark.parametrize(
    "text", ["", "nginx:1.27", "Grüße, 世界 🐳", "a\\x1b", "http://[::1]:5000", "# comment", "a ## b"]
)
def test_noop_what_can_be_seen_keeps_its_bytes(text):
    assert visible(text) == lines(text) == json_text(text) == text
    assert encoded(text) == text.encode()


@pytest.mark.parametrize("odd", ODD, ids=[f"U+{ord(one):04X}" for one in ODD])
def test_what_cannot_be_seen_is_shown_by_its_escape(odd):
    assert visible(f"a{odd}b") == f"a{odd.encode('unicode_escape').decode()}b"
    assert encoded(odd).isascii()


def test_a_line_break_in_one_line_is_an_escape_and_between_lines_stays():
    assert visible("a\nb\tc\rd") == r"a\nb\tc\rd"
    assert lines("a\nb\tc\rd\n") == "a\nb\tc\\rd\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("::error::x", r"\x3a:error::x", id="GitHub"),
        pytest.param(" \t::add-mask::x", " \t\\x3a:add-mask::x", id="GitHub-after-blanks"),
        pytest.param("a\n::stop-commands::x", "a\n\\x3a:stop-commands::x", id="GitHub-on-a-later-line"),
        pytest.param("a ##[add-path]/x", r"a #\x23[add-path]/x", id="GitHub-of-old-anywhere"),
        pytest.param("a ##vso[task.x]", r"a #\x23vso[task.x]", id="Azure"),
        pytest.param("a ::error::x", "a ::error::x", id="noop-within-a-line"),
        pytest.param("a::b", "a::b", id="noop-a-word"),
    ],
)
def test_no_line_is_a_command_to_a_ci_system(text, shown):
    assert lines(text) == shown
    assert lines(shown) == shown


def test_a_long_line_keeps_its_beginning_and_its_end():
    shown = visible("error: " + "\x1b" * 100_000 + ": do this")
    assert len(shown) <= LONGEST_LINE
    assert shown.startswith(r"error: \x1b")
    assert shown.endswith(": do this")
    assert "characters left out]" in shown
    assert visible("x" * LONGEST_LINE) == "x" * LONGEST_LINE


def test_json_means_the_same_and_holds_nothing_raw():
    value = {one: [one, "##[error]x", "##vso[a]", "ü"] for one in ODD}
    text = json_text(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(text) == value
    assert all(one.isprintable() or one == "\n" for one in text)
    assert "ü" in text
    assert "##" not in text


def test_messages_are_cleaned_and_archfits_own_control_characters_go_beneath():
    stream = io.StringIO()
    cleaned = messages(stream)
    print("a\x1b", file=cleaned)
    cleaned.writelines(["::b\n", "c"])
    cleaned.flush()
    beneath(cleaned).write("\r")
    assert stream.getvalue() == "a\\x1b\n\\x3a:b\nc\r"
    assert beneath(stream) is stream
    assert not cleaned.isatty()


@pytest.mark.parametrize(
    ("names", "number", "shown"),
    [
        pytest.param([], 0, "", id="none"),
        pytest.param(["a", "b"], 0, "a, b", id="as many as are shown"),
        pytest.param(["a", "b", "c"], 0, "a, b and 1 more", id="one more"),
        pytest.param(["a", "b"], 7, "a, b and 5 more", id="the names are not all"),
    ],
)
def test_few_names_say_how_many_are_left_out(names, number, shown):
    assert few(names, 2, number) == shown
