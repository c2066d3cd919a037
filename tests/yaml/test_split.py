"""Splitting: the pieces of a stream, every byte kept, and the same documents as Kubernetes' readers see."""

import random

import pytest

from archfit.base.errors import InvalidInput
from archfit.yaml.compose import parse
from archfit.yaml.stream import split
from yaml_judge import Refused

A, B = b"a: 1\n", b"b: 2\n"

CASES = [
    pytest.param(A + b"---\n" + B, [(A, 1, 1), (B, 2, 3)], id="---"),
    pytest.param(A + b"--- # c\n" + B, [(A, 1, 1), (B, 2, 3)], id="--- # c"),
    pytest.param(A + b"---# c\n" + B, [(A, 1, 1), (B, 2, 3)], id="---# c"),
    pytest.param(A + b"---\t \n" + B, [(A, 1, 1), (B, 2, 3)], id="--- and blanks"),
    pytest.param(A + b"---\r\n" + B, [(A, 1, 1), (B, 2, 3)], id="--- and CRLF"),
    pytest.param(A + b"---", [(A, 1, 1)], id="--- at the end"),
    pytest.param(b"---foo: 1\n", [(b"---foo: 1\n", 1, 1)], id="---foo is content"),
    pytest.param(A + b"----\n", [(A + b"----\n", 1, 1)], id="four dashes are content"),
    pytest.param(b" ---\n" + B, [(b" ---\n" + B, 1, 1)], id="indented dashes are content"),
    pytest.param(b"---\n---\n# c\n---\n" + B, [(B, 1, 5)], id="empty and comment-only pieces are none"),
    pytest.param(b"# c\n" + A + b"\n---\n", [(b"# c\n" + A + b"\n", 1, 1)], id="comments belong to their piece"),
    pytest.param(A + b"...\n# c\n---\n" + B, [(A + b"...\n# c\n", 1, 1), (B, 2, 5)], id="... before ---"),
    pytest.param(b"---\n...\n---\n" + B, [(B, 1, 4)], id="... alone"),
    pytest.param(b"\xef\xbb\xbf" + A + b"---\n\xef\xbb\xbf" + B, [(A, 1, 1), (B, 2, 3)], id="byte order marks"),
    pytest.param(
        b"---\n\xef\xbb\xbf" + A, [(b"\xef\xbb\xbf" + A, 1, 2)], id="a byte order mark behind the first line, which Kubernetes' readers take for text"
    ),
    pytest.param(b"", [], id="nothing"),
    pytest.param(b"...foo: 1\n", [(b"...foo: 1\n", 1, 1)], id="...foo is content"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "pieces"), CASES)
def test_pieces_with_number_and_line(data, pieces):
    assert [(data[piece.start : piece.end], piece.number, piece.line) for piece in split(data)] == pieces


@pytest.mark.parametrize(
    ("data", "document", "line"),
    [
        pytest.param(A + b"...\n" + B, 1, 3, id="content behind ..."),
        pytest.param(A + b"... # c\n\n# c\n- x\n", 1, 5, id="content far behind ..."),
        pytest.param(A + b"--- b: 2\n", 2, 2, id="content behind ---"),
        pytest.param(b"---\n--- |\n x\n", 1, 2, id="a block scalar behind ---"),
        pytest.param(A + b"---\n%x\n", 2, 3, id="a directive"),
    ],
)
def test_what_readers_drop_or_refuse_is_an_error(data, document, line):
    with pytest.raises(InvalidInput) as error:
        split(data)
    assert (error.value.document, error.value.line) == (document, line)


LINES = [
    A, b"b: |\n  ---\n  x\n", b"c: 1\r\n", b"null\n", b"# c\n", b"\n", b"  \n", b"---\n", b"--- # c\n", b"---\t\n",
    b"--- \r\n", b"...\n", b"... # c\n", b"a: 1\n---# c\n", b"x: 1\n...\n---\n",
]  # fmt: skip


def test_any_mixture_has_as_many_documents_as_kubectl_finds(judge):
    chance = random.Random(7)
    compared = 0
    for _ in range(2000):
        data = b"".join(chance.choice(LINES) for _ in range(chance.randint(1, 7)))
        try:
            pieces = split(data)
            values = [parse(data[piece.start : piece.end].decode()).value for piece in pieces]
        except InvalidInput:
            continue
        try:
            documents = judge.kubectl(data)
        except Refused:
            continue
        assert sum(value is not None for value in values) == len(documents), data
        compared += 1
    assert compared > 500
