"""Several streams as one: kubectl, kustomize and Helm 4 read the objects of each, and no other byte changes."""

import pytest

from archfit.yaml.join import joined

A, B = b"a: 1\n", b"b: 2\n"
BOM = b"\xef\xbb\xbf"

CASES = [
    pytest.param([A, B], A + b"---\n" + B, id="separator"),
    pytest.param([A, b"---\n" + B], A + b"---\n" + B, id="begins-with-one"),
    pytest.param([A, b"--- # c\n" + B], A + b"--- # c\n" + B, id="begins-with-one-and-a-comment"),
    pytest.param([A, b"---b\n"], A + b"---\n---b\n", id="content-that-looks-like-one"),
    pytest.param([A, b"# c\n---\n" + B], A + b"---\n# c\n---\n" + B, id="comment-before-it"),
    pytest.param([A + b"---\n", B], A + b"---\n---\n" + B, id="ends-with-one"),
    pytest.param([b"a: 1", b"b: 2"], b"a: 1\n---\nb: 2", id="no-last-newline"),
    pytest.param([b"a: 1\r\n", b"b: 2\r\n"], b"a: 1\r\n---\r\nb: 2\r\n", id="crlf"),
    pytest.param([b"a: 1\r\nc: 3", B], b"a: 1\r\nc: 3\r\n---\r\n" + B, id="crlf-no-last-newline"),
    pytest.param([A + b"...\n", B], A + b"...\n---\n" + B, id="document-end"),
    pytest.param([BOM + A, BOM + B], BOM + A + b"---\n" + B, id="byte-order-marks"),
    pytest.param([A, BOM + b"---\n" + B], A + b"---\n" + B, id="byte-order-mark-before-separator"),
    pytest.param([b'{"a":1}\n', B], b'---\n{"a":1}\n---\n' + B, id="json-first"),
    pytest.param([b'{"a":1}', b'{"a":2}', B], b'---\n{"a":1}\n---\n{"a":2}\n---\n' + B, id="json-json-yaml"),
    pytest.param([A, b'{\n\t"a": "\\ud83d\\ude00"\n}\n'], A + b'---\n{\n\t"a": "\xf0\x9f\x98\x80"\n}\n',
                 id="surrogates"),
    pytest.param([A, b'{"a": "\\\\ud83d\\\\ude00"}'], A + b'---\n{"a": "\\\\ud83d\\\\ude00"}', id="backslashes"),
    pytest.param([A, b"", B, b""], A + b"---\n" + B, id="empty"),
    pytest.param([A, b"# c\n", B], A + b"---\n# c\n---\n" + B, id="comments-only"),
]  # fmt: skip


@pytest.mark.parametrize(("streams", "expected"), CASES)
def test_joined(streams, expected):
    assert b"".join(joined(streams)) == expected


@pytest.mark.parametrize("stream", [A, BOM + A, b'{"a":"\\ud83d\\ude00"}', b"a: 1", b""])
def test_noop_one_stream_is_returned_as_it_is(stream):
    assert b"".join(joined([stream])) == stream
    assert b"".join(joined([b"", stream])) == stream
