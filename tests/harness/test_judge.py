"""What Kubernetes' own readers make of the traps of YAML; the engine is held against these answers.

A cell is the documents that the reader hands out, or the start of its refusal (a string).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from yaml_judge import Refused, same

if TYPE_CHECKING:
    from yaml_judge import Judge

    Answer = list[Any] | str

YAML_ERROR = "error converting YAML to JSON: yaml: "
MALFORMED = "MalformedYAMLError: yaml: "
READERS = ("kubectl", "kustomize", "helm4")

ALL_READ = [
    pytest.param(b"a: 22:22\n", [{"a": "22:22"}], id="22:22 is text"),
    pytest.param(b"a: =\n", [{"a": "="}], id="a bare = is text"),
    pytest.param(b"a: 1e3\n", [{"a": 1000}], id="1e3 is a number"),
    pytest.param(b"a: 012\nb: 0o777\n", [{"a": 10, "b": 511}], id="012 and 0o777 are octal"),
    pytest.param(
        b"a: 12345678901234567890\n", [{"a": 12345678901234567890}], id="an integer over 63 bits is exact"
    ),
    pytest.param(b"a: &x {b: 1}\nc: *x\n", [{"a": {"b": 1}, "c": {"b": 1}}], id="an alias"),
    pytest.param(
        b"a: &x 1\nb: *x\nc: &x 2\nd: *x\n", [{"a": 1, "b": 1, "c": 2, "d": 2}], id="an anchor used again"
    ),
    pytest.param(
        b"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n",
        [{"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}],
        id="a key after << wins",
    ),
    pytest.param(b"a: 1\n---# c\nb: 2\n", [{"a": 1}, {"b": 2}], id="---# c separates"),
    pytest.param(b"a: 1\n--- # c\nb: 2\n", [{"a": 1}, {"b": 2}], id="--- # c separates"),
    pytest.param(b"a: 1\n---\t\nb: 2\n", [{"a": 1}, {"b": 2}], id="--- and a tab separates"),
    pytest.param(b"a: |\n ---\n x\n", [{"a": "---\nx\n"}], id="an indented --- in a block scalar is text"),
    pytest.param(b"a: 1\n...\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="... before ---"),
    pytest.param(b"a: 1\n...\nb: 2\n", [{"a": 1}], id="content after ... is dropped without a word"),
    pytest.param(
        b"a: 1\n...\n[[[}\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="even broken content after ... is dropped"
    ),
    pytest.param(b"a: 1\r\nb: |\r\n  x\r\n---\r\nc: 2\r\n", [{"a": 1, "b": "x\n"}, {"c": 2}], id="CRLF"),
    pytest.param(b"a: 1\rb: 2\r", [{"a": 1, "b": 2}], id="a bare CR ends a line"),
    pytest.param(b"a: 1\r---\rb: 2\r", [{"a": 1}], id="--- between bare CRs ends the stream without a word"),
    pytest.param("a: x\u0085b: 2\n".encode(), [{"a": "x", "b": 2}], id="NEL ends a line"),
    pytest.param("a: x\u2028b: 2\n".encode(), [{"a": "x", "b": 2}], id="LS ends a line"),
    pytest.param(b"\xef\xbb\xbfa: 1\n", [{"a": 1}], id="BOM"),
    pytest.param(b"x: 1\n---\n\xef\xbb\xbfa: 1\n", [{"x": 1}, {"a": 1}], id="BOM of a later document"),
    pytest.param(b'{"a": 1}\n---\n{"b": 2}\n', [{"a": 1}, {"b": 2}], id="JSON documents between separators"),
    pytest.param(b'{\n\t"a": [\n\t\t1\n\t]\n}\n', [{"a": [1]}], id="JSON indented by tabs"),
    pytest.param(b"{image: nginx:1.25}\n", [{"image": "nginx:1.25"}], id="flow with unquoted keys"),
    pytest.param(b"a:\t1\t# c\n", [{"a": 1}], id="tabs between tokens"),
    pytest.param(b"? a\n: 1\n", [{"a": 1}], id="an explicit key"),
    pytest.param(
        b"---\n# c\n---\nnull\n---\n~\n---\na: 1\n",
        [{"a": 1}],
        id="empty and null documents are no documents",
    ),
    pytest.param(b"", [], id="nothing"),
    pytest.param(
        b"Error: chart not found\n", [{"Error": "chart not found"}], id="an error message is a mapping"
    ),
]

ALL_REFUSE = [
    pytest.param(b"a: 1\n---foo\nb: 2\n", "invalid ", "invalid ", id="---foo"),
    pytest.param(b"a: 1\n--- {b: 1}\n", "invalid ", "invalid ", id="--- with content"),
    pytest.param(
        b'a: "x\n---\n y"\n', YAML_ERROR, MALFORMED, id="--- at the start of a line of a quoted scalar"
    ),
    pytest.param(b"---# c\nb: 2\n", YAML_ERROR, MALFORMED, id="---# c as the first line"),
    pytest.param(b"%YAML 1.1\n---\na: 1\n", YAML_ERROR, MALFORMED, id="a directive"),
    pytest.param(b"a:\n\tb: 1\n", YAML_ERROR, MALFORMED, id="a tab as indentation"),
    pytest.param(b"a: 1\n\t\nb: 2\n", YAML_ERROR, MALFORMED, id="a line that is a tab"),
    pytest.param(b"k" * 1025 + b": 1\n", YAML_ERROR, MALFORMED, id="a key over 1024 characters"),
    pytest.param(b"a: \xff\n", YAML_ERROR, MALFORMED, id="not UTF-8"),
    pytest.param(b"a: \x00\n", YAML_ERROR, MALFORMED, id="a control character"),
    pytest.param(b"a: [1, 2\n", YAML_ERROR, MALFORMED, id="cut inside a collection"),
    pytest.param(b"a: *x\n", YAML_ERROR, MALFORMED, id="an alias without an anchor"),
    pytest.param(b"a: " + b"[" * 20_000 + b"]" * 20_000, YAML_ERROR, MALFORMED, id="nested 20,000 deep"),
    pytest.param(b"a: .inf\n", "error converting YAML to JSON: json: ", "json: ", id="infinity"),
]

DIFFERENT: list[Any] = [
    pytest.param(b"a: on\n", [{"a": True}], [{"a": "on"}], [{"a": True}], id="on"),
    pytest.param(b"y: 1\n", [{"true": 1}], [{"y": 1}], [{"true": 1}], id="y as a key"),
    pytest.param(
        b"a: &x {b: 1}\nd:\n  b: 2\n  <<: *x\n",
        [{"a": {"b": 1}, "d": {"b": 1}}],
        [{"a": {"b": 1}, "d": {"b": 2}}],
        [{"a": {"b": 1}, "d": {"b": 1}}],
        id="a key before << that supplies it too",
    ),
    pytest.param(b"a: 1\na: 2\n", [{"a": 2}], "yaml: unmarshal errors", [{"a": 2}], id="a key twice"),
    pytest.param(
        b"a: |\n  x", [{"a": "x\n"}], [{"a": "x"}], [{"a": "x"}], id="a block scalar without a final newline"
    ),
    pytest.param(b'{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}], [{"a": 1}], [{"a": 1}], id="JSON after JSON"),
    pytest.param(
        b'{"a": "\\ud83d\\ude00"}', [{"a": "\U0001f600"}], MALFORMED, MALFORMED, id="a surrogate pair in JSON"
    ),
    pytest.param(b'{"a": "\\/"}', [{"a": "/"}], MALFORMED, MALFORMED, id="an escaped slash in JSON"),
    pytest.param(
        b'b: 2\n---\n{"a": "\\/"}', YAML_ERROR, MALFORMED, MALFORMED, id="an escaped slash in JSON after YAML"
    ),
    pytest.param(
        b'b: 2\n---\n{"a": "\\ud83d\\ude00"}',
        YAML_ERROR,
        MALFORMED,
        MALFORMED,
        id="a surrogate pair in JSON after YAML",
    ),
    pytest.param(
        b"a: {b:}\n",
        [{"a": {"b:": None}}],
        [{"a": {"b:": ""}}],
        [{"a": {"b:": ""}}],
        id="b: in flow is a key",
    ),
    pytest.param(b"hello\n", ["hello"], "yaml: unmarshal errors", "wrong node kind", id="a scalar"),
    pytest.param(
        b"kind: List\nitems:\n- kind: A\n",
        [{"kind": "List", "items": [{"kind": "A"}]}],
        [{"kind": "List", "items": [{"kind": "A"}]}],
        [{"kind": "A"}],
        id="a lone List",
    ),
    pytest.param(
        b"a: &a [*a]\n", YAML_ERROR, "crashed: ", "yaml: anchor", id="an alias to itself kills kustomize"
    ),
]


def read(judge: Judge, reader: str, text: bytes) -> Answer:
    try:
        return judge.read(reader, text)
    except Refused as refused:
        return refused.message


def agrees(answer: Answer, expected: Answer) -> bool:
    if isinstance(expected, str):
        return isinstance(answer, str) and answer.startswith(expected)
    return same(answer, expected)


@pytest.mark.parametrize(("text", "documents"), ALL_READ)
def test_all_read(judge: Judge, text: bytes, documents: list[Any]) -> None:
    answers = {reader: read(judge, reader, text) for reader in READERS}
    assert all(agrees(answer, documents) for answer in answers.values()), answers


@pytest.mark.parametrize(("text", "kubectl", "kyaml"), ALL_REFUSE)
def test_all_refuse(judge: Judge, text: bytes, kubectl: str, kyaml: str) -> None:
    answers = {reader: read(judge, reader, text) for reader in READERS}
    assert agrees(answers["kubectl"], kubectl), answers
    assert agrees(answers["kustomize"], kyaml), answers
    assert agrees(answers["helm4"], kyaml), answers


@pytest.mark.parametrize(("text", "kubectl", "kustomize", "helm4"), DIFFERENT)
def test_they_differ(judge: Judge, text: bytes, kubectl: Answer, kustomize: Answer, helm4: Answer) -> None:
    answers = {reader: read(judge, reader, text) for reader in READERS}
    expected = dict(zip(READERS, (kubectl, kustomize, helm4), strict=True))
    assert {reader: agrees(answers[reader], expected[reader]) for reader in READERS} == dict.fromkeys(
        READERS, True
    ), answers


def test_kubectl_hands_out_what_stands_before_the_error(judge: Judge) -> None:
    """Why a stream is refused whole: kubectl would have applied the first half."""
    with pytest.raises(Refused) as refused:
        judge.kubectl(b"a: 1\n---\nb: [\n")
    assert refused.value.documents == [{"a": 1}]


def test_an_alias_bomb_ends_the_reader_and_not_the_judge(judge: Judge) -> None:
    bomb = b"a0: &a0 [x]\n" + b"".join(
        b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)
    )
    assert agrees(read(judge, "kubectl", bomb), YAML_ERROR + "document contains excessive aliasing")
    assert agrees(read(judge, "kustomize", bomb), "crashed: ")
    assert judge.kubectl(b"a: 1\n") == [{"a": 1}]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="the order of keys does not matter"),
        pytest.param([1, 2], [2, 1], False, id="the order of items does"),
        pytest.param({"a": True}, {"a": 1}, False, id="true is not 1"),
        pytest.param({"a": 1}, {"a": 1.0}, False, id="1 is not 1.0"),
        pytest.param({"a": None}, {}, False, id="null is not missing"),
    ],
)
def test_same_keeps_types_apart(one: object, other: object, *, equal: bool) -> None:
    assert same(one, other) == equal
