"""A large list in JSON is read object by object, and everything is as if it were one document: bytes, messages, paths."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archfit import stream
from archfit.edit import prove
from archfit.options.settings import Options
from archfit.pipeline import Survey, survey, transformed
from archfit.source.compose import parse
from archfit.workloads import json_objects, node_selectors
from archfit.workloads.borrowed_images import NAMED
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.pods import Namespace
from fuzz.objects import objects
from json_layouts import LAYOUTS, any_layout, json_value
from stream_edits import lookup

if TYPE_CHECKING:
    from archfit.pipeline import Transformed

# Without it a list is short enough to be one document.
LARGE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "large"},
    "data": {"a": "image: b\n" * 16_000},
}


def deployment(name: str, image: str = "amd:1", **metadata: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "a", "image": image, "args": ["b"]}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "managedFields": [{"manager": "kubectl"}], **metadata},
        "spec": {"selector": {}, "template": {"metadata": {}, "spec": spec}},
        "status": {"replicas": 1},
    }


OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"image": "amd:1"}]},
}
WIDGET = {
    "apiVersion": "a.example/v1",
    "kind": "Widget",
    "spec": {"podTemplate": {"containers": [{"image": "x"}]}},
}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}


def listed(*items: Any, **members: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": [LARGE, *items], "kind": "List", **members}


def said(data: bytes, found: Survey, options: Options) -> tuple[Any, ...]:
    """All that is written and said."""
    made = transformed(data, found, lookup(found.texts), options)
    return found.texts, _output(data, made), made.results, *_decisions(made)


def _output(data: bytes, made: Transformed) -> bytes:
    return b"" if made.failed() else b"".join(map(bytes, stream.write(data, made.splices)))


def _decisions(made: Transformed) -> tuple[list[Any], list[Any]]:
    pods = [
        (pod.ref, pod.group, pod.location, pod.path, pod.root, pod.images, pod.immutable, pod.between)
        for pod, _ in made.decisions
    ]
    return pods, [decision for _, decision in made.decisions]


def both(text: str, options: Options | None = None) -> tuple[tuple[Any, ...], bool]:
    """What is said of the stream, after asserting that both ways say it, and whether objects were read by themselves."""
    data, options = text.encode(), options or Options()
    pieces = stream.read(data, "pass").pieces
    one, other = (survey(data, pieces, options, light=light) for light in (False, True))
    assert not any(document.span.listed for document in one.documents)
    expected = said(data, one, options)
    assert said(data, other, options) == expected
    return expected, any(document.span.listed for document in other.documents)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_objects_are_read_by_themselves_in_the_layouts_of_tools(layout: str) -> None:
    value = listed(
        deployment("a"), SERVICE, POD, deployment("b", "both:1"), WIDGET, metadata={"resourceVersion": ""}
    )
    (_, output, results, pods, _), sliced = both(LAYOUTS[layout](value))
    assert sliced
    assert [pod[3][:2] for pod in pods] == [("items", 1), ("items", 3), ("items", 4)]
    assert {pod[2].line for pod in pods} == {1}
    after = json.loads(output)["items"]
    assert [bool(item.get("spec", {}).get("template", {}).get("spec", {}).get("affinity")) for item in after] == [
        False, True, False, False, False, False,
    ]  # fmt: skip
    assert "items" not in "".join(result.message for result in results)


AFFINITY = {
    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}, None]}}
}
LISTS = [
    pytest.param(listed(deployment("a", "Bad Image@"), deployment("b", "")), True, id="images that nobody can pull"),
    pytest.param(listed(deployment("a", ownerReferences=[OWNER]), POD), True, id="an object of a controller"),
    pytest.param(listed({**POD, "spec": {"containers": [{"image": "amd:1"}], "affinity": AFFINITY}}), True, id="terms"),
    pytest.param(listed({**POD, "spec": {**POD["spec"], "affinity": None, "tolerations": []}}), True, id="empty values"),  # type: ignore[dict-item]
    pytest.param(listed({**POD, "spec": {**POD["spec"], "affinity": "x"}}), True, id="a value that is no mapping"),  # type: ignore[dict-item]
    pytest.param(listed(deployment("a", annotations={"archfit.dev/skip": "true"})), True, id="an object that is skipped"),
    pytest.param(
        listed(deployment("a", labels={"archfit.dev/skip": "true"}), {**SERVICE, "archfit.dev/skip": "true"}, POD),
        True,
        id="an annotation that counts nowhere",
    ),
    pytest.param(listed(WIDGET, WIDGET), False, id="a kind in no table"),
    pytest.param(listed(SERVICE), False, id="no pod"),
    pytest.param({**listed({"spec": POD["spec"]}, POD), "kind": "PodList"}, True, id="a list of one kind"),
    pytest.param({**listed(deployment("a")), "kind": "Deployment"}, False, id="no list"),
    pytest.param(listed(None, POD), False, id="an item that is null"),
    pytest.param(listed("a", POD), False, id="an item that is a text"),
    pytest.param(listed({"a": "b"}, POD), False, id="an item without a kind"),
    pytest.param(listed(listed(POD), POD), False, id="a list in the list"),
    pytest.param(listed({**SERVICE, "items": [POD]}, POD), False, id="an object of any kind with items"),
    pytest.param({**listed(POD), "kind": "ConfigMap"}, False, id="a list of any kind"),
    pytest.param(listed({**SERVICE, "<<": POD}, POD), True, id="no merge in JSON"),
    pytest.param(
        listed(
            POD,
            {"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaNodePool", "metadata": {"name": "a", "labels": {"strimzi.io/cluster": "k"}}, "spec": {"template": {"pod": {}}}},
            {"apiVersion": "kafka.strimzi.io/v1", "kind": "Kafka", "metadata": {"name": "k"}, "spec": {"kafka": {"image": "amd:1"}}},
        ),
        False,
        id="an object that names the image of another",
    ),
    pytest.param(
        listed(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "kubernetes.io/arch=arm64"}}},
            {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "r"}, "scheduling": {"nodeSelector": {"kubernetes.io/arch": "amd64"}}},
            {**POD, "metadata": {"name": "p", "namespace": "n"}, "spec": {"runtimeClassName": "r", "containers": [{"image": "both:1"}]}},
        ),
        True,
        id="what admission asks of nodes",
    ),
]  # fmt: skip


@pytest.mark.parametrize("layout", ["kubectl", "kubectl-raw"])
@pytest.mark.parametrize(("value", "sliced"), LISTS)
def test_everything_is_as_if_the_list_were_one_document(value: Any, sliced: bool, layout: str) -> None:
    assert both(LAYOUTS[layout](value))[1] is sliced


SPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "name": "n",
        "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "kubernetes.io/arch=arm64"},
    },
}
IN_SPACE = deployment("a", "both:1", namespace="n")


@pytest.mark.parametrize(
    ("value", "split", "parsed"),
    [
        pytest.param(listed(SPACE, IN_SPACE), True, 0, id="a namespace"),
        pytest.param(
            listed({"apiVersion": "v1", "kind": "NamespaceList", "items": [SPACE]}, IN_SPACE),
            False,
            2,
            id="a list of namespaces",
        ),
        pytest.param(
            listed({"apiVersion": "a/v1", "kind": "AList", "items": [SPACE]}, IN_SPACE),
            False,
            2,
            id="a list of anything",
        ),
        pytest.param({**listed(SPACE, IN_SPACE), "kind": "PodList"}, True, 1, id="in a list of one kind"),
    ],
)
def test_what_admission_asks_of_nodes_is_read_object_by_object(
    value: Any, split: bool, parsed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = LAYOUTS["kubectl"](value).encode()
    pieces = stream.read(data, "pass").pieces
    found = [survey(data, pieces, Options(), light=light) for light in (False, True)]
    selectors = [[pod.namespace for document in one.documents for pod in document.pods] for one in found]
    assert (
        selectors[0]
        == selectors[1]
        == [Namespace(node_selectors.ANNOTATION, (("kubernetes.io/arch", "arm64"),))]
    )
    assert both(data.decode())[1] is split
    calls: list[str] = []
    for module in (node_selectors, prove):
        monkeypatch.setattr(module, "parse", lambda text: (calls.append(text), parse(text))[1])
    transformed(data, survey(data, pieces, Options(), light=True), lookup(["both:1"]), Options())
    assert len(calls) == parsed


def test_lines_are_those_of_the_whole_stream() -> None:
    before = "a: 1\n---\n"
    text = before + LAYOUTS["kubectl"](listed(SERVICE, deployment("a", "Bad Image@")))
    (_, _, results, _, _), sliced = both(text)
    assert sliced
    (error,) = (result for result in results if result.severity == "error" and result.field)
    assert error.field == "items[2].spec.template.spec.containers[0].image"
    assert error.location is not None
    assert text.splitlines()[error.location.line - 1].strip() == '"image": "Bad Image@",'


BROKEN = [
    pytest.param(lambda text: text[:-20], id="cut off"),
    pytest.param(
        lambda text: text.replace('"Service"', '"Service",', 1), id="a comma at the end of an object"
    ),
    pytest.param(lambda text: text.replace('"Service"', "Service", 1), id="a plain text"),
    pytest.param(lambda text: text.replace('"name": "s"', '"name": "s", "name": "t"', 1), id="a key twice"),
    pytest.param(
        lambda text: text.replace('"name": "s"', '"name": "\x7f"', 1), id="a character that is not allowed"
    ),
    pytest.param(lambda text: text.replace('"name": "s"', '"name": "\u2028"', 1), id="an odd line break"),
    pytest.param(
        lambda text: text.replace('"name": "s"', '"name": ' + "[" * 248 + "]" * 248, 1), id="deep nesting"
    ),
    pytest.param(lambda text: text.replace("\n", "\r\n"), id="CRLF"),
    pytest.param(lambda text: text + "x", id="text behind"),
    pytest.param(lambda text: f"# Source: a/b.yaml\n{text}", id="a comment above"),
    pytest.param(lambda text: f"%YAML 1.1\n---\n{text}", id="a directive"),
    pytest.param(lambda text: text.replace('"items"', '"items": [], "items"', 1), id="items twice"),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_wrong_in_an_object_without_pods_is_said_as_ever(broken: Any) -> None:
    assert not both(broken(LAYOUTS["jq"](listed(SERVICE, deployment("a")))))[1]


def test_what_names_the_images_of_others_is_known() -> None:
    found = {row.same[:2] for rows in all_custom_rows().values() for row in rows if row.same}
    assert found == NAMED


def test_the_pure_parser_reads_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_objects, "C_EXTENSION", False)
    assert not both(LAYOUTS["kubectl"](listed(POD)))[1]


def test_a_short_list_is_one_document() -> None:
    assert not both(json.dumps({"apiVersion": "v1", "items": [POD], "kind": "List"}))[1]


def test_nothing_is_edited_where_nothing_is_wanted() -> None:
    text = LAYOUTS["kubectl"](listed(deployment("a"), POD))
    (_, output, _, _, _), sliced = both(text, Options(affinity="never", tolerate=()))
    assert sliced
    assert output == text.encode()


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32), owned=st.booleans(), affinity=st.sampled_from(["needed", "always", "never"])
)
def test_random_objects_in_random_layouts_are_as_if_they_were_one_document(
    seed: int, owned: bool, affinity: Any
) -> None:
    chance = random.Random(seed)
    items = [json_value(item) for _ in range(3) for item in objects(chance)]
    for item in items:
        if owned and isinstance(item.get("metadata"), dict) and chance.random() < 0.5:
            item["metadata"]["ownerReferences"] = [OWNER]
    text = any_layout(listed(*items), chance)
    both(text, Options(affinity=affinity, on_conflict="leave"))
