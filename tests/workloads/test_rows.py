"""The table of workloads: each row's pods are found where the Kubernetes API has them, and edited there."""

import pytest

from archfit.options.settings import Options
from archfit.workloads.inventory import is_podless
from stream_edits import edited, placed

TEMPLATE = "spec: {template: {spec: {containers: [{image: both:1}]}}}\n"
ROWS = [
    ("v1", "Pod", "spec: {containers: [{image: both:1}]}\n"),
    ("v1", "PodTemplate", "template: {spec: {containers: [{image: both:1}]}}\n"),
    ("v1", "ReplicationController", TEMPLATE),
    ("apps/v1", "ReplicaSet", TEMPLATE),
    ("apps/v1", "Deployment", TEMPLATE),
    ("apps/v1beta2", "Deployment", TEMPLATE),
    ("apps/v1", "StatefulSet", TEMPLATE),
    ("apps/v1", "DaemonSet", TEMPLATE),
    ("batch/v1", "Job", TEMPLATE),
    (
        "batch/v1",
        "CronJob",
        "spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: both:1}]}}}}}\n",
    ),
    ("extensions/v1beta1", "Deployment", TEMPLATE),
]
ADDED = ", tolerations: [{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]}"
FULL = Options(immutable="full")


@pytest.mark.parametrize(("version", "kind", "spec"), ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_each_kind_is_edited_where_its_pod_spec_is(judge, version, kind, spec):
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n{spec}".encode()
    expected = text.replace(b"both:1}]}", b"both:1}]" + ADDED.encode())
    assert placed(judge, text, FULL) == expected


@pytest.mark.parametrize(("version", "kind", "spec"), ROWS, ids=[f"{row[0]} {row[1]}List" for row in ROWS])
def test_each_typed_list_is_edited_item_by_item(judge, version, kind, spec):
    """Items may leave out what the list's own kind says, as kubectl's do not but the API's do."""
    items = "".join(f"- metadata: {{name: {name}}}\n  {spec}" for name in "ab")
    text = f"apiVersion: {version}\nkind: {kind}List\nitems:\n{items}".encode()
    expected = text.replace(b"both:1}]}", b"both:1}]" + ADDED.encode())
    assert placed(judge, text, FULL) == expected


@pytest.mark.parametrize(("version", "kind", "spec"), ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_a_kind_of_the_same_name_in_another_group_is_not_that_kind(version, kind, spec):
    text = f"apiVersion: other.example/{version[-2:]}\nkind: {kind}\n{spec}".encode()
    assert edited(text, FULL).data == text


@pytest.mark.parametrize(
    ("version", "kind", "podless"),
    [
        pytest.param("v1", "Service", True, id="Service"),
        pytest.param("serving.knative.dev/v1", "Service", None, id="Knative's Service"),
        pytest.param("v1", "List", False, id="List"),
        pytest.param("v1", "PodList", False, id="PodList"),
        pytest.param("apps/v1", "Deployment", False, id="Deployment"),
        pytest.param("example.com/v1", "Deployment", None, id="a Deployment of another group"),
        pytest.param(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", True, id="CustomResourceDefinition"
        ),
        pytest.param("", "", None, id="nothing"),
    ],
)
def test_which_kinds_hold_no_pod(version, kind, podless):
    assert is_podless(version, kind) in ((None, False) if podless is None else (podless,))


@pytest.mark.parametrize(
    "spec", ["null", "[]", "text", "{template: null}", "{template: {spec: null}}", "{template: {spec: []}}"]
)
def test_a_workload_without_a_pod_spec_passes(spec):
    text = f"apiVersion: apps/v1\nkind: Deployment\nspec: {spec}\n".encode()
    assert edited(text).data == text
