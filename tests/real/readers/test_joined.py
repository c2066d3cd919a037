"""The joined stream by the readers that count: every object of every file, in order."""

from itertools import product

import pytest

from archfit.yaml.join import joined
from yaml_judge import typed

# What a file may be, and the objects in it. Directives at the start of a file are refused by all readers.
FILES = {
    "yaml": (b"a: 1\n", [{"a": 1}]),
    "no-newline": (b"a: 2", [{"a": 2}]),
    "crlf": (b"a: 3\r\n", [{"a": 3}]),
    "separator-first": (b"---\na: 4\n", [{"a": 4}]),
    "separator-last": (b"a: 5\n---\n", [{"a": 5}]),
    "document-end": (b"a: 6\n...\n", [{"a": 6}]),
    "byte-order-mark": (b"\xef\xbb\xbfa: 7\n", [{"a": 7}]),
    "byte-order-mark-separator": (b"\xef\xbb\xbf---\na: 8\n", [{"a": 8}]),
    "json": (b'{"a":9}', [{"a": 9}]),
    "json-lines": (b'{\n\t"a": 10\n}\n', [{"a": 10}]),
    "json-surrogates": (b'{"a":"\\ud83d\\ude00 \\\\u0041 \\u0041"}\n', [{"a": "\U0001f600 \\u0041 A"}]),
    "two": (b"a: 11\n---\nb: 12\n", [{"a": 11}, {"b": 12}]),
    "comments": (b"# nothing\n", []),
    "block-scalar": (b"a: |\n  text", [{"a": "text"}]),
    "empty": (b"", []),
}


@pytest.mark.parametrize("reader", ["kubectl", "kustomize", "helm4"])
@pytest.mark.parametrize("first", FILES)
def test_every_object_of_every_pair_of_files_is_read(judge, reader, first):
    wrong = []
    for second, third in product(FILES, ("yaml", "json")):
        chosen = [FILES[name] for name in (first, second, third)]
        expected = [one for _, objects in chosen for one in objects]
        if FILES[first][0] == b"a: |\n  text":  # the newline that is added belongs to the text
            expected[0] = {"a": "text\n"}
        if FILES[second][0] == b"a: |\n  text":
            expected[len(chosen[0][1])] = {"a": "text\n"}
        found = judge.read(reader, b"".join(joined([text for text, _ in chosen])))
        if [typed(one) for one in found] != [typed(one) for one in expected]:
            wrong.append((second, third, found))
    assert wrong == []
