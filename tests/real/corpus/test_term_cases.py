"""Terms, nodes and what admission adds: streams that archfit once got wrong.

Every output is judged by the scheduler's own code, and a second run changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from tests.real.corpus.placement_cases import PLATFORMS, case, described

from archfit.workloads.node_selectors import ANNOTATION

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from corpus_streams import Oracle

ARCH, REQUIRED = "kubernetes.io/arch", "requiredDuringSchedulingIgnoredDuringExecution"


def added(stream: bytes) -> list[dict[str, Any]]:
    """What decides the place of each pod of a stream's Deployments."""
    specs = [
        one["spec"]["template"]["spec"] for one in yaml.safe_load_all(stream) if one["kind"] == "Deployment"
    ]
    return [{key: spec[key] for key in ("affinity", "tolerations") if key in spec} for spec in specs]


def expressions(stream: bytes) -> list[tuple[str, list[str]]]:
    """(operator, values) of each requirement on the architecture, in order."""
    required = [one["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] for one in added(stream)]
    asked = [one for terms in required for term in terms for one in term["matchExpressions"]]
    return [(one["operator"], one["values"]) for one in asked if one["key"] == ARCH]


@pytest.mark.parametrize(
    ("name", "archs"),
    [
        ("virtual-kubelet-burst", ("amd64", "arm64")),
        ("two-os-term", ("amd64", "arm64")),
        ("multi-arch-taint-lost", ("amd64", "arm64", "s390x")),
        ("prefer-with-unasked", ("amd64", "arm64")),
        ("spread-affinity-ignore", ("amd64", "arm64")),
    ],
)
def test_the_scheduler_agrees_and_a_second_run_changes_nothing(
    name: str, archs: tuple[str, ...], oracle: Oracle, tmp_path: Path
) -> None:
    one = case(name)
    after = one.ran().ok()
    nodes = (oracle.folder / "nodes.json").read_bytes()
    if "arch=:NoSchedule@arm64,s390x" in one.options:
        nodes = nodes.replace(b'"key": "kubernetes.io/arch", "value": "arm64"', b'"key": "arch", "value": ""')
    (tmp_path / "nodes.json").write_bytes(nodes)
    policy: Any = {"archTaints": [{"key": "arch", "value": "", "effect": "NoSchedule"}]}
    verdict = oracle(
        one.stream, after, platforms=PLATFORMS, archs=archs, policy=policy, nodes=tmp_path / "nodes.json"
    )
    assert verdict.violations == []
    assert one.ran(stream=after).ok() == after


def test_virtual_nodes_stay_reachable() -> None:
    assert expressions(case("virtual-kubelet-burst").ran().ok()) == [("NotIn", ["arm64"])]


def test_a_term_of_two_systems_gets_what_is_safe_on_both() -> None:
    ran = case("two-os-term").ran()
    assert expressions(ran.ok()) == [("In", ["arm64"])]
    assert "it keeps arm64 and loses windows/amd64, where the images run too" in ran.stderr


def test_a_taint_of_several_architectures_is_tolerated_where_the_others_are_shut_out() -> None:
    toleration = {"effect": "NoSchedule", "key": "arch", "operator": "Equal"}
    after = case("multi-arch-taint-lost").ran().ok()
    assert [one["tolerations"] for one in added(after)] == [[toleration], [toleration]]
    assert expressions(after) == [("In", ["arm64"]), ("In", ["amd64", "arm64"])]


def test_nothing_is_preferred_beside_an_image_that_nobody_knows() -> None:
    one = case("prefer-with-unasked")
    assert one.options
    assert one.ran().ok() == one.stream


def test_the_selector_of_a_runtime_class_is_a_demand() -> None:
    ran = case("runtimeclass-pin").ran()
    assert (ran.status, ran.stdout) == (1, b"")
    assert (
        "apps/v1/Deployment/rc spec.template.spec.runtimeClassName: pinned to arm64 by the nodeSelector of "
        "RuntimeClass arm, but r/amd offers only amd64"
    ) in ran.stderr


CLASS = b"""\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: arm}
handler: runc
"""
PINNED = b"scheduling: {nodeSelector: {kubernetes.io/arch: arm64}}\n"
TOLERANT = b"scheduling: {tolerations: [{key: kubernetes.io/arch, operator: Exists}]}\n"
POD = b"""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: rc, namespace: shop}
spec: {template: {spec: {runtimeClassName: arm, containers: [{name: a, image: r/both}]}}}
"""
PLACED = "Deployment spec.template.spec: amd64 arm64"


@pytest.mark.parametrize(
    ("stream", "image", "placed"),
    [
        pytest.param(CLASS + PINNED + b"---\n" + POD, b"r/arm", f"{PLACED} tolerates arm64", id="it-pins-no-affinity"),
        pytest.param(POD + b"---\n" + CLASS + PINNED, b"r/arm", f"{PLACED} tolerates arm64", id="it-comes-later"),
        pytest.param(CLASS + b"---\n" + POD, b"r/amd", "Deployment spec.template.spec: amd64", id="it-says-nothing"),
        pytest.param(CLASS + TOLERANT + b"---\n" + POD, b"r/both", PLACED, id="it-tolerates-already"),
        pytest.param(
            CLASS.replace(b"name: arm", b"name: x") + PINNED + b"---\n" + POD, b"r/amd",
            "Deployment spec.template.spec: amd64", id="another-class",
        ),
        pytest.param(
            CLASS + b"scheduling: [broken\n---\n" + POD, b"r/amd", "Deployment spec.template.spec: amd64", id="no-yaml"
        ),
        pytest.param(
            CLASS + PINNED.replace(b"arch: arm64", b"os: windows") + b"---\n" + POD, b"r/win", PLACED, id="windows"
        ),
    ],
)  # fmt: skip
def test_runtime_classes(stream: bytes, image: bytes, placed: str) -> None:
    given = stream.replace(b"r/both", image)
    after = case("runtimeclass-pin").ran(stream=given).ok()
    pods = after if b"broken" not in after else after[after.index(b"---\n") :]
    assert list(described(pods)) == [placed]


@pytest.mark.parametrize("form", ["List", "RuntimeClassList", "json"])
def test_runtime_classes_in_lists(form: str) -> None:
    import json

    items = [yaml.safe_load(CLASS + PINNED), yaml.safe_load(POD.replace(b"r/both", b"r/amd"))]
    pod = {"apiVersion": "v1", "kind": "List", "items": items[1:]}
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    if form == "RuntimeClassList":
        bare = {key: value for key, value in items[0].items() if key not in ("kind", "apiVersion")}
        stream = yaml.safe_dump_all([{"apiVersion": "node.k8s.io/v1", "kind": form, "items": [bare]}, pod])
    else:
        stream = json.dumps(listed) if form == "json" else yaml.safe_dump(listed)
    ran = case("runtimeclass-pin").ran(stream=stream.encode())
    assert ran.status == 1
    assert "pinned to arm64 by the nodeSelector of RuntimeClass arm" in ran.stderr


def namespace(selector: str, name: str = "shop") -> bytes:
    note = f"{{{ANNOTATION}: '{selector}'}}"
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, annotations: {note}}}\n---\n".encode()


@pytest.mark.parametrize(
    ("before", "warned"),
    [
        pytest.param(namespace("kubernetes.io/arch=arm64"), True, id="it-leads-away"),
        pytest.param(namespace("pool=a, beta.kubernetes.io/arch=arm64"), True, id="among-others"),
        pytest.param(namespace("kubernetes.io/arch=amd64"), False, id="it-agrees"),
        pytest.param(namespace("pool=a"), False, id="no-architecture"),
        pytest.param(namespace("kubernetes.io/arch=arm64", "other"), False, id="another-namespace"),
    ],
)
def test_the_selector_of_a_namespace_takes_nothing_away(before: bytes, *, warned: bool) -> None:
    """Its admission plugin is off by default: the edits are those without it."""
    pod = POD.replace(b"r/both", b"r/amd")
    alone, ran = case("runtimeclass-pin").ran(stream=pod), case("runtimeclass-pin").ran(stream=before + pod)
    assert ran.ok() == before + alone.ok()
    assert ("Namespace shop selects nodes of arm64" in ran.stderr) is warned
