"""What a run reports: each result with object, field, document, line and source; unknown kinds once."""

import json
from typing import Any

import pytest

from archfit.base.results import Message
from archfit.reports.report import RunReport, json_report
from stream_edits import Failed, edited

POD = "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web, namespace: shop}}\nspec:\n  template:\n    spec:\n      containers:\n      - image: {image}\n"


def pod(kind: str = "Deployment", image: str = "both:1") -> str:
    return POD.format(kind=kind, image=image)


def reported(results: tuple[Message, ...]) -> list[dict[str, Any]]:
    made = json_report(RunReport("archfit", 1, results), "")
    found: list[dict[str, Any]] = json.loads(b"".join(made))["results"]
    return [{name: value for name, value in result.items() if name != "message"} for result in found]


def test_a_conflict_carries_object_field_document_line_and_source():
    text = (
        "---\n# Source: c/templates/a.yaml\n"
        + pod()
        + "---\n# Source: c/templates/b.yaml\n"
        + pod(image="amd:1")
        + "      nodeSelector: {kubernetes.io/arch: arm64}\n"
    )
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    assert reported(failed.value.messages) == [
        {
            "severity": "error",
            "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            "field": 'spec.template.spec.nodeSelector["kubernetes.io/arch"]',
            "document": 2,
            "line": 21,
            "source": "c/templates/b.yaml",
        }
    ]


def test_an_error_of_the_text_carries_document_line_and_source():
    text = pod() + "---\n# Source: c/templates/b.yaml\n" + pod() + "x: [a\n"
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    assert reported(failed.value.messages) == [
        {"severity": "error", "document": 2, "line": 19, "source": "c/templates/b.yaml"}
    ]


UNKNOWN = (
    "apiVersion: example.com/v1\nkind: {}\nmetadata: {{name: {}}}\nspec: {{containers: [{{image: amd:1}}]}}\n"
)


def test_unknown_kinds_that_look_like_pods_are_reported_once():
    things = [UNKNOWN.format(kind, name) for kind, name in (("Thing", "a"), ("Thing", "b"), ("Other", "c"))]
    text = "---\n".join([*things, pod(), UNKNOWN.format("Thing", "d").replace("v1", "v2")])
    results = edited(text.encode()).edits.messages
    assert [result.severity for result in results] == ["info", "info"]
    assert [
        (name in result.text, "3 such objects" in result.text)
        for result, name in zip(results, ("Thing", "Other"), strict=True)
    ] == [(True, True), (True, False)]
    assert [str(result.ref) for result in results] == ["example.com/v1/Thing/a", "example.com/v1/Other/c"]
    assert [str(result.location) for result in results] == ["document 1, line 1", "document 3, line 11"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("apiVersion: example.com/v1\nkind: Thing\nspec: {containers: [a]}\n", id="containers without images"),
        pytest.param("apiVersion: example.com/v1\nkind: Thing\nspec: {template: {}}\n", id="an empty template"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\ndata: {containers: [{image: a}]}\n", id="a kind that holds no pod"),
        pytest.param("apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: null}}\n", id="a workload without a pod spec"),
    ],
)  # fmt: skip
def test_nothing_is_said_of_what_holds_no_pod(text):
    output = edited(text.encode())
    assert (output.data, output.edits.messages) == (text.encode(), ())


def test_a_run_without_the_c_extension_says_that_it_is_slow(monkeypatch):
    slow = "PyYAML came without its C extension"
    assert not any(slow in result.text for result in edited(pod().encode()).edits.messages)
    monkeypatch.setattr("archfit.pod_stages.C_EXTENSION", False)
    assert [slow in result.text for result in edited(pod().encode()).edits.messages].count(True) == 1
