"""Where pods may go, by the labels of nodes and pools: what it keeps off, and what nobody says."""

from typing import Any

import pytest
from tests.audit.audit_clusters import BOTH
from tests.audit.cluster_objects import node, pod

from archfit.audit.findings import AuditFindings, findings
from archfit.audit.plan.waves import Wave
from archfit.audit.report.markdown import render as markdown
from archfit.audit.report.open_questions import pin_sentences, placement_sentences
from archfit.audit.report.text import render as text
from archfit.audit.running.collect import Collector
from archfit.facts.facts import AuditFacts
from archfit.options.settings import Options

GROUP = "eks.amazonaws.com/nodegroup"
NODES = (node("a", labels={GROUP: "general", "disk": "ssd"}), node("b", "arm64", labels={GROUP: "graviton"}))


def audited(*values: Any, **more: Any) -> AuditFindings:
    collector = Collector("lists", "c", Options())
    for value in values:
        collector.add(value)
    facts: AuditFacts = collector.facts()
    known = (one.replace(answer="Found", architectures=BOTH) for one in facts.images)
    return findings(facts.replace(images=tuple(known)), **more)


def node_pool(*requirements: tuple[str, str, list[str]], name: str = "arm") -> dict[str, Any]:
    arm = ("kubernetes.io/arch", "In", ["arm64"])
    stated = [
        {"key": key, "operator": operator, "values": values} for key, operator, values in (arm, *requirements)
    ]
    spec = {"template": {"spec": {"requirements": stated}}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def machines(labels: str) -> dict[str, Any]:
    notes = {"capacity.cluster-autoscaler.kubernetes.io/labels": labels}
    kind = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment"}
    return {
        **kind,
        "metadata": {"name": "m", "namespace": "ns", "annotations": notes},
        "spec": {"replicas": 1},
    }


def selecting(key: str, value: str) -> dict[str, Any]:
    return {"nodeSelector": {key: value}}


def requiring(*expressions: tuple[str, str, list[str]]) -> dict[str, Any]:
    terms = [
        {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        for key, operator, values in expressions
    ]
    return {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        }
    }


def the_wave(found: AuditFindings) -> Wave:
    (wave,) = (wave for wave in (*found.waves[0].waves, found.waves[0].unknown) if wave.owner_count)
    return wave


GRAVITON = selecting(GROUP, "graviton")


@pytest.mark.parametrize(
    ("spec", "places", "lack"),
    [
        pytest.param({}, NODES, None, id="asks for nothing"),
        pytest.param(GRAVITON, NODES, None, id="an arm64 node has it"),
        pytest.param(selecting(GROUP, "general"), NODES, (f"{GROUP}=general", "1 amd64 node"), id="amd64 nodes alone have it"),
        pytest.param(selecting(GROUP, "gone"), NODES, (f"{GROUP}=gone", ""), id="nobody has it"),
        pytest.param({"nodeSelector": {GROUP: "graviton", "disk": "ssd"}}, NODES, ("disk=ssd", "1 amd64 node"), id="one of two labels"),
        pytest.param(requiring(("disk", "In", ["ssd", "hdd"])), NODES, ("disk in (ssd,hdd)", "1 amd64 node"), id="In"),
        pytest.param(requiring(("disk", "Exists", [])), NODES, ("disk", "1 amd64 node"), id="Exists"),
        pytest.param(requiring((GROUP, "NotIn", ["graviton"])), NODES, (f"{GROUP}!=graviton", "1 amd64 node"), id="NotIn"),
        pytest.param(requiring((GROUP, "DoesNotExist", [])), NODES, (f"!{GROUP}", ""), id="DoesNotExist"),
        pytest.param(requiring(("disk", "NotIn", ["ssd"])), NODES, None, id="a node without the label is not in it"),
        pytest.param(requiring(("disk", "Exists", []), (GROUP, "In", ["graviton"])), NODES, None, id="one of two terms holds"),
        pytest.param(selecting("kubernetes.io/hostname", "a"), (*NODES, node("c", labels={"kubernetes.io/hostname": "a"})), ("kubernetes.io/hostname=a", "1 amd64 node"), id="the name of a node"),
        pytest.param(selecting("disk", "ssd"), (*NODES, node("v", "arm64", labels={"disk": "ssd", "type": "virtual-kubelet"})), ("disk=ssd", "1 amd64 node"), id="a virtual node is no place"),
        pytest.param(selecting("disk", "ssd"), (*NODES, node("n", "arm64", labels={"disk": "ssd"}, ready="False")), None, id="a node that is not Ready has its labels"),
        pytest.param(selecting("disk", "ssd"), (NODES[0], node_pool(("disk", "In", ["ssd"]))), None, id="a NodePool states it"),
        pytest.param(selecting("disk", "ssd"), (NODES[0], node_pool(("disk", "In", ["hdd"]))), ("disk=ssd", "1 amd64 node"), id="a NodePool states another"),
        pytest.param(selecting("disk", "ssd"), (NODES[0], node_pool()), ("disk=ssd", "1 amd64 node"), id="a NodePool has no other labels"),
        pytest.param(selecting("karpenter.sh/nodepool", "arm"), (NODES[0], node_pool()), None, id="the name of a NodePool"),
        pytest.param(selecting("karpenter.sh/nodepool", "x86"), (NODES[0], node_pool()), ("karpenter.sh/nodepool=x86", ""), id="the name of another NodePool"),
        pytest.param(selecting("disk", "ssd"), (NODES[0], machines("kubernetes.io/arch=arm64,disk=ssd")), None, id="machines state it"),
        pytest.param(selecting("disk", "ssd"), (NODES[0], machines("kubernetes.io/arch=arm64,disk=hdd")), ("disk=ssd", "1 amd64 node"), id="machines state another"),
        pytest.param(selecting("kubernetes.io/arch", "amd64"), NODES, None, id="the architecture is no such label"),
    ],
)  # fmt: skip
def test_a_label_that_no_place_has_keeps_pods_off(spec, places, lack):
    found = audited(pod("p", node="a", spec=spec), *places, required=())
    (row,) = found.workloads
    stated = row.lacks[0] if row.lacks else None
    assert (None if stated is None else (stated.labels, stated.having)) == lack
    pinned = lack is not None or spec == selecting("kubernetes.io/arch", "amd64")
    assert row.goes_to("arm64") is not pinned
    assert the_wave(found).number == (4 if pinned else 1)
    assert found.readiness[0].pinned.pods == pinned


@pytest.mark.parametrize(
    ("spec", "places", "sentence"),
    [
        pytest.param(selecting("disk", "ssd"), NODES[:1], "Not known for shop/Pod/p: whether arm64 nodes have disk=ssd.", id="no node of the architecture"),
        pytest.param(selecting("disk", "ssd"), (), "Not known for shop/Pod/p: whether arm64 nodes have disk=ssd.", id="no node at all"),
        pytest.param(selecting("disk", "ssd"), (NODES[0], machines("kubernetes.io/arch=arm64")), "Not known for shop/Pod/p: whether arm64 nodes have disk=ssd.", id="a pool without the label"),
        pytest.param(selecting("topology.kubernetes.io/zone", "a"), (NODES[0], node_pool()), "Not known for shop/Pod/p: whether arm64 nodes have topology.kubernetes.io/zone=a.", id="a label that the cloud writes"),
        pytest.param(GRAVITON, NODES, "", id="a node has it"),
        pytest.param(selecting("disk", "ssd"), NODES, "Kept off arm64 by a label: shop/Pod/p. disk=ssd is on 1 amd64 node, and on no arm64 node or pool.", id="kept off"),
        pytest.param(selecting("kubernetes.io/arch", "amd64"), NODES, "Kept off arm64 by their own nodeSelector or affinity, though their images run there: shop/Pod/p.", id="pinned"),
        pytest.param(selecting("disk", "hdd"), NODES, "Kept off arm64 by a label: shop/Pod/p. disk=hdd is on no node or pool that was read.", id="on nothing"),
    ],
)  # fmt: skip
def test_what_the_input_does_not_say_of_labels_is_said_and_never_guessed(spec, places, sentence):
    found = audited(pod("p", node="a", spec=spec), *places)
    said = " ".join((*placement_sentences(found), *pin_sentences(found)))
    assert said.startswith(sentence) if sentence else not said
    assert the_wave(found).number == (4 if sentence.startswith("Kept") else 1)
    for form in (text(found).decode(), markdown(found).decode()):
        assert not sentence or sentence.partition(":")[0] in " ".join(form.split())


def test_room_and_what_is_done_are_counted_on_places_that_have_the_labels():
    beside = node("c", "arm64", labels={"disk": "ssd"}, taints=[{"key": "db", "effect": "NoSchedule"}])
    on_ssd = pod("p", node="a", spec=selecting("disk", "ssd"))
    found = audited(on_ssd, *NODES, beside)
    (loss,) = (loss for loss in found.capacity.losses if loss.architecture == "amd64")
    assert (the_wave(found).number, the_wave(found).done, loss.moving.pods, loss.free_pods) == (1, 0, 1, 0)
    free = node("d", "arm64", labels={"disk": "ssd"})
    found = audited(on_ssd, *NODES, beside, free)
    (loss,) = (loss for loss in found.capacity.losses if loss.architecture == "amd64")
    assert (the_wave(found).done, loss.free_pods) == (1, 110)


_LOOP = {
    "name": "app",
    "ready": False,
    "restartCount": 9,
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
}


@pytest.mark.parametrize(
    ("status", "counted"),
    [
        pytest.param({"conditions": [{"type": "Ready", "status": "True"}]}, (), id="it runs"),
        pytest.param({"conditions": [{"type": "Ready", "status": "False"}]}, (("unready", 1),), id="not Ready"),
        pytest.param({"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [_LOOP]}, (("crashing", 1),), id="a crash loop where there is one architecture"),
        pytest.param({"phase": "Pending"}, (("pending", 1),), id="pending"),
        pytest.param({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}, (("unschedulable", 1),), id="no node takes it"),
    ],
)  # fmt: skip
def test_what_does_not_run_is_not_done_and_is_counted_beside_it(status, counted):
    for at in ("b", ""):
        wave = the_wave(found := audited(pod("p", node=at, status=status), NODES[1]))
        assert (wave.allowed, wave.done, wave.not_running) == (1, not counted, counted)
        assert wave.there == (bool(at) and not counted)
        assert ("Pods that do not run" in text(found).decode()) is bool(counted)


FORMAT = "exec format error"


def _container(
    *, ready: bool = False, image_id: str = "x@sha256:" + "a" * 64, message: str = FORMAT
) -> dict[str, Any]:
    state = {"running": {}} if ready else {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    return {"containerStatuses": [{"name": "app", "ready": ready, "imageID": image_id, "state": state}]}


TWO = (node("a1"), node("a2"), node("b", "arm64"))
MARK = {"multiarch.openshift.io/exec-format-error": "true"}


@pytest.mark.parametrize(
    ("pods", "states", "damaged"),
    [
        pytest.param([("a2", _container())], ("yes", "fails"), [], id="nowhere Ready"),
        pytest.param([("a1", _container(ready=True)), ("a2", _container())], ("yes", "yes"), ["a2"], id="Ready on another node"),
        pytest.param([("b", _container(ready=True)), ("a2", _container())], ("yes", "fails"), [], id="Ready on another architecture"),
        pytest.param([("a1", _container(ready=True, image_id="x@sha256:" + "b" * 64)), ("a2", _container())], ("yes", "fails"), [], id="what is Ready is another build of the tag"),
        pytest.param([("a1", _container(ready=True)), ("a2", _container(image_id="", message="no match for platform in manifest: not found"))], ("yes", "yes"), ["a2"], id="the other cannot be pulled"),
        pytest.param([("a1", _container(ready=True)), ("a2", _container(message="back-off"))], ("yes", "yes"), [], id="no evidence"),
    ],
)  # fmt: skip
def test_a_failure_is_the_nodes_where_the_image_is_ready_on_its_architecture(pods, states, damaged):
    made = [pod(f"p{number}", node=at, status=status) for number, (at, status) in enumerate(pods)]
    found = audited(*made, *TWO)
    assert found.images[0].states == states
    assert [one.node for one in found.builds.damaged] == damaged
    for form in (text(found), markdown(found)):
        assert " ".join(form.decode().split()).count("crictl rmi") == len(damaged)


def test_the_label_of_openshifts_operator_is_evidence_for_what_does_not_run():
    silent = _container(message="back-off")
    for labels, status, state in (
        (MARK, silent, "fails"),
        ({}, silent, "yes"),
        (MARK, _container(ready=True), "yes"),
    ):
        assert audited(pod("p", node="a1", status=status, labels=labels), *TWO).images[0].states[1] == state
