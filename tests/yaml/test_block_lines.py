"""What is read by lines is what the parser reads: the same values at the same places, or nothing."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archfit.base.errors import InvalidInput
from archfit.workloads.sites import Spine, block_sites, find_sites
from archfit.yaml.block_lines import block_text
from archfit.yaml.compose import parse
from archfit.yaml.tree import ROOT, Tree
from archfit.yaml.values import PlainKey, Typed
from fuzz.writing import Style, block

USUAL = [
    pytest.param("a: b\n", id="a member"),
    pytest.param("a: b", id="no line break at the end"),
    pytest.param("a:\n  b:\n    c: 1\nd: e\n", id="mappings"),
    pytest.param("a:\n    b: c\n", id="a wide indent"),
    pytest.param("a:\n- b\n- c: 1\n  d: 2\ne:\n  - f\n  -   g: 1\n      h: 2\n", id="lists"),
    pytest.param("a:\n- b:\n  - c\n  d:\n- e\n", id="a compact list in a compact list"),
    pytest.param("- a: b\n  c: d\n", id="a list of one, as an item of a list is read"),
    pytest.param("  - a: b\n    c: d\n", id="the same, indented"),
    pytest.param("a:\nb:\n  c:\nd:\n- e:\n  f: 1\n", id="nothing"),
    pytest.param("a: ~\nb: null\nc: true\nd: 1.5\ne: 0x1f\nf: 100m\ng: 1_0\n", id="words and numbers"),
    pytest.param("a: {}\nb: []\nc:\n- {}\n- []\n", id="empty collections"),
    pytest.param("a:\n  {}\nb:\n    [] # c\nd:\n- e:\n    {}\n  f:\n     []\n- g\n", id="empty ones below a key"),
    pytest.param("a: [b, 'c d', \"e\", 1, true]\nb: {c: d, e: 1, 'f': \"g h\"}\n", id="short flow collections"),
    pytest.param("a: \"b: c # d\"\ne: 'f: g # h'\n\"i\": j\n'k l':\n- m\n", id="quotes"),
    pytest.param('a: "b\\"c\\\\d\\ne\\tf"\ng: \'it\'\'s\'\n- h\n'.replace("- h\n", ""), id="escapes"),
    pytest.param("# a\nb: c # d\n\ne:   # f\n  # g\n  h: i  \n      # j\nk: 'l'  # m\n", id="comments and blanks"),
    pytest.param("a: |\n  b\n   c: d\n\n  # e\nf: |-\n    g\n\nh:\n- |\n  i\n- j: |-\n    k\n", id="literals"),
    pytest.param("a: |\n  b", id="a literal without a line break at the end"),
    pytest.param('f:metadata:\n  .: {}\n  k:{"name":"x"}:\n    f:image: {}\n', id="managed fields"),
    pytest.param("a: -b\nc: --d=e\nf: g:h\ni: j#k\nl: <m>\nm: (o)\np: a,b]\nq: ...\nr: ---\ns: é\n", id="plain signs"),
    pytest.param("a: =\nb: <<\nc:\n- <<\n", id="signs that mean something elsewhere"),
]  # fmt: skip
UNUSUAL = [
    pytest.param("", id="nothing"),
    pytest.param("# a\n", id="a comment alone"),
    pytest.param("a\n", id="a text"),
    pytest.param("a: b\n  c\n", id="a text over two lines"),
    pytest.param("a: 'b\n  c'\n", id="a quoted text over two lines"),
    pytest.param("a: >-\n  b\n", id="a folded text"),
    pytest.param("a: |+\n  b\n", id="a literal that keeps its end"),
    pytest.param("a: |2\n  b\n", id="a literal with an indent"),
    pytest.param("a: |\nb: c\n", id="an empty literal"),
    pytest.param("a: |\n    \n  b\n", id="blanks before a literal's text"),
    pytest.param("a: &b c\nd: *b\n", id="an anchor"),
    pytest.param("a: !!str b\n", id="a tag"),
    pytest.param("<<: {a: b}\n", id="a merge"),
    pytest.param("? a\n: b\n", id="an explicit key"),
    pytest.param("a: b\na: c\n", id="a key twice"),
    pytest.param("a:\n- b: 1\n  b: 2\n", id="a key twice in an item"),
    pytest.param("a: {b: 1, b: 2}\n", id="a key twice in braces"),
    pytest.param("y: b\n", id="a key that is a boolean"),
    pytest.param("1: b\n", id="a key that is a number"),
    pytest.param("a: b: c\n", id="two colons"),
    pytest.param("a:\n\tb: c\n", id="a tab"),
    pytest.param("a: b\r\n", id="CRLF"),
    pytest.param("a: b\u2028c\n", id="another line break"),
    pytest.param("a: b\n---\nc: d\n", id="a second document"),
    pytest.param("%YAML 1.1\n---\na: b\n", id="a directive"),
    pytest.param("a: b\n...\n", id="the end of a document"),
    pytest.param("a: b\n... c: d\n", id="the end of a document before a key"),
    pytest.param("a:\n  b: c\n d: e\n", id="an indentation that fits nothing above"),
    pytest.param("  a: b\nc: d\n", id="a key left of the first"),
    pytest.param("a: b\n- c\n", id="an item among keys"),
    pytest.param("- a\nb: c\n", id="a key among items"),
    pytest.param("- - a\n", id="a list in a list on one line"),
    pytest.param("-\n  a: b\n", id="a dash alone"),
    pytest.param("a:\n{}\n", id="an empty collection at the column of its key"),
    pytest.param("a:\n- b\n  {}\n", id="an empty collection behind an item"),
    pytest.param("a:\n  {}\n  b: c\n", id="a key behind an empty collection"),
    pytest.param("a: b\n{}\n", id="an empty collection without a key"),
    pytest.param("{}\n", id="an empty collection alone"),
    pytest.param("a: [b, [c]]\n", id="a list in a flow list"),
    pytest.param("a: [b,\n  c]\n", id="a flow list over two lines"),
    pytest.param("a: [b, ]\n", id="a comma at the end"),
    pytest.param('a: "\\u00e9"\n', id="another escape"),
    pytest.param("a: @b\n", id="a sign that begins no text"),
    pytest.param('"---a": b\n', id="a key like a separator"),
    pytest.param(f"{'k' * 1025}: 1\n", id="a long key"),
    pytest.param("".join(f"{' ' * depth}a:\n" for depth in range(300)), id="deep nesting"),
]
SPINE: Spine = {"a": None, "b": {"c": None}, "tolerations": None, "e": [{"f": None}], "args": None}


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal with all of their types and in the order of their keys."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return [*map(type, one)] == [*map(type, other)] and same([*one.items()], [*other.items()])
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def mappings(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if isinstance(value, dict) and path else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [one for key, member in inside for one in mappings(member, (*path, key))]


def compared(text: str, chance: random.Random | None = None) -> Tree | None:
    """Compares both readings, and the sites in them, if the text is read by lines; its tree then."""
    usual = block_text(text)
    if usual is None:
        return None
    tree = parse(text)
    assert same(usual.value, tree.value)
    assert not tree.duplicates
    assert not tree.aliases
    assert not tree.properties
    paths = mappings(usual.value)
    for path in paths if chance is None else chance.sample(paths, min(2, len(paths))):
        sites = block_sites(usual, usual.value, {path: SPINE})
        assert sites is None or sites == find_sites(tree, ROOT, tree.value, {path: SPINE})
    return tree


@pytest.mark.parametrize("text", USUAL)
def test_usual_text_is_read_by_lines(text: str) -> None:
    assert compared(text) is not None


@pytest.mark.parametrize("text", UNUSUAL)
def test_the_parser_reads_what_is_unusual(text: str) -> None:
    assert block_text(text) is None


def test_equal_lines_are_values_of_their_own() -> None:
    usual = block_text("a:\n  b: {}\n  c: [1]\nd:\n  b: {}\n  c: [1]\n")
    assert usual is not None
    assert usual.value["a"]["b"] is not usual.value["d"]["b"]
    assert usual.value["a"]["c"] is not usual.value["d"]["c"]


_PIECES = ("a", ":", " ", "- ", "\n", "\n  ", "#", "'", '"', "|", "{", "}", "[", "]", ",", "1")


@pytest.mark.parametrize("length", range(1, 5))
def test_every_short_text_is_read_as_the_parser_reads_it(length: int) -> None:
    read = [compared("".join(pieces)) for pieces in itertools.product(_PIECES, repeat=length)]
    assert length < 3 or any(read)


_LINES = (
    "",
    "# c",
    "a: b",
    "a:",
    "- a",
    "- a:",
    "- a: b",
    "|",
    "a: |",
    "- |-",
    "a: 'b'",
    "b",
    "x: {}",
    "{}",
    "[]  # d",
    "y: [a]",
)


@pytest.mark.parametrize("length", range(1, 5))
def test_drawn_lines_are_read_as_the_parser_reads_them(length: int) -> None:
    chance = random.Random(length)
    for _ in range(8000):
        lines = [" " * chance.randrange(5) + chance.choice(_LINES) for _ in range(length + 2)]
        text = "\n".join(line.replace("a", chance.choice("aabcd")) for line in lines)
        compared(text, chance)


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "on", "tier": "x: y"}},
    "spec": {
        "containers": [{"name": "a", "image": "amd:1", "args": ["--a=b", "# no", "it's"], "ports": [{"hostPort": 80}]}],
        "tolerations": [{"key": "x", "operator": "Exists"}],
        "b": {"c": None},
        "hostNetwork": True,
        "script": "one\n\n  two\n",
    },
}  # fmt: skip


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_drawn_styles_with_broken_lines_are_read_as_the_parser_reads_them(seed: int) -> None:
    chance = random.Random(seed)
    style = Style(chance)
    style.flow, style.json = chance.choice((0.0, 0.1)), False
    text = block(POD, style)
    compared(text, chance)
    for _ in range(8):
        try:
            compared(_broken(text, chance), chance)
        except InvalidInput as error:
            pytest.fail(f"what is no YAML was read by lines: {error}")


_KEYS = (
    *("a", ".", "..", "...", "... a", "/", "_", "$x", "x y", "a:b", "a:", "a::", "a#b", "a #b", "#a", "a,b"),
    *("a[0]", "a{", "f:metadata", 'k:{"name":"x"}', 'a"b', "a'b", "a?", "a -", "a - b", "a|", "a>", "a&", "é", "😀"),
    *("\uff41", "\uff11", "²", "on", "y", "1", "1.5", "0x1", "null", "~", "1:30", "2020-01-01", "1_0", "0o17"),
    *("1e3", ".5", "+1", "-a", "=", "<<", "?a", "? a", ": a", "-", "- a", "- a: b", ",a", "--- a", "---a", "%a"),
    *("@a", "`a", "&a", "*a", "!a", "|", ">", "a\xa0b", "\xa0a", "\ufeffa", "a\tb", "\ta", "a\t", "a\u2028"),
    *("a\x85", '"a"', "'a'", '""', "''", '"a" ', '"a": b', '"a\\"b"', '"a\\x41"', "'a''b'", '"#"', "'a: b'"),
    *('"---a"', '"... a"', "'", '"', "[a]", "{}", "{a: b}", ""),
    *("k" * length for length in (999, 1000, 1001, 1023, 1024, 1025)),
)  # fmt: skip
_VALUES = (
    *_KEYS,
    *("--", "---", "...", "--x", "-x", "::", ":x", "a:b", "a :b", "a : b", "a: b", "a# b", "a   # b", "a  b"),
    *("x: 'y'", "|", "|-", "|+", "|2", "| # c", ">", ">-", "{ }", "[ ]", "[a, b]", "[a,b]", "[a, ]", "[,]"),
    *("[a b]", "[a: b]", "[*a]", '["a, b"]', '["a", \'b\']', '["a"b]', "['a''b']", "[a]]", "[[a]]", "[{}]", "[-a]"),
    *("[a-]", "[.]", "[...]", "[~]", "[]x", "{a: b,c: d}", "{a:b}", "{a}", "{a: }", '{"a": b}', '{"a":b}'),
    *("{a : b}", "{a: b, a: c}", "{a: b: c}", "{1: a}", "{true: a}", "{a: ~}", "{a: {b: c}}", "{a: []}", '{"}'),
    *('["]', "{? a: b}", "{}#c", "{} # c", "[a] # c", "{}: x", "[]: x", '"a\\\\"', '"a\\n"', '"a\\\\n"'),
    *('"\\u00e9"', '"\\/"', '"a"# c', '"a" # c', '"a" b', '"a" "b"', '"a', '"a\\" # b"', '"a\\" # "'),
    *('"a\\\\" # "', '"a\\n" # "b"', "'a'' # c'", "'a' # c'", "'a' 'b'", "'a'':b'", "'a''': b", "'\\'", "'a"),
    *('"a":b', "'a':b", "\\", "a\\", "it's", 'say "x"', "a\rb", "a\x00", "\x7f", "x" * 1030, f'"{"x" * 1030}"'),
    *("0", "08", "-0", ".inf", "1.", "_"),
)  # fmt: skip
_FRAMES = (
    "{}: {}",
    "- {}: {}\n",
    "a:\n  {}: {}\n  b: c\n",
    "b: c\n{}:   {} # c\n",
    "a:\n- {}: {}\n  # c\n  b:\n- c\n",
    "a:\n    - b\n    - {}: {}\nc: |\n  d: e\n",
)


@pytest.mark.parametrize("frame", _FRAMES)
def test_every_key_and_value_is_read_as_the_parser_reads_it(frame: str) -> None:
    texts = [frame.format(key, value) for key in _KEYS for value in ("b", "'b'", "{}", "")]
    texts += [frame.format("k", value) for value in _VALUES]
    texts += [text.replace("k: ", "", 1) for text in texts if "- k: " in text]
    assert sum(compared(text) is not None for text in texts) > 100


def _broken(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    line = lines[at]
    match chance.randrange(6):
        case 0:
            lines[at] = " " * chance.choice((1, 2)) + line
        case 1:
            lines[at] = line[chance.choice((1, 2)) :]
        case 2:
            lines.insert(at, chance.choice(lines))
        case 3:
            sign = chance.choice(
                [*" -:#\"'\\[]{},&*!|>%@`~=<?.e1\t\u0085", ": ", " #", "- ", '"x"', "''", '\\"']
            )
            column = chance.randrange(len(line) + 1)
            lines[at] = line[:column] + sign + line[column:]
        case 4:
            lines[at] = line + chance.choice(
                (" ", "  # c", ":", " |", " |-", " {}", " [a, b]", ' "a"  # b', " ~")
            )
        case _:
            del lines[at]
    return "\n".join(lines)


def test_texts_that_recur_are_one_object() -> None:
    """Workloads share the texts of lines that they repeat."""
    first, second = block_text("image: nginx\n"), block_text("image: nginx\n")
    assert first is not None
    assert second is not None
    assert first.value["image"] is second.value["image"]
    assert not isinstance(first.value["image"], Typed)
    assert not any(isinstance(key, PlainKey) for key in first.value)


class Lines(list[str]):
    """Lines that count how often one is read."""

    read = 0

    def __iter__(self) -> Any:
        Lines.read += len(self)
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        Lines.read += len(range(*index.indices(len(self)))) if isinstance(index, slice) else 1
        return super().__getitem__(index)


def test_the_lines_are_added_up_once_however_many_ends_are_asked_for() -> None:
    text = "a:\n" + "  - b: c # d\n" * 500
    found = block_text(text)
    assert found is not None
    counted = found.replace(lines=Lines(found.lines))
    ends = [counted.end(number) for number in range(1, 501)]
    assert ends == [13 * number - 2 for number in range(1, 501)]
    assert Lines.read <= 1100
