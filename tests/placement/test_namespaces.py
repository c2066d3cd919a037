"""What the annotations of a Namespace say about nodes and tolerations, and a toleration that holds for some seconds."""

import json

import pytest

from archfit.options.settings import Options
from archfit.options.taints import toleration_rule
from stream_edits import edited, placed

ALPHA = "scheduler.alpha.kubernetes.io/"
ADDED = ", tolerations: [{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]"
NARROWED = (
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}"
)
OURS = {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
OTHER = {"key": "dedicated", "operator": "Exists"}


def stream(
    annotations: dict[str, str],
    image: str = "both:1",
    *,
    kind: str = "v1 Namespace",
    more: str = "",
    name: str = "a",
) -> bytes:
    """A Namespace with annotations, and a Deployment in a. more: members of its pod spec."""
    version, _, space = kind.partition(" ")
    metadata = f"{{name: {name}, annotations: {json.dumps(annotations)}}}"
    return (
        f"apiVersion: {version}\nkind: {space}\nmetadata: {metadata}\n---\n"
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\nspec:\n"
        f"  template: {{spec: {{containers: [{{name: web, image: '{image}'}}]{more}}}}}\n"
    ).encode()


def warnings(data: bytes, options: Options | None = None) -> list[str]:
    results = edited(data, options).edits.messages
    return [result.text for result in results if result.severity == "warning"]


@pytest.mark.parametrize(
    ("annotations", "kind", "warning"),
    [
        ({"openshift.io/node-selector": "kubernetes.io/arch=arm64"}, "v1 Namespace", "in OpenShift, it stays Pending"),
        (
            {"openshift.io/node-selector": "disk=, beta.kubernetes.io/arch=arm64"},
            "project.openshift.io/v1 Project",
            "selects nodes of arm64 (annotation openshift.io/node-selector), but the pod can run on amd64 alone",
        ),
        ({"openshift.io/node-selector": "kubernetes.io/arch=amd64"}, "v1 Namespace", ""),
        ({"openshift.io/node-selector": "region=west"}, "v1 Namespace", ""),
        ({"openshift.io/node-selector": ""}, "v1 Namespace", ""),
        (
            {f"{ALPHA}node-selector": "kubernetes.io/arch=arm64", "openshift.io/node-selector": ""},
            "v1 Namespace",
            "where the admission plugin PodNodeSelector is on",
        ),
        # OpenShift's own plugin steps back where the other annotation is there.
        ({f"{ALPHA}node-selector": "", "openshift.io/node-selector": "kubernetes.io/arch=arm64"}, "v1 Namespace", ""),
    ],
)  # fmt: skip
def test_a_node_selector_of_the_namespace_warns_and_takes_no_edit_back(judge, annotations, kind, warning):
    data = stream(annotations, "amd:1", kind=kind)
    assert placed(judge, data) == data.replace(b"'amd:1'}]", b"'amd:1'}]" + NARROWED.encode())
    messages = warnings(data)
    assert len(messages) == bool(warning)
    assert warning in "".join(messages)


def test_the_selector_of_another_namespace_says_nothing():
    data = stream({"openshift.io/node-selector": "kubernetes.io/arch=arm64"}, "amd:1", name="b")
    assert warnings(data) == []


def whitelist(*tolerations: object, defaults: tuple[object, ...] = ()) -> dict[str, str]:
    more = {f"{ALPHA}defaultTolerations": json.dumps(defaults)} if defaults else {}
    return {f"{ALPHA}tolerationsWhitelist": json.dumps(tolerations), **more}


ALLOWED = [
    pytest.param(whitelist(), id="nothing in it: all are allowed"),
    pytest.param({f"{ALPHA}tolerationsWhitelist": ""}, id="empty: all are allowed"),
    pytest.param({f"{ALPHA}tolerationsWhitelist": "null"}, id="null: all are allowed"),
    pytest.param(whitelist(OTHER, OURS), id="the same"),
    pytest.param(whitelist({**OURS, "operator": ""}), id="no operator means Equal"),
    pytest.param(whitelist({"operator": "Exists"}), id="every taint"),
    pytest.param(whitelist({"key": "kubernetes.io/arch", "operator": "Exists"}), id="every value and effect"),
    pytest.param(whitelist({**OURS, "effect": ""}), id="every effect"),
    pytest.param(
        whitelist(OTHER, defaults=({"key": "kubernetes.io/arch", "operator": "Exists"},)),
        id="a default toleration takes its place before the whitelist is asked",
    ),
]
REFUSED = [
    pytest.param(whitelist(OTHER), id="another key"),
    pytest.param(whitelist({**OURS, "value": "amd64"}), id="another value"),
    pytest.param(whitelist({**OURS, "effect": "NoExecute"}), id="another effect"),
    pytest.param(whitelist({**OURS, "key": ""}), id="an empty key with Equal"),
    pytest.param(whitelist({**OURS, "operator": "Gt"}), id="an operator that the plugin does not know"),
    pytest.param(whitelist(OTHER, defaults=(OTHER,)), id="a default toleration of another taint"),
]


@pytest.mark.parametrize("annotations", ALLOWED)
def test_a_toleration_that_the_whitelist_allows_is_written(judge, annotations):
    data = stream(annotations)
    assert placed(judge, data) == data.replace(b"'both:1'}]", b"'both:1'}]" + ADDED.encode())
    assert warnings(data) == []


@pytest.mark.parametrize("annotations", REFUSED)
def test_a_toleration_that_the_whitelist_refuses_is_not_written_and_said(judge, annotations):
    data = stream(annotations)
    assert placed(judge, data) == data
    (message,) = warnings(data)
    assert message.startswith("the toleration of kubernetes.io/arch=arm64:NoSchedule is not written:")
    assert "tolerationsWhitelist of Namespace a does not allow it" in message


def test_an_affinity_is_written_as_before(judge):
    data = stream(whitelist(OTHER), "arm:1")
    narrowed = NARROWED.replace("[amd64]", "[arm64]")
    assert placed(judge, data) == data.replace(b"'arm:1'}]", b"'arm:1'}]" + narrowed.encode())
    assert len(warnings(data)) == 1
    assert warnings(stream(whitelist(OTHER), "amd:1")) == []


def test_a_toleration_that_the_pod_has_already_is_the_users_affair():
    data = stream(whitelist(OTHER), more=f", tolerations: [{json.dumps(OURS)}]")
    assert edited(data).data == data
    assert warnings(data) == []


@pytest.mark.parametrize("text", ["{", '{"key": "a"}', "[1]", "[" * 3000])
def test_a_whitelist_that_nobody_can_read_is_said(judge, text):
    data = stream({f"{ALPHA}tolerationsWhitelist": text})
    assert placed(judge, data) == data.replace(b"'both:1'}]", b"'both:1'}]" + ADDED.encode())
    (message,) = warnings(data)
    assert "is not a JSON list of tolerations" in message


EXECUTED = Options(tolerate=(toleration_rule("arch=arm64:NoExecute"),))


@pytest.mark.parametrize(
    ("tolerations", "warned"),
    [
        ("{key: arch, operator: Exists, effect: NoExecute, tolerationSeconds: 30}", True),
        ("{key: arch, value: arm64, effect: NoExecute, tolerationSeconds: 0}", True),
        ("{key: arch, operator: Exists, effect: NoExecute}", False),
        (
            "{key: arch, operator: Exists, effect: NoExecute, tolerationSeconds: 30}, {operator: Exists}",
            False,
        ),
    ],
)
def test_a_toleration_for_some_seconds_covers_and_is_said(judge, tolerations, warned):
    data = stream({}, more=f", tolerations: [{tolerations}]")
    assert placed(judge, data, EXECUTED) == data
    messages = warnings(data, EXECUTED)
    assert [one.startswith("this toleration covers arch=arm64:NoExecute for ") for one in messages] == [
        True
    ] * warned


def test_a_toleration_for_some_seconds_of_another_taint_says_nothing():
    data = stream(
        {}, more=", tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 3}]"
    )
    assert warnings(data, EXECUTED) == []
