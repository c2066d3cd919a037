"""What libyaml reads and Kubernetes' readers refuse is an error here, too; each row has a twin that they read."""

import pytest

from archfit.base.errors import InvalidInput
from archfit.yaml.compose import parse
from archfit.yaml.stream import split
from yaml_judge import Refused

REFUSED = [
    pytest.param(b"a: .inf\n", 1, "number that JSON does not have", id="infinity"),
    pytest.param(b"a:\n- -.INF\n", 2, "number that JSON does not have", id="infinity below zero"),
    pytest.param(b"a: .nan\n", 1, "number that JSON does not have", id="not a number"),
    pytest.param(b'a: !!float ".nan"\n', 1, "number that JSON does not have", id="not a number, tagged"),
    pytest.param(b"a: {~: b}\n", 1, "key that is null", id="a key that is null"),
    pytest.param(b"a: 1\nnull: b\n", 2, "key that is null", id="a key that is the word null"),
    pytest.param(b"a: !!bool\n", 1, "tagged !!bool", id="an empty boolean"),
    pytest.param(b"a: !!bool b\n", 1, "tagged !!bool", id="text tagged as a boolean"),
    pytest.param(b"a: !!int\n", 1, "tagged !!int", id="an empty integer"),
    pytest.param(b"a: !!int 1.5\n", 1, "tagged !!int", id="a fraction tagged as an integer"),
    pytest.param(b"a: !!float b\n", 1, "tagged !!float", id="text tagged as a number"),
    pytest.param(b"a: !!null b\n", 1, "tagged !!null", id="text tagged as null"),
    pytest.param(b'a: "b\\/c"\n', 1, "the escape", id="JSON's escape of a slash"),
    pytest.param(b'a: 1\n"b\\/c": "d\\\\/e"\n', 2, "the escape", id="JSON's escape in a key"),
    pytest.param(b"a: [b?c]\n", 1, "holds a '?'", id="a question mark in brackets"),
    pytest.param(b"a:\n- b?c\n- {u: 'd?', v: http://e/?f}\n", 3, "holds a '?'", id="a query in braces"),
    pytest.param(b"%YAML 1.1\n---\na: 1\n", 1, "'%' directive", id="a directive"),
    pytest.param(b"a: 1\n---\n# c\n%TAG ! b:,2000:\n---\nb: 2\n", 4, "'%' directive", id="a directive further down"),
    pytest.param(b"a: 1\n---\n...\n---\nb: 2\n", 3, "ends no document", id="... between separators"),
    pytest.param(b"a: 1\n---\n# c\n... # d\n", 4, "ends no document", id="... at the end, behind a comment"),
    pytest.param(b"...\n---\na: 1\n", 1, "ends no document", id="... at the begin"),
]  # fmt: skip

READ = [
    pytest.param(b"a: '.inf'\n.inf: b\n", id="infinity as text and as a key"),
    pytest.param(b"a: !!str .nan\n", id="not a number, as text"),
    pytest.param(b"'~': a\n!!str null: b\n", id="null as text"),
    pytest.param(
        b'a: !!bool "true"\nb: !!int "1"\nc: !!float 1\nd: !!null\ne: !!null "~"\n', id="tags that hold"
    ),
    pytest.param(b"a: 'b\\/c'\nd: \"e\\\\/f\"\n", id="a backslash before a slash"),
    pytest.param(b'{"a": "b\\/c"}\n', id="JSON's escape in JSON"),
    pytest.param(b"a: b?c\nd: ['e?', \"f?\"]\n# [g?]\n", id="question marks elsewhere"),
    pytest.param(b"a: [\nb, # c?\nd]\ne:\n- f?\n", id="a question mark in a comment, and below brackets"),
    pytest.param(b"a: 1\n...\n...\n# c\n---\nb: 2\n", id="... behind a document, twice"),
    pytest.param(b"---\n...\n---\nb: 2\n", id="... behind the first line"),
]


def read(data: bytes) -> list[object]:
    """The values of a stream's documents. Raises InvalidInput."""
    values: list[object] = []
    for piece in split(data):
        try:
            values.append(parse(data[piece.start : piece.end].decode()).value)
        except InvalidInput as error:
            raise InvalidInput(error.message, line=piece.line + error.line - 1) from None
    return values


@pytest.mark.parametrize(("data", "line", "words"), REFUSED)
def test_what_kubectl_refuses_is_an_error_at_its_line(data, line, words):
    with pytest.raises(InvalidInput, match=words) as error:
        read(data)
    assert error.value.line == line


@pytest.mark.parametrize("data", READ)
def test_what_kubectl_reads_is_none(data):
    assert read(data)


def test_kubectl_and_kustomize_agree(judge):
    for row in REFUSED:
        for reader in ("kubectl", "kustomize"):
            with pytest.raises(Refused):
                judge.read(reader, row.values[0])
    for row in READ:
        assert len(judge.kubectl(row.values[0])) == len(read(row.values[0]))
