"""JSON without the package `json` gives what that package gives, and its errors."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import machine
from archfit.startup import c_json

DOCUMENTS = [
    "",
    " ",
    "{}",
    " \t\r\n[1, 2.5, -0, 1e400, -1E-2, 123456789012345678901234567890] \n",
    '{"a": {"b": [null, true, false]}, "a": "last one counts"}',
    '"\\u00e9\\ud83d\\ude00\\ud800\\/\\b"',
    '"é😀\ud800\x7f"',
    '"a\nb"',
    '"a\x00b"',
    "NaN",
    "[Infinity, -Infinity]",
    "nan",
    "\ufeff1",
    "\xa01",
    "1\x0b",
    "1 2",
    "\n{} {}",
    "[1,]",
    '{"a": 1,}',
    '\n {"a" 1}',
    "{a: 1}",
    "[1",
    '"\\x"',
    '"\\u12"',
    "01",
    "-",
    "1.",
    ".5",
    "+1",
    "'a'",
    "\uff11",
    "9" * 5000,
    "[" * 100_000,
]
VALUES = [
    None,
    "",
    'a\u2028"\\/\x7f\x00é😀\ud800',
    [],
    (),
    {},
    [1, -0.0, 1e22, 2**70, True, None, float("nan"), float("inf"), -float("inf")],
    {"b": (1, 2), "a": [{"c": "d"}, {}], "": ""},
    {1: "a", 2.5: "b", False: "c", None: "d", float("nan"): "e"},
    {(1, 2): "a"},
    {"a": {1, 2}},
    {"b": 1, 2: "mixed keys"},
    ...,
    b"bytes",
]
OPTIONS = [
    {},
    {"ensure_ascii": False},
    {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False},
    {"default": repr},
    {"indent": 2, "default": sorted},
    {"indent": 0},
]
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
TEXT = st.lists(
    st.sampled_from([*'{}[]:,"\\ \n\t', *"0123-.eE", "true", "null", "NaN", '"a"', "\\u00", "\ufeff", "é"])
).map("".join)


def outcome(work: Any, *given: Any, **options: Any) -> tuple[type, str]:
    """The result, or the error with its place."""
    try:
        found = work(*given, **options)
    except (ValueError, TypeError, RecursionError) as error:
        return type(error), str(error)
    return type(found), repr(found)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: ascii(document)[:30])
@pytest.mark.parametrize(
    "form", [str, lambda text: text.encode("utf-8", "surrogatepass")], ids=["str", "bytes"]
)
def test_a_document_is_read_as_json_reads_it(document, form):
    assert outcome(c_json.loads, form(document)) == outcome(json.loads, form(document))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: ascii(document)[:30])
def test_a_document_is_read_as_json_reads_it_before_json_is_loaded(document, monkeypatch):
    with monkeypatch.context() as without:
        for name in [name for name in sys.modules if name.partition(".")[0] == "json"]:
            without.delitem(sys.modules, name)
        kind, text = outcome(c_json.loads, document)
    judge, words = outcome(json.loads, document)
    assert (kind.__name__, text) == (judge.__name__, words)


@given(TEXT | VALUE.map(json.dumps))
def test_any_text_is_read_as_json_reads_it(text):
    assert outcome(c_json.loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options) or "defaults")
def test_a_value_is_written_as_json_writes_it(value, options):
    assert outcome(c_json.dumps, value, **options) == outcome(json.dumps, value, **options)


@given(VALUE, st.sampled_from(OPTIONS))
def test_any_value_is_written_as_json_writes_it(value, options):
    assert outcome(c_json.dumps, value, **options) == outcome(json.dumps, value, **options)


def test_a_value_that_holds_itself_is_refused():
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="Circular reference"):
        c_json.dumps(value)


def fresh(code: str) -> str:
    """What the code prints in a process of its own."""
    done = machine.run([sys.executable, "-I", "-c", code], check=True)
    return done.stdout.strip()


def test_the_package_json_is_loaded_for_an_error_alone():
    code = (
        "import sys\n"
        "from archfit.startup import c_json\n"
        "before = set(sys.modules)\n"
        """assert c_json.loads(' {"a": [1]}') == {"a": [1]}\n"""
        """assert c_json.dumps({"a": (1,)}) == '{"a": [1]}'\n"""
        "print('json' in sys.modules)\n"
        "try:\n"
        "    c_json.loads('[1,, 2]')\n"
        "except ValueError as error:\n"
        "    print(type(error).__module__, error.pos)\n"
    )
    assert fresh(code).split() == ["False", "json.decoder", "3"]


def test_the_scanner_is_told_all_that_this_python_asks_for():
    """Without one of them the C code is not used, and nothing says so."""
    hooks = {name for name in vars(json.JSONDecoder()) if name.endswith("_hook")}
    assert hooks <= vars(c_json.Decoder).keys()


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("sys.modules['_json'] = None", id="missing"),
        pytest.param(
            "import _json; _json.make_scanner = _json.make_encoder = lambda: 1 / 0", id="built-otherwise"
        ),
    ],
)
def test_without_that_c_code_the_package_json_does_the_work(other):
    code = (
        f"import sys\nimport json\n{other}\n"
        "from archfit.startup import c_json\n"
        """print(c_json.loads('[1, "a"]'), c_json.dumps({"b": [1, "é"]}, ensure_ascii=False))\n"""
    )
    assert fresh(code) == """[1, 'a'] {"b": [1, "é"]}"""
