"""Usual JSON says what the parser reads, and anything else is left to the parser."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import json
import random
import re
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from archfit.errors import InvalidInput
from archfit.source import json_list as json_list_module
from archfit.source.compose import parse
from archfit.source.json_list import JsonList, json_list
from archfit.source.usual_json import Unusual, is_usual, read
from archfit.source.values import Typed
from json_layouts import LAYOUTS, any_layout

CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a"},
    "data": {"a": "image: {b: [1]}"},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "ä-\U0001f600", "labels": {}, "n": [True, [False, None], -0.5, 10**30]},
    "spec": {"hostNetwork": True, "containers": [{"name": "a", "image": 'x"\\y<', "args": []}]},
}
LIST = {
    "apiVersion": "v1",
    "items": [CONFIG, POD, CONFIG],
    "kind": "List",
    "metadata": {"resourceVersion": ""},
}
ONE = '{"apiVersion": "v1", "kind": "Pod"%s}'
TEXT = f'{{"apiVersion": "v1", "items": [{ONE % ""}], "kind": "List"}}'


def found_in(text: str, *, window: int = 1 << 18) -> JsonList | None:
    """The list in the text, which stands somewhere in a stream."""
    before = "a: ä\n---\n".encode()
    data = before + text.encode() + b"\n---\nb: c\n"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_list_module, "_WINDOW", window)
        found = json_list(data, len(before), len(before) + len(text.encode()), lambda *_: True)
    if found is not None:
        items = [data[item.start : item.end].decode() for item in found.items]
        try:
            values = list(map(read, items))
        except Unusual:
            return None
        whole = parse(text)
        assert not whole.duplicates
        assert [json.dumps(json.loads(item)) for item in items] == [
            json.dumps(item) for item in json.loads(text)["items"]
        ]
        assert values == whole.value["items"] == [parse(item).value for item in items]
        assert shown(values) == shown(whole.value["items"])
        assert [item.number for item in found.items] == list(range(len(items)))
    return found


def shown(value: Any) -> str:
    """With the types of all values, and the order of keys."""
    return repr(value)


@pytest.mark.parametrize("window", [1, 7, 64, 1 << 18])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_list_is_found_in_the_layouts_of_tools(layout: str, window: int) -> None:
    found = found_in(LAYOUTS[layout](LIST), window=window)
    assert found is not None
    assert (found.api_version, found.kind) == ("v1", "List")
    assert [(item.api_version, item.kind) for item in found.items] == [
        ("v1", "ConfigMap"),
        ("v1", "Pod"),
        ("v1", "ConfigMap"),
    ]


USUAL = [
    pytest.param(TEXT, id="a list of one"),
    pytest.param('{"items": [], "kind": "List", "apiVersion": "v1"}', id="no items"),
    pytest.param('{"items":[ \n ],"kind":"List","apiVersion":"v1"}\n \n', id="no items, and blanks"),
    pytest.param(f'{{"kind":"PodList","apiVersion":"v1","items":[{{"spec":{{}}}},{ONE % ""}]}}', id="items without a kind"),
    pytest.param(TEXT.replace(": ", ":\n\n"), id="values below their keys"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\\u0000\\u2028\\ufeff\\/\\b\\f"'), id="escapes"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\\ud83d\\ude00", "\\uD83D": "\\\\ud83d"'), id="surrogates"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": [-0, 1E400, 1e5, 0.1e-5, 1E+2, 99999999999999999999]'), id="numbers"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "": 1, "<<": {"a": 1}, "=": 2, "yes": "no", "1": "null"'), id="keys that mean something as words"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "b: c # d", "e": "&f *g !h", "i": "\\" : \\\\\\" :", "j": " : ", "k": ["\\t :", " :"]'), id="text that means something elsewhere"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\u00a0\u3000\u200b\ue000\U0001fffe\U0010ffff\u00ad"'), id="rare characters"),
    pytest.param(TEXT.replace('"Pod"', f'"Pod", "{"k" * 160}": 1'), id="a long key"),
    pytest.param(TEXT.replace('"Pod"', f'"Pod", "a": "{"v" * 5000}"'), id="a long text"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": ' + "[" * 190 + "]" * 190), id="nested lists"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": [' + "{}," * 300 + "[]]"), id="many collections"),
]  # fmt: skip


@pytest.mark.parametrize("text", USUAL)
def test_usual_json_is_read_item_by_item(text: str) -> None:
    assert found_in(text) is not None


UNUSUAL = [
    pytest.param("", id="nothing"),
    pytest.param("{}", id="an empty object"),
    pytest.param(f"[{ONE % ''}]", id="an array"),
    pytest.param(ONE % ', "items": {}', id="items that are no list"),
    pytest.param(ONE % ', "items": null', id="items that are null"),
    pytest.param(ONE % "", id="no items"),
    pytest.param('{"items": [], "kind": "List"}', id="no apiVersion"),
    pytest.param('{"items": [], "kind": 5, "apiVersion": "v1"}', id="a kind that is a number"),
    pytest.param(TEXT.replace('"kind": "List"', '"kind": "List", "kind": "List"'), id="kind twice"),
    pytest.param(TEXT.replace('"kind": "List"', '"items": [], "kind": "List"'), id="items twice"),
    pytest.param(TEXT.replace('"kind": "List"', '"it\\u0065ms": [], "kind": "List"'), id="items twice, with an escape"),
    pytest.param(TEXT.replace('"kind": "List"', '"---": 1, "kind": "List"'), id="a key of dashes"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "kind": "Job"'), id="a key of an item twice"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": [{"b": 1, "b": 1}]'), id="a key deeper in an item twice"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "\\ud83d": 1, "\\ud83e": 1'), id="a key twice once it is masked"),
    pytest.param(TEXT + "\n\t", id="a tab behind the list"),
    pytest.param(TEXT + "x", id="text behind the list"),
    pytest.param(TEXT + "\n{}", id="an object behind the list"),
    pytest.param(TEXT + " # a", id="a comment behind the list"),
    pytest.param(TEXT + "\n...\n", id="the end of the document"),
    pytest.param(TEXT[:-1], id="the end is missing"),
    pytest.param(TEXT[:50], id="it ends in an item"),
    pytest.param("# a\n" + TEXT, id="a comment above"),
    pytest.param(TEXT.replace('"kind": "List"', '# a\n"kind": "List"'), id="a comment inside"),
    pytest.param(TEXT.replace('"Pod"', '&a "Pod"'), id="an anchor"),
    pytest.param(TEXT.replace('"Pod"', "!!str Pod"), id="a tag"),
    pytest.param(TEXT.replace('"Pod"', "'Pod'"), id="single quotes"),
    pytest.param(TEXT.replace('"Pod"', "Pod"), id="a plain text"),
    pytest.param(TEXT.replace('"kind"', "kind"), id="a plain key"),
    pytest.param(TEXT.replace('"Pod"', '"Pod",'), id="a comma at the end of an item"),
    pytest.param(TEXT.replace("}]", "},]"), id="a comma behind the last item"),
    pytest.param(TEXT.replace('"List"', '"List",'), id="a comma at the end"),
    pytest.param(TEXT.replace('"List"', '"List" "a": 1'), id="a comma is missing"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": NaN'), id="NaN"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": -Infinity'), id="Infinity"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": 012'), id="an octal number"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": +1'), id="a number with a plus"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "b\tc"'), id="a tab in a text"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "b\nc"'), id="a line break in a text"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\\x41"'), id="an escape of YAML"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\x7f"'), id="DEL"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\x80"'), id="a control character"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\x85"'), id="NEL"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\u2028"'), id="LS"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\ufeff"'), id="a byte order mark inside"),
    pytest.param("\ufeff" + TEXT, id="a byte order mark"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": "\ufffe"'), id="no character"),
    pytest.param(TEXT.replace(", ", ",\r\n"), id="CRLF"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a" : 1'), id="a blank before a colon"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a\\\\" : 1'), id="a blank between a backslash and a colon"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a"\t: 1'), id="a tab before a colon"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a"\n: 1'), id="a line break before a colon"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a" \n\t: 1'), id="blanks and a line break before a colon"),
    pytest.param(TEXT.replace('"kind": "List"', '"kind" : "List"'), id="a blank before a colon of the list"),
    pytest.param(TEXT.replace('"Pod"', f'"Pod", "{"k" * 1024}": 1'), id="a key that is too long"),
    pytest.param(TEXT.replace('"kind": "List"', f'"{"k" * 1024}": 1, "kind": "List"'), id="a key of the list that is too long"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "' + r"\u0041" * 171 + '": 1'), id="a key that is too long as written"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": ' + "[" * 250 + "]" * 250), id="deep lists"),
    pytest.param(TEXT.replace('"Pod"', '"Pod"' + ', "a": {"b": [' * 130 + '"c"' + "]}" * 130), id="deep objects"),
    pytest.param(TEXT.replace('"Pod"', '"Pod", "a": ' + "[" * 100_000 + "]" * 100_000), id="very deep lists"),
    pytest.param(TEXT.replace("[{", "[null, {"), id="an item that is null"),
    pytest.param(TEXT.replace("[{", '["a", {'), id="an item that is a text"),
    pytest.param(TEXT.replace('"Pod"', "null"), id="a kind that is null"),
    pytest.param(TEXT.replace('"Pod"', "true"), id="a kind that is a boolean"),
    pytest.param(TEXT.replace('"Pod"', '"ConfigMap", "items": []'), id="a list in the list, whatever its kind"),
]  # fmt: skip


@pytest.mark.parametrize("window", [5, 1 << 18])
@pytest.mark.parametrize("text", UNUSUAL)
def test_anything_else_is_one_document(text: str, window: int) -> None:
    assert found_in(text, window=window) is None


def test_only_wanted_kinds_are_kept() -> None:
    data = json.dumps(LIST).encode()
    found = json_list(data, 0, len(data), lambda _, kind: kind == "Pod")
    assert found is not None
    assert [(item.number, item.kind) for item in found.items] == [(1, "Pod")]


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', '{"a": NaN}', '{"a": 1}, {"b": 2}'])
def test_text_that_is_no_object_has_no_value(text: str) -> None:
    with pytest.raises(Unusual):
        read(text)


def test_booleans_and_numbers_are_those_of_the_parser() -> None:
    assert read('{"a": [true, [false]], "b": true, "c": 1.0, "d": null, "e": 1}') == {
        "a": [Typed("bool", "true"), [Typed("bool", "false")]],
        "b": Typed("bool", "true"),
        "c": Typed("float", "1.0"),
        "d": None,
        "e": Typed("int", "1"),
    }


ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.text(alphabet="\"\\/:#,{}[]\n\t &*!-%@`'|>?ud8\u2028é\x7f", max_size=12)
)
KEYS = st.text(alphabet='ab"\\/: <>&-é=~1\n', max_size=6)
VALUES = st.recursive(SCALARS, lambda of: st.lists(of, max_size=4) | st.dictionaries(KEYS, of, max_size=4))
ITEMS = st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=4)


@settings(max_examples=300, deadline=None)
@given(items=ITEMS, seed=st.integers(0, 2**32), window=st.sampled_from([3, 40, 1 << 18]))
def test_what_is_read_is_what_the_parser_reads(items: list[Any], seed: int, window: int) -> None:
    chance = random.Random(seed)
    value = {"apiVersion": "v1", "kind": "List", "items": [{"kind": "A", **item} for item in items]}
    text = any_layout(value, chance)
    found = found_in(text, window=window)
    if not ODD.search(text):
        assert found is not None


@settings(max_examples=500, deadline=None)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    at=st.floats(0, 1, exclude_max=True),
    dropped=st.integers(0, 3),
    put=st.text(alphabet="{}[]\",: \n\t#&*!'-1eN\\u~\r\x85é", max_size=3),
)
@example(layout="jq", at=0.5, dropped=0, put="")
def test_what_the_parser_refuses_is_no_usual_json(layout: str, at: float, dropped: int, put: str) -> None:
    text = LAYOUTS[layout](LIST)
    place = int(at * len(text))
    text = text[:place] + put + text[place + dropped :]
    if found_in(text, window=200) is None:
        return
    try:
        parse(text)
    except InvalidInput:
        pytest.fail("the parser refuses it")


@pytest.mark.parametrize("end", ["", '"', '\\"', "\\"])
def test_a_long_text_of_quotes_is_searched_once_even_where_its_end_is_missing(end: str) -> None:
    text = '{"a": "' + '\\" : ' * 100_000 + end
    started = time.process_time()
    assert is_usual(text.encode())
    assert not is_usual(f'{{"b" : 1, {text[1:]}'.encode())
    assert time.process_time() - started < 30
