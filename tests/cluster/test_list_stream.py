"""Files of any size and form give the same objects."""

import io
import json
from typing import Any

import pytest
from tests.audit.cluster_objects import listed, node, pod, workload

from archfit.audit.running.collect import Collector
from archfit.base.errors import InvalidInput
from archfit.cluster import list_stream
from archfit.cluster.list_stream import items

_PODS = [pod("a"), pod("b", image="ünïcode/\u2028:1", owner=("StatefulSet", "s"))]
_MIXED = [*_PODS, node("n"), workload("ReplicaSet", "r", owner=("Deployment", "d"))]


class _Slow:
    """A file that gives a few bytes for each read, as a pipe may."""

    def __init__(self, data: bytes, size: int) -> None:
        self._file = io.BytesIO(data)
        self._size = size
        self.held = 0

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read(min(size, self._size) if size >= 0 else self._size)


def _values(data: bytes, step: int = 1 << 20) -> list[Any]:
    return [value for value, _ in items(_Slow(data, step), "pods.json")]


def _text(value: Any, **options: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, **options).encode()


_FORMS = {
    "kubectl get -o json": _text(listed(*_MIXED), indent=4, sort_keys=True),
    "one line": _text(listed(*_MIXED)),
    "JSON lines": b"\n".join(_text(one) for one in _MIXED),
    "objects without blanks between": b"".join(_text(one) for one in _MIXED),
    "an array": _text(_MIXED),
    "two lists": _text(listed(*_MIXED[:2])) + b"\n" + _text(listed(*_MIXED[2:])),
    "a byte order mark": b"\xef\xbb\xbf" + _text(listed(*_MIXED)),
    "leading blanks": b" \n\t" + _text(listed(*_MIXED)),
    "escapes": json.dumps(listed(*_MIXED)).encode(),
    "YAML documents": b"\n---\n".join(json.dumps(one).encode() for one in ({"a": 1}, *_MIXED))[
        len('{"a": 1}') + 1 :
    ],
}


@pytest.mark.parametrize("step", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize("form", _FORMS)
def test_every_form_gives_the_same_objects(form, step):
    assert _values(_FORMS[form], step) == _MIXED


@pytest.mark.parametrize("step", [1, 1 << 20])
def test_items_of_a_typed_list_get_its_kind(step):
    assert _values(_text(listed(*_PODS, kind="PodList")), step) == [
        {**one, "kind": "Pod", "apiVersion": "v1"} for one in _PODS
    ]


def test_items_before_the_kind_of_their_list_are_known_by_their_shape():
    bare = listed(*_PODS, kind="PodList")["items"]
    found = _values(_text({"apiVersion": "v1", "items": bare, "kind": "PodList"}))
    assert [one["kind"] for one in found] == ["Pod", "Pod"]
    with pytest.raises(InvalidInput, match="an item has no kind"):
        _values(_text({"items": [{"spec": {}}], "kind": "JobList"}))


def test_an_object_may_have_items_that_are_its_own():
    crd = {"kind": "Thing", "apiVersion": "example.com/v1", "items": [1, 2]}
    assert _values(_text(crd)) == [crd]
    before = {"items": _PODS, "kind": "Thing", "apiVersion": "example.com/v1"}
    assert _values(_text(before)) == [*_PODS, {"kind": "Thing", "apiVersion": "example.com/v1"}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(_text(listed(*_MIXED))[:-40], "ends in the middle of its JSON, after 3 items: it was not written whole", id="cut in an item"),
        pytest.param(_text(listed(*_MIXED)).partition(b', "kind": "List"')[0], "ends in the middle", id="cut behind the items"),
        pytest.param(b'{"items": [', "ends in the middle of its JSON, after 0 items", id="cut at once"),
        pytest.param(b'{"kind": "List", "items": [{"kind": "a"}}', "pods.json is not JSON at character 41: ',' or ']' must stand here", id="no JSON"),
        pytest.param(b'{"kind": "List", "items": [{"kind": "a"},]}', "a ',' stands before the end of the list", id="a comma too many"),
        pytest.param(b'{"a": 1,}', "a ',' stands before the end of the object", id="a comma too many in an object"),
        pytest.param(b'{"a" 1}', "a name of a member and ':'", id="no colon"),
        pytest.param(b'{"a": 1} x', "something else than an object", id="text behind the object"),
        pytest.param(b'{"a": tru\xff}', "not UTF-8", id="no UTF-8"),
        pytest.param(b"[" * 200_000, "", id="nested too deeply"),
        pytest.param(b'{"a": ' + b"[" * 200_000, "", id="a value nested too deeply"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "a number has too many digits", id="a number of many digits"),
        pytest.param(b"a: [b", "pods.json: line", id="no YAML"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_message_that_names_the_file(data, message):
    for step in (1 << 20, 1000):
        with pytest.raises(InvalidInput) as caught:
            _values(data, step)
        assert "pods.json" in str(caught.value)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["characters", "escapes"])
def test_a_list_that_was_cut_is_said_to_be_cut_wherever_it_ends(ascii_only):
    """In a text, a word, a number, an escape or a character, too."""
    odd = {"kind": "Pod", "a": [True, None, False, -12.5, 1e9], "b": 'é\u2028\\"', "c": {}}
    data = json.dumps(listed(odd, odd), ensure_ascii=ascii_only).encode()
    for end in range(1, len(data)):
        with pytest.raises(InvalidInput, match="ends in the middle of its JSON"):
            _values(data[:end])


def test_yaml_says_the_line_of_each_object_and_skips_what_holds_no_pod():
    text = """\
# Source: chart/templates/a.yaml
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {template: {spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1}}}]}}}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n, labels: {kubernetes.io/arch: "arm64"}}
- apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec: {containers: [{name: a, image: "c", tty: yes}]}
"""
    found = list(items(io.BytesIO(text.encode()), "all.yaml"))
    assert [(value["kind"], where) for value, where in found] == [
        ("Deployment", "all.yaml:6"),
        ("Node", "all.yaml:14"),
        ("Pod", "all.yaml:17"),
    ]
    assert found[2][0]["spec"]["containers"][0]["tty"] is True
    assert [where for _, where in items(io.BytesIO(text.encode()))] == ["line 6", "line 14", "line 17"]


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf", b"# nothing\n"])
def test_an_empty_file_holds_nothing(data):
    assert list(items(io.BytesIO(data))) == []


def test_the_window_holds_one_item_and_one_read(monkeypatch):
    monkeypatch.setattr(list_stream, "_READ", 4096)
    widest = 0
    extend = list_stream._Json._extend

    def measured(self: Any, chunk: bytes) -> None:
        nonlocal widest
        extend(self, chunk)
        widest = max(widest, len(self._text))

    monkeypatch.setattr(list_stream._Json, "_extend", measured)
    collector = Collector("lists", "x")
    for value, where in items(io.BytesIO(_text(listed(*(pod(f"p-{n}") for n in range(2000))))), "x"):
        collector.add(value, where)
    assert collector.kinds == {"Pod": 2000}
    assert widest < 3 * 4096
