"""Values as Kubernetes' readers understand them: what kubectl makes of a text is what we make of it."""

import re
from typing import Any

import pytest
from yaml import SafeLoader

from archfit.base.errors import InvalidInput
from archfit.yaml import tree
from archfit.yaml.compose import DEPTH_LIMIT, parse
from archfit.yaml.values import Typed, resolve

SCALARS = list(
    filter(
        None,
        re.split(
            r"\s+",
            """\
'' ~ null Null NULL nULL true True TRUE tRUE yes Yes on On ON off n N y Y no false False 0 1 -1 +1 012 089 0o17 0O17 0x1F
0b11 1_000 1__0 _1 1. .5 1.5 -1.5 1e3 1E3 1.e3 1e-3 1e+3 1e 22:22 1:1 = << 2001-01-01 - . .. +. 0x 0b 0b2 0o8 00 0.0
0X1F 0B11 9223372036854775808 100000000000000000000 a "1" 'true' ! a!b @ 12e03 -0 +0x1f 1.5.2 0777 08 -012
""",
        ),
    )
)


@pytest.mark.parametrize("text", [text for text in SCALARS if text not in ("@", "-", "!")])
def test_plain_scalars(judge, text):
    (document,) = judge.kubectl(f"a: {text}\n".encode())
    value = parse(f"a: {text}\n").value["a"]
    if isinstance(value, Typed):
        kind = {bool: "bool", int: "int", float: "float"}[type(document["a"])]
        assert value.kind == kind or (kind, value.kind) == ("int", "float")
        assert value.kind != "bool" or value.text == str(document["a"]).lower()
    else:
        assert value == document["a"]


TEXTS = [
    pytest.param("a: &x {b: 'c'}\nd: *x\n", id="an alias"),
    pytest.param("a: &x 'b'\nc: *x\nd: &x 'e'\nf: *x\n", id="an anchor used again"),
    pytest.param("a: &x [&x 'b', *x]\nc: *x\n", id="an anchor used again inside of its own node"),
    pytest.param("a: &x {b: 'c', d: 'e'}\nf: {<<: *x, b: 'g'}\n", id="<<"),
    pytest.param("a: &x {b: 'c'}\nd: &y {b: 'e', f: 'g'}\nh: {<<: [*x, *y]}\n", id="<< of a list: the first wins"),
    pytest.param("a: {<<: {b: 'c'}, <<: {b: 'd', e: 'f'}}\n", id="<< twice"),
    pytest.param("a: {b: 'c', <<: {b: 'c', d: 'e'}}\n", id="<< behind a key with the same value"),
    pytest.param("a: {'<<': {b: 'c'}}\n", id="a quoted << is a key"),
    pytest.param("a: {!!merge <<: {b: 'c'}}\n", id="<< by its tag"),
    pytest.param("a: {!!str <<: {b: 'c'}}\n", id="<< with a string's tag"),
    pytest.param("a: !local b\nc: !local true\nd: !!str 1\ne: ! 1\nf: !!binary aGk=\ng: !!foo 1\nh: !local\n", id="tags of strings"),
    pytest.param("a: !!null x\n".replace(" x", ""), id="a tag of null"),
    pytest.param("a: 'b'\nc: \"d\\ne\"\nf: |\n  g\nh: >-\n  i\n  j\n", id="quotes and blocks"),
    pytest.param("? a\n: b\n? c\n", id="explicit keys"),
    pytest.param("x: &k foo\n*k : b\n", id="a key that is an alias"),
    pytest.param("1: a\n1.5: b\n012: c\n", id="numbers as keys"),
    pytest.param("{image: nginx:1.25, a: [b, c: d]}\n", id="flow"),
    pytest.param("a: u\u0085b: v\u2028c: w\rd: x\n", id="odd line breaks"),
    pytest.param('{"a":"\\/","b":"\\u00e9"}\n', id="JSON escapes"),
    pytest.param("null\n", id="null"),
    pytest.param("# c\n", id="a comment"),
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("parser", ["C", "pure"])
def test_values_are_kubectls(judge, text, parser, monkeypatch):
    if parser == "pure":
        # JSON's escaped slash, and keys that are anchored, are beyond the pure parser.
        monkeypatch.setattr(tree, "_Parser", SafeLoader)
    value = parse(text).value
    assert ([] if value is None else [_plain(value)]) == judge.kubectl(text.encode())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(_number(key)): _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _number(key: str) -> Any:
    """A key as kubectl names it: a number in its shortest form."""
    value = resolve(key)
    return (
        {"int": lambda: int(key, 8 if key[0] == "0" else 10), "float": lambda: float(key)}[value.kind]()
        if isinstance(value, Typed)
        else key
    )


def test_marks_are_offsets_of_code_points():
    text = "é: \U0001f600\nb: c\n"
    event = parse(text).events[-4]
    assert text[event.start_mark.index : event.end_mark.index] == "c"


def test_a_document_of_too_many_nodes_is_refused_before_the_rest_is_read():
    assert parse("[" + "[],\n" * 98 + "]", most=202).value
    with pytest.raises(
        InvalidInput, match=r"more than 202 nodes is not read: .* `kubectl get -o yaml`"
    ) as refused:
        parse("[" + "[],\n" * 100 + "}", most=202)
    assert refused.value.line == 100


@pytest.mark.parametrize(("before", "after"), [("[", "]"), ("{a: ", "}")])
def test_as_deep_as_the_limit_and_no_deeper(before, after):
    assert parse(before * DEPTH_LIMIT + "x" + after * DEPTH_LIMIT).value
    with pytest.raises(Exception, match=f"collections are nested more than {DEPTH_LIMIT} deep"):
        parse(before * (DEPTH_LIMIT + 1) + "x" + after * (DEPTH_LIMIT + 1))
