"""Values that nothing reads are taken out, nothing else changes, and the text gives them back."""

# ruff: noqa: E501 - a row of a table is a line

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from archfit.options.settings import Options
from archfit.pipeline import survey, transformed
from archfit.source.split import split
from archfit.source.values import Typed
from archfit.workloads import documents
from archfit.workloads.documents import whole
from archfit.workloads.json_objects import placed
from corpus_streams import each_stream
from stream_edits import edited, lookup

if TYPE_CHECKING:
    from archfit.patch import Path
    from archfit.workloads.documents import Document
    from corpus_streams import Stream

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: {app: web}
  strategy:
    type: Recreate
  template:
    metadata:
      labels: {app: web}
    spec:
      securityContext:
        runAsUser: 1
      initContainers:
      - name: first
        image: amd:1
        command: [a, b]
      containers:
      - name: main
        image: amd:1
        imagePullPolicy: Always
        env:
        - name: A
          value: b
        ports:
        - containerPort: 80
        resources:
          limits: {cpu: 1}
status:
  replicas: 1
"""


def read(text: str, *, light: bool, options: Options | None = None) -> tuple[Document, ...]:
    data = text.encode()
    return survey(data, split(data), options or Options(), light=light).documents


def test_a_usual_workload_keeps_what_decisions_and_edits_read() -> None:
    (document,) = read(WORKLOAD, light=True)
    containers = [{"name": "main", "image": "amd:1", "imagePullPolicy": "Always"}]
    spec = {
        "securityContext": {"runAsUser": Typed("int", "1")},
        "initContainers": [{"name": "first", "image": "amd:1"}],
        "containers": containers,
    }
    assert document.value == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}},
    }
    assert document.pods[0].spec is document.value["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WORKLOAD.replace("name: web", 'annotations: {archfit.dev/skip: "no"}', 1), id="archfit.dev is named"),
        pytest.param(WORKLOAD.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(WORKLOAD.replace("env:", "env: &a"), id="an anchor"),
        pytest.param(WORKLOAD.replace("replicas: 1", "replicas: !!int 1"), id="a tag"),
        pytest.param(WORKLOAD.replace("apps/v1", "apps.kruise.io/v1alpha1").replace("Deployment", "CloneSet"), id="a custom resource"),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- " + WORKLOAD.replace("\n", "\n  ").rstrip(" "), id="an item without an owner"
        ),
        pytest.param("apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- " + WORKLOAD.replace("\n", "\n  ").rstrip(" "), id="inside of a document"),
    ],
)  # fmt: skip
def test_other_documents_keep_all(text: str) -> None:
    (document,) = read(text, light=True)
    assert not document.light
    assert document.value == read(text, light=False)[0].value


def test_rows_of_the_user_keep_all() -> None:
    from archfit.options.settings import Workload

    options = Options(workloads=(Workload("example.com", "Thing", ("spec",)),))
    assert not read(WORKLOAD, light=True, options=options)[0].light


def test_an_item_with_an_owner_is_light() -> None:
    owned = WORKLOAD.replace("name: web", "ownerReferences:\n  - kind: A\n    name: b", 1)
    text = "apiVersion: v1\nkind: List\nitems:\n- " + owned.replace("\n", "\n  ").rstrip(" ")
    (document,) = read(text, light=True)
    assert document.light
    data = text.encode()
    assert whole(document, document.span.text(data)).value == read(text, light=False)[0].value
    _compare(data)


def test_the_usual_edit_of_a_light_document_reads_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = WORKLOAD.encode()
    found = survey(data, split(data), Options(), light=True)
    monkeypatch.setattr(documents, "block_text", None)
    (splice,) = transformed(data, found, lookup(found.texts), Options()).splices
    assert b"nodeAffinity" in splice.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("", "", id="usual"),
        pytest.param("\n", "\r\n", id="CRLF, which the parser reads"),
        pytest.param("status:\n  replicas: 1\n", "# \u00e4", id="a comment at the end"),
        pytest.param(
            "      containers:", "      affinity: {}\n      containers:", id="an edit inside of a line"
        ),
        pytest.param("{app: web}", '{app: "w\\x65b"}', id="an escape"),
        pytest.param("status:\n", "x: 1\nx: 1\nstatus:\n", id="a key twice"),
    ],
)
def test_a_light_document_gives_the_same_splices(old: str, new: str) -> None:
    data = (WORKLOAD.replace(old, new) if old else WORKLOAD).encode()
    _compare(data)


@each_stream
def test_the_corpus_gives_the_same_from_light_documents(stream: Stream) -> None:
    _compare(stream.path.read_bytes())


def _compare(data: bytes) -> None:
    pieces = split(data)
    full, light = (survey(data, pieces, Options(), light=light) for light in (False, True))
    assert (light.texts, light.results, light.untouched) == (full.texts, full.results, full.untouched)
    assert light.pod_options == full.pod_options
    listed = [one for one in light.documents if one.span.listed]
    numbers = {one.span.number for one in listed}
    lists = {one.span.number: one for one in full.documents if one.span.number in numbers}
    for one in listed:
        assert placed(one, one.span.text(data)).value == _at(lists[one.span.number].value, one.at)
    for one, other in zip(
        (one for one in light.documents if not one.span.listed),
        (one for one in full.documents if one.span.number not in lists),
        strict=True,
    ):
        full_one = whole(one, one.span.text(data)) if one.light else one
        assert full_one.replace(pods=other.pods) == other
    answers = lookup(full.texts)
    made, expected = (transformed(data, one, answers, Options()) for one in (light, full))
    assert [decision for _, decision in made.decisions] == [decision for _, decision in expected.decisions]
    assert (made.results, made.splices) == (expected.results, expected.splices)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def test_light_documents_take_less_memory() -> None:
    text = "---\n".join(WORKLOAD.replace("web", f"web-{number}") for number in range(80))
    data = text.encode()
    pieces = split(data)
    used = []
    for light in (False, True):
        survey(data, pieces, Options(), light=light)  # lines are kept for others
        tracemalloc.start()
        try:
            found = survey(data, pieces, Options(), light=light)
            used.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
        assert len(found.documents) == 80
    assert used[1] < 0.75 * used[0]


def test_a_large_stream_is_read_into_light_documents() -> None:
    text = "---\n".join([WORKLOAD] * 2)
    assert not edited(text.encode()).transformed.survey.documents[0].light
    assert edited((text + "# c\n" * (1 << 18)).encode()).transformed.survey.documents[0].light
    assert (
        not edited((text + "# c\n" * (1 << 18)).encode(), Options(stamp=True))
        .transformed.survey.documents[0]
        .light
    )
