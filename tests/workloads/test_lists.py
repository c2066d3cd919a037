"""Which objects a list holds, for any reader: kubectl and Helm open `items` of any kind, kustomize kinds in `List`."""

import json

import pytest

from archfit.base.patch import dotted
from archfit.workloads.inventory import scan_piece
from archfit.yaml.stream import split

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"image": "both:1"}]},
}
BARE = {"metadata": {"name": "q"}, "spec": {"containers": [{"image": "both:1"}]}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": BARE["spec"]}}}  # fmt: skip


def pods(text: str) -> list[str]:
    """Kind and place of each pod in the stream, a text for each result."""
    data = text.encode()
    found = [scan_piece(data, piece) for piece in split(data)]
    return [
        f"{pod.ref.kind} {dotted(pod.path)}"
        for one in found
        for document in one.documents
        for pod in document.pods
    ] + [result.severity for one in found for result in one.messages]


ITEM = "items[0].spec"
ITEM_POD = "- apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n  spec: {containers: [{image: both:1}]}\n"


@pytest.mark.parametrize("layout", ["compact", "wide", "yaml"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(
            pytest.param({"apiVersion": version, "kind": kind, "items": [POD]}, [f"Pod {ITEM}"], id=f"{version} {kind}")
            for version, kind in (
                ("v1", "ConfigMap"), ("v1", "ConfigMapList"), ("v1", "Secret"), ("v1", "Service"), ("v1", "Pod"),
                ("v1", "List"), ("apps/v1", "List"), ("v1", "PodList"), ("rbac.authorization.k8s.io/v1", "Role"),
                ("config.kubernetes.io/v1", "ResourceList"), ("example.com/v1", "Thing"), ("example.com/v1", "ThingList"),
            )
        ),
        pytest.param({**DEPLOYMENT, "items": [POD]}, ["Pod items[0].spec", "Deployment spec.template.spec"], id="an object to kustomize, a list to kubectl"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", "items": [BARE]}, [f"Pod {ITEM}"], id="an item has the kind of its list"),
        pytest.param({"apiVersion": "v1", "kind": "PodList", "items": [{**BARE, "kind": None}]}, [f"Pod {ITEM}"], id="a kind that is null is none"),
        pytest.param({"apiVersion": "v1", "kind": "PodList", "items": [{**BARE, "kind": 5}]}, [f"Pod {ITEM}"], id="a kind that is a number is none"),
        pytest.param({"apiVersion": "v1", "kind": "PodList", "items": [{**BARE, "kind": True, "apiVersion": 1}]}, [f"Pod {ITEM}"], id="nor is a version"),
        pytest.param({**CONFIG, "items": [{**CONFIG, "items": [POD]}]}, ["Pod items[0].items[0].spec"], id="a list in a list"),
        pytest.param({**CONFIG, "items": [CONFIG, {"apiVersion": "v1", "kind": "List", "items": [CONFIG, POD]}]}, ["Pod items[1].items[1].spec"], id="a List in a list"),
        pytest.param({**CONFIG, "items": []}, [], id="no items"),
        pytest.param({**CONFIG, "items": None}, [], id="items that are null"),
        pytest.param({**CONFIG, "items": {"a": POD}}, ["error"], id="items that are a mapping"),
        pytest.param({**CONFIG, "items": "a"}, ["error"], id="items that are text"),
        pytest.param({**CONFIG, "items": ["a", 1, None]}, [], id="items that are no objects"),
        pytest.param({**CONFIG, "data": {"items": [POD]}}, [], id="items, deeper"),
        pytest.param({**CONFIG, "Items": [POD], "ITEMS": [POD]}, [], id="another case is another key"),
        pytest.param({**CONFIG, "Kind": "Pod", "KIND": "Pod", "spec": POD["spec"]}, [], id="another case of kind"),
    ],
)  # fmt: skip
def test_items_of_any_kind_are_objects(value, expected, layout):
    text = json.dumps(value, indent=2 if layout == "wide" else None)
    if layout == "yaml":
        text = "\n".join(f"{key}: {json.dumps(member)}" for key, member in value.items()) + "\n"
    assert pods(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("apiVersion: v1\nkind: ConfigMap\nitems:\n" + ITEM_POD, [f"Pod {ITEM}"], id="a block"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\nitems:\n" + ITEM_POD + "data: {}\n", [f"Pod {ITEM}"], id="a block between keys"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n<<: {items: [{apiVersion: v1, kind: Pod, spec: {}}]}\n", [f"Pod {ITEM}"], id="items by a merge"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n<<: {kind: Pod}\nspec: {}\n", ["error"], id="kind by a merge behind it"),
        pytest.param("<<: {kind: Pod}\napiVersion: v1\nkind: ConfigMap\nspec: {}\n", [], id="kind by a merge before it, which does not count"),
        pytest.param("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  <<: {kind: Pod}\n  spec: {}\n", ["error"], id="kind by a merge in an item"),
        pytest.param("apiVersion: v1\nkind: List\nitems:\n- <<: {kind: Pod}\n  apiVersion: v1\n  spec: {}\n", ["Pod spec"], id="kind of an item by a merge"),
        pytest.param("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  items:\n  " + ITEM_POD.replace("\n", "\n  "), ["Pod items[0].spec"], id="items of an item"),
        pytest.param("apiVersion: v1\nkind: List\nitems:\n- items:\n  " + ITEM_POD.replace("\n", "\n  ").rstrip(" ") + "  apiVersion: v1\n  kind: ConfigMap\n", ["Pod items[0].spec"], id="items first in an item"),
        pytest.param("apiVersion: v1\nkind: List\nitems:\n" + ITEM_POD + "<<: {items: []}\n", ["error"], id="items once more by a merge"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nitems: []\nitems: [{apiVersion: v1, kind: Pod, spec: {}}]\n", [f"Pod {ITEM}", "error"], id="items twice"),
        pytest.param('{"apiVersion": "v1", "kind": "ConfigMap", "items": [], "items": [{"kind": "Pod", "spec": {}}]}', [f"Pod {ITEM}", "error"], id="items twice in JSON"),
        pytest.param('{"apiVersion": "v1", "kind": "ConfigMap", "<<": {"kind": "Pod"}, "spec": {}}', [], id="no merge in JSON"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n'<<': {kind: Pod}\nspec: {}\n", [], id="no merge in quotes"),
    ],
)  # fmt: skip
def test_a_list_however_it_is_written(text, expected):
    assert pods(text) == expected


def test_lists_are_opened_as_deep_as_a_document_may_be():
    value: object = POD
    for _ in range(100):
        value = {"apiVersion": "v1", "kind": "List", "items": [value]}
    assert pods(json.dumps(value)) == [f"Pod {'items[0].' * 100}spec"]


TEXT = "apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [{image: both:1}]}}}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"---\n\ufeff{TEXT}", ["error"], id="a mark that kubectl takes for a part of the first key"),
        pytest.param(f"\ufeff{TEXT}", ["DaemonSet spec.template.spec"], id="a mark at the start of the stream"),
        pytest.param(TEXT.replace("DaemonSet", "|\n  DaemonSet"), ["error"], id="a kind with a line break"),
        pytest.param(TEXT.replace("apps/v1", ">\n  apps/v1"), ["error"], id="an apiVersion with a line break"),
        pytest.param(TEXT.replace("DaemonSet", "|-\n  DaemonSet"), ["DaemonSet spec.template.spec"], id="a kind without one"),
        pytest.param(f'kind: List\nitems:\n- {{kind: "Pod\\n", {TEXT[:19].strip()}}}\n', ["error"], id="an item's kind with one"),
    ],
)  # fmt: skip
def test_what_readers_do_not_read_alike_is_refused(text, expected):
    assert pods(text) == expected
