"""What the real kubectl creates is what archfit saw: the objects that it sends to an API server, against the pods of a run.

Each stream goes to kubectl as it is and as archfit writes it. In what is sent then, each pod of an image for one
architecture is kept on it, and nothing else differs.
"""

import copy
import json
from typing import Any

import pytest
from tests.real.readers.kubectl_recorder import KubectlRecorder

import machine
from archfit.options.settings import Options
from archfit.pipeline import scan
from archfit.yaml.stream import read_stream
from stream_edits import NOTHING_WANTED, Failed, edited

COMMANDS = (("create",), ("apply",), ("apply", "--server-side"))
_SPECS = {
    "Pod": ("spec",),
    "Deployment": ("spec", "template", "spec"),
    "Job": ("spec", "template", "spec"),
    "Thing": (),
    "ConfigMap": (),
    "Service": (),
    "Secret": (),
}
_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}
            ]
        }
    }
}

SPEC = "{containers: [{name: a, image: 'amd:1'}]}"
POD = f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {SPEC}}}"
OTHER = POD.replace("name: p", "name: q")
BARE = f"{{metadata: {{name: p}}, spec: {SPEC}}}"
MAP = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
LIST = "apiVersion: v1\nkind: List\nitems:\n"
BLOCK = "- apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n  spec:\n    containers:\n    - name: a\n      image: amd:1\n"
JSON_POD = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "amd:1"}]}})  # fmt: skip
DEPLOYMENT = (
    f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{template: {{spec: {SPEC}}}}}\n"
)

# Stream, what kubectl creates of it, and what archfit judges beside that: kustomize and Argo CD see more.
CREATED = [
    pytest.param(f"{HEAD}items:\n{BLOCK}", "Pod/p", "", id="items of a ConfigMap"),
    pytest.param(f"{HEAD}items: [{POD}]\n", "Pod/p", "", id="in flow style"),
    pytest.param(f"{HEAD}items : [{POD}]\n", "Pod/p", "", id="a blank before the colon"),
    pytest.param(f"items:\n{BLOCK}{HEAD}", "Pod/p", "", id="items first"),
    pytest.param(f"{HEAD}'items': [{POD}]\n", "Pod/p", "", id="the key in quotes"),
    pytest.param(f'{HEAD}"\\x69tems": [{POD}]\n', "Pod/p", "", id="the key with an escape"),
    pytest.param(f"{HEAD}? items\n: [{POD}]\n", "Pod/p", "", id="the key explicit"),
    pytest.param(f"{HEAD}!!str items: [{POD}]\n", "Pod/p", "", id="the key with a tag"),
    pytest.param(f"{HEAD}&a items: [{POD}]\n", "Pod/p", "", id="the key with an anchor"),
    pytest.param(f"x: &x [{POD}]\n{HEAD}items: *x\n", "Pod/p", "", id="the value an alias"),
    pytest.param(f"{HEAD}<<: {{items: [{POD}]}}\n", "Pod/p", "", id="by a merge"),
    pytest.param(f"x: &x {{items: [{POD}]}}\n{HEAD}<<: *x\n", "Pod/p", "", id="by a merge of an alias"),
    pytest.param(f"<<: [{{items: [{POD}]}}]\n{HEAD}", "Pod/p", "", id="by a merge of a list, first"),
    pytest.param(f'{{"apiVersion": "v1", "kind": "ConfigMap", "items": [{JSON_POD}]}}', "Pod/p", "", id="JSON"),
    pytest.param(f'{{"apiVersion": "v1", "kind": "ConfigMap", "Items": [{JSON_POD}], "metadata": {{"name": "c"}}}}', "ConfigMap/c", "", id="JSON, another case"),
    pytest.param(f'{{"apiVersion": "v1", "kind": "ConfigMap", "<<": {{"items": [{JSON_POD}]}}, "metadata": {{"name": "c"}}}}', "ConfigMap/c", "", id="JSON knows no merge"),
    pytest.param(f"{HEAD}'<<': {{items: [{POD}], kind: Pod}}\n", "ConfigMap/c", "", id="no merge in quotes"),
    pytest.param(f"{HEAD}data: {{items: [{POD}]}}\n", "ConfigMap/c", "", id="items, deeper"),
    pytest.param(f"{HEAD}Kind: Pod\nspec: {SPEC}\nItems: [{POD}]\n", "ConfigMap/c", "", id="keys in another case"),
    pytest.param(f"<<: {{kind: Pod}}\n{HEAD}spec: {SPEC}\n", "ConfigMap/c", "", id="a kind after the merge of another"),
    pytest.param(f"apiVersion: v1\nkind: Secret\nitems: [{POD}]\n", "Pod/p", "", id="items of a Secret"),
    pytest.param(f"apiVersion: v1\nkind: Service\nitems: [{POD}]\n", "Pod/p", "", id="items of a Service"),
    pytest.param(f"apiVersion: v1\nkind: ConfigMapList\nitems: [{POD}]\n", "Pod/p", "", id="items of a ConfigMapList"),
    pytest.param(f"apiVersion: example.com/v1\nkind: Thing\nitems: [{POD}]\n", "Pod/p", "", id="items of a custom resource"),
    pytest.param(f"apiVersion: example.com/v1\nkind: ThingList\nitems: [{POD}]\n", "Pod/p", "", id="items of a list of custom resources"),
    pytest.param(f"apiVersion: apps/v1\nkind: List\nitems: [{POD}]\n", "Pod/p", "", id="a List of another group"),
    pytest.param(f"{DEPLOYMENT}items: [{POD}]\n", "Pod/p", "Deployment/d", id="an object and a list"),
    pytest.param(f"apiVersion: v1\nkind: Pod\nitems: [{BARE}]\n", "Pod/p", "", id="items without a kind have that of their list"),
    pytest.param(f"apiVersion: v1\nkind: PodList\nitems: [{BARE}]\n", "Pod/p", "", id="in a PodList too"),
    pytest.param(f"apiVersion: v1\nkind: PodList\nitems: [{{kind: 5, apiVersion: {{}}, {BARE[1:]}]\n", "Pod/p", "", id="a kind that is no text is none"),
    pytest.param(f"apiVersion: v1\nkind: PodList\nitems: [{{kind: '', apiVersion: '', {BARE[1:]}]\n", "Pod/p", "", id="nor is an empty one"),
    pytest.param(f"{LIST}{BLOCK}- {MAP}\n", "Pod/p ConfigMap/c", "", id="a List"),
    pytest.param(f"{LIST}- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c}}\n{BLOCK}", "ConfigMap/c Pod/p", "", id="a List in blocks"),
    pytest.param(f"{LIST}- <<: {{kind: Pod}}\n  apiVersion: v1\n  metadata: {{name: p}}\n  spec: {SPEC}\n", "Pod/p", "", id="a merge in an item"),
    pytest.param(f"{LIST}- {MAP}\n- {{<<: {{kind: Pod, apiVersion: v1}}, metadata: {{name: p}}, spec: {SPEC}}}\n", "ConfigMap/c Pod/p", "", id="a merge in an item in flow style"),
    pytest.param(f"{HEAD}items:\n---\n{POD}\n", "Pod/p", "", id="items that are null: an empty list"),
    pytest.param(f"{HEAD}items: []\n---\n{POD}\n", "Pod/p", "", id="no items"),
    pytest.param(f"{HEAD}items: [{MAP}, {POD}, {OTHER}]\n", "ConfigMap/c Pod/p Pod/q", "", id="several items"),
    pytest.param(f"{HEAD}metadata: {{name: d}}\nitems: [{POD}]\n", "Pod/p", "", id="another key twice"),
]  # fmt: skip
# Stream, what kubectl creates before it refuses the rest, and what archfit judges of the rest: others take it.
REFUSED_BY_KUBECTL = [
    pytest.param(f"{HEAD}items: [{{{MAP[1:-1]}, items: {{a: {POD}}}}}]\n", "ConfigMap/c", "", id="an item whose items are a mapping is created, and its answer is refused"),
    pytest.param(f"{HEAD}items: [{{{POD[1:-1]}, items: null}}]\n", "Pod/p", "", id="one whose items are null is created as well"),
    pytest.param(f"{HEAD}items: {{a: {POD}}}\n", "", "", id="items that are a mapping"),
    pytest.param(f"{HEAD}items: [a]\n", "", "", id="items that are texts"),
    pytest.param(f"{HEAD}items: [{{{MAP[1:-1]}, items: [{POD}]}}]\n", "", "Pod/p", id="a list in a list"),
    pytest.param(f"{LIST}- {MAP}\n- {{apiVersion: v1, kind: List, items: [{POD}]}}\n", "", "Pod/p", id="a List in a List"),
    pytest.param(f"{LIST}- {BARE}\n", "", "", id="an item without a kind in a List"),
    pytest.param(f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [{POD}]\n", "", "Pod/p", id="a ResourceList"),
]  # fmt: skip
# Stream, and what kubectl creates of it: readers disagree on these, or no edit has a place; archfit refuses them.
REFUSED_BY_ARCHFIT = [
    pytest.param(f"{HEAD}data: {{a: &a items}}\n*a : [{POD}]\n", "Pod/p", id="an edit behind a key that is an alias"),
    pytest.param(f"{HEAD}<<: {{kind: Pod}}\nspec: {SPEC}\n", "Pod/c", id="another kind by a merge behind it"),
    pytest.param(f"x: &x {{kind: Pod}}\n{HEAD}<<: *x\nspec: {SPEC}\n", "Pod/c", id="by an alias"),
    pytest.param(f"{LIST}- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: p}}\n  <<: {{kind: Pod}}\n  spec: {SPEC}\n", "Pod/p", id="in an item"),
    pytest.param(f"{HEAD}items: []\n<<: {{items: [{POD}]}}\n", "Pod/p", id="other items by a merge behind them"),
    pytest.param(f"{HEAD}kind: Pod\nspec: {SPEC}\n", "Pod/c", id="another kind"),
    pytest.param(f"{HEAD}'kind': Pod\nspec: {SPEC}\n", "Pod/c", id="another kind in quotes"),
    pytest.param(f"{HEAD}items: []\nitems: [{POD}]\n", "Pod/p", id="items twice"),
    pytest.param(f'{{"apiVersion": "v1", "kind": "ConfigMap", "items": [], "items": [{JSON_POD}]}}', "Pod/p", id="items twice in JSON"),
]  # fmt: skip


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    with KubectlRecorder(machine.tool("kubectl"), tmp_path_factory.mktemp("kubectl")) as running:
        yield running


def sent(recorder: KubectlRecorder, stream: bytes) -> list[dict[str, Any]]:
    """What each of the commands sends, which is the same."""
    found = [recorder.created(stream, *command) for command in COMMANDS]
    for one in (one for objects in found for one in objects if one.get("items", ()) is None):
        del one["items"]  # `apply` sends no null
    assert found[0] == found[1] == found[2]
    return found[0]


def names(objects: list[dict[str, Any]]) -> list[str]:
    return [f"{one['kind']}/{one['metadata']['name']}" for one in objects]


def pods_among(created: str) -> list[str]:
    return sorted(one for one in created.split() if _SPECS[one.partition("/")[0]])


def judged(stream: bytes) -> list[str]:
    """The objects whose pods archfit judges."""
    found = scan(stream, read_stream(stream, "pass").pieces, Options())
    return sorted(f"{pod.ref.kind}/{pod.ref.name}" for one in found.documents for pod in one.pods)


def placed(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same, each pod on the one architecture of its image."""
    wanted = copy.deepcopy(objects)
    for one in wanted:
        spec = one
        for step in _SPECS[one["kind"]]:
            spec = spec[step]
        if spec is not one:
            spec["affinity"] = _AFFINITY
    return wanted


@pytest.mark.parametrize(("stream", "created", "beside"), CREATED)
def test_what_kubectl_creates_is_seen(recorder, stream, created, beside):
    data = stream.encode()
    before = sent(recorder, data)
    assert (names(before), recorder.said.count("error")) == (created.split(), 0)
    assert judged(data) == sorted([*pods_among(created), *beside.split()])
    assert sent(recorder, edited(data).data) == placed(before)
    assert edited(data, NOTHING_WANTED).data == data


@pytest.mark.parametrize(("stream", "created", "beside"), REFUSED_BY_KUBECTL)
def test_what_kubectl_refuses_others_may_take(recorder, stream, created, beside):
    data = stream.encode()
    assert names(sent(recorder, data)) == created.split()
    assert recorder.said
    assert judged(data) == sorted([*pods_among(created), *beside.split()])


@pytest.mark.parametrize(("stream", "created"), REFUSED_BY_ARCHFIT)
def test_what_cannot_be_judged_is_refused(recorder, stream, created):
    assert names(sent(recorder, stream.encode())) == created.split()
    with pytest.raises(Failed):
        edited(stream.encode())
