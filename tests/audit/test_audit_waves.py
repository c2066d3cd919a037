"""The waves of a migration: which wave a workload is in, what each needs, and how much of it is done."""

import csv
import io
import json
from typing import Any

import pytest
from tests.audit import audit_clusters
from tests.audit.audit_clusters import BOTH, asking, node, uses
from tests.audit.cluster_objects import pod, workload

from archfit.audit.amount import cpu_text
from archfit.audit.findings import AuditFindings, findings
from archfit.audit.plan.waves import NOT_KNOWN
from archfit.audit.report import csv as audit_csv
from archfit.audit.report import json as audit_json
from archfit.audit.report import markdown as audit_markdown
from archfit.audit.report import text as audit_text
from archfit.audit.report.words import filled
from archfit.audit.running.collect import Collector
from archfit.facts.facts import AuditFacts, ImageFacts, Snapshot, Term, WorkloadFacts
from archfit.images.candidates import NewerTag

ONE = "0" * 16
HUB = "docker.io/acme/app:1"
OWN = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/app:1"
OTHER = "acme.azurecr.io/web:1"
TAINT = "kubernetes.io/arch=arm64:NoSchedule"
TOLERATED = (("kubernetes.io/arch", "Equal", "arm64", "NoSchedule"),)
ALL = (("", "Exists", "", ""),)


def row(name: str = "web", **more: Any) -> WorkloadFacts:
    images = more.pop("images", (OWN,))
    given = {"pods": 2, "cpu": 1000, "runs_on": (("amd64", 2),), **more}
    return WorkloadFacts(
        ONE,
        "shop",
        given.pop("kind", "Deployment"),
        name,
        given.pop("standing", "running"),
        uses(list(images)),
        **given,
    )


def audited(*rows: WorkloadFacts, nodes: Any = (), known: Any = None, **more: Any) -> AuditFindings:
    """The findings for these rows. known: reference -> architectures or an answer; else both."""
    references = sorted({use.reference for one in rows for use in one.images})
    images = tuple(image(one, (known or {}).get(one, BOTH)) for one in references)
    return findings(
        AuditFacts((Snapshot(ONE, "lists", "c", bool(nodes)),), tuple(nodes), rows, (), images), **more
    )


def image(reference: str, known: Any) -> ImageFacts:
    """known: as in audit_clusters, or an answer without its reference."""
    if isinstance(known, ImageFacts):
        return known.replace(reference=reference)
    return audit_clusters.image(reference, known)


def asked(
    tag: str = "", step: Any = "patch", read: Any = "complete", wanted: str = "arm64", **more: Any
) -> ImageFacts:
    """An image for amd64 whose newer tags were asked for. tag: that which was read to have both, "" for none."""
    platforms = ("linux/arm64",) if step == "sibling" else ("linux/amd64", "linux/arm64")
    tags = (NewerTag(tag, "sha256:" + "a" * 64, step, platforms, **more),) if tag else ()
    return audit_clusters.image("x", AMD).replace(newer=tags, newer_read=read, newer_for=wanted)


AMD = ("amd64",)
GPU = ("nvidia.com/gpu",)


@pytest.mark.parametrize(
    ("rows", "known", "nodes", "wave"),
    [
        pytest.param([row()], {}, [], 1, id="ready"),
        pytest.param([row()], {OWN: AMD}, [], 3, id="an own image lacks it"),
        pytest.param([row()], {OWN: "Absent"}, [], 3, id="an own image is gone"),
        pytest.param([row(images=[HUB])], {HUB: AMD}, [], NOT_KNOWN, id="an image of others lacks it"),
        pytest.param([row(images=[HUB])], {HUB: "Absent"}, [], NOT_KNOWN, id="an image of others is gone"),
        pytest.param([row(images=[OWN, HUB])], {OWN: AMD, HUB: AMD}, [], NOT_KNOWN, id="one of each lacks it"),
        pytest.param([row(images=[OWN, HUB])], {OWN: AMD}, [], 3, id="the image of others is ready"),
        pytest.param([row(kind="StatefulSet")], {}, [], 4, id="a StatefulSet that is ready"),
        pytest.param([row(kind="StatefulSet")], {OWN: AMD}, [], 4, id="a StatefulSet that lacks an own image"),
        pytest.param([row(kind="StatefulSet", images=[HUB])], {HUB: asked()}, [], 5, id="a StatefulSet that lacks an image of others"),
        pytest.param([row(terms=asking("amd64"))], {}, [], 4, id="pinned elsewhere"),
        pytest.param([row(terms=asking(*BOTH))], {}, [], 1, id="pinned to both"),
        pytest.param([row(terms=(Term((), AMD),))], {OWN: AMD}, [], 3, id="what archfit writes for its images pins nothing"),
        pytest.param([row(terms=asking("amd64"))], {OWN: AMD}, [], 4, id="a nodeSelector pins"),
        pytest.param([row(terms=(Term((), AMD),))], {}, [], 4, id="a term that the images do not ask for pins"),
        pytest.param([row(devices=GPU)], {}, [], 5, id="a device, and no nodes"),
        pytest.param([row(devices=GPU)], {}, [node("a", "arm64")], 5, id="a device that no node has"),
        pytest.param([row(devices=GPU)], {}, [node("a", "amd64", devices=GPU)], 5, id="a device of the other architecture"),
        pytest.param([row(devices=GPU)], {}, [node("a", "arm64", devices=GPU)], 1, id="a device that a node has"),
        pytest.param([row(devices=(*GPU, "vendor.example/nic"))], {}, [node("a", "arm64", devices=GPU)], 5, id="one of two devices"),
        pytest.param([row(devices=GPU)], {}, [node("a", "arm64", devices=GPU, virtual=True)], 5, id="a device of a virtual node"),
        pytest.param([row(standing="daemonset", kind="DaemonSet")], {}, [], 0, id="a DaemonSet that is ready"),
        pytest.param([row(standing="daemonset", kind="DaemonSet", images=[HUB])], {HUB: AMD}, [], 0, id="a DaemonSet that is blocked"),
        pytest.param([row(standing="daemonset", kind="DaemonSet", devices=GPU)], {}, [], 0, id="a DaemonSet with a device"),
        pytest.param([row(standing="daemonset", kind="DaemonSet", terms=asking("amd64"))], {}, [], None, id="a DaemonSet elsewhere"),
        pytest.param([row(standing="daemonset", kind="DaemonSet")], {OWN: "Unknown"}, [], NOT_KNOWN, id="a DaemonSet not known"),
        pytest.param([row(standing="daemonset", kind="DaemonSet", images=[OWN, HUB])], {OWN: "Unknown", HUB: AMD}, [], 0, id="a DaemonSet that is blocked whatever is not known"),
        pytest.param([row()], {OWN: "Unknown"}, [], NOT_KNOWN, id="not known"),
        pytest.param([row(images=[OWN, HUB])], {OWN: "Unknown", HUB: AMD}, [], NOT_KNOWN, id="blocked and not known"),
        pytest.param([row(kind="StatefulSet")], {OWN: "Unknown"}, [], NOT_KNOWN, id="a StatefulSet not known"),
        pytest.param([row(devices=GPU)], {OWN: "Unknown"}, [], NOT_KNOWN, id="a device, and not known"),
        pytest.param([row(standing="idle", pods=0, runs_on=())], {OWN: AMD}, [], 3, id="without pods now"),
        pytest.param([row(standing="gated")], {}, [], 1, id="held back by a gate"),
        pytest.param([row(standing="finished")], {}, [], None, id="finished"),
        pytest.param([row(standing="mirror")], {}, [], None, id="a static pod"),
        pytest.param([row(standing="windows")], {}, [], None, id="for Windows"),
        pytest.param([row(), row(images=[OTHER])], {OTHER: AMD}, [], 3, id="two revisions: the worse one"),
        pytest.param([row(), row(images=[OTHER], standing="old", pods=0)], {OTHER: AMD}, [], 1, id="an earlier revision does not count"),
    ],
)  # fmt: skip
def test_the_wave_of_a_workload(rows, known, nodes, wave):
    found = audited(*rows, known=known, nodes=nodes)
    assert found.workloads[0].waves[0] == wave


@pytest.mark.parametrize(
    ("known", "wave"),
    [
        pytest.param({OWN: asked("2")}, 2, id="an own image"),
        pytest.param({HUB: asked("2")}, 2, id="an image of others"),
        pytest.param({HUB: asked("2", "major")}, 2, id="a larger step"),
        pytest.param({HUB: asked("2", exact=False)}, 2, id="at most"),
        pytest.param({HUB: asked("2", read="partial")}, 2, id="not all tags were read, but one has it"),
        pytest.param({OWN: asked("2"), HUB: asked("2")}, 2, id="both"),
        pytest.param({OWN: asked(), HUB: asked("2")}, 3, id="the own one has none"),
        pytest.param({OWN: AMD, HUB: asked("2")}, 3, id="nobody asked for the own one"),
        pytest.param({OWN: asked("2"), HUB: asked()}, 5, id="the one of others has none"),
        pytest.param({OWN: AMD, HUB: asked()}, 5, id="the one of others has none, whatever the own one has"),
        pytest.param({OWN: asked("2"), HUB: AMD}, NOT_KNOWN, id="nobody asked for the one of others"),
        pytest.param({HUB: asked("1-arm64", "sibling")}, 3, id="a sibling has to be joined"),
        pytest.param({HUB: asked("latest", "latest")}, 3, id="latest is no version"),
        pytest.param({HUB: asked()}, 5, id="no tag has it"),
        pytest.param({HUB: asked(read="partial")}, NOT_KNOWN, id="not all tags were read"),
        pytest.param({HUB: asked(read="no")}, NOT_KNOWN, id="no list of tags"),
        pytest.param({HUB: asked(wanted="s390x")}, NOT_KNOWN, id="asked for another architecture"),
    ],
)
def test_newer_tags_choose_between_waves(known, wave):
    found = audited(row(images=sorted(known)), known=known)
    assert found.workloads[0].waves[0] == wave


@pytest.mark.parametrize(
    ("image", "unasked", "still_open"),
    [
        pytest.param(AMD, 1, 0, id="nobody asked"),
        pytest.param(asked(wanted="s390x"), 1, 0, id="asked for another architecture"),
        pytest.param(asked(read="partial"), 0, 1, id="not all tags were read"),
        pytest.param(asked(read="no"), 0, 1, id="no list of tags"),
        pytest.param("Absent", 0, 1, id="no newer tag of what is absent can be asked for"),
        pytest.param(asked(), 0, 0, id="no tag has it"),
        pytest.param("Unknown", 0, 0, id="no answer"),
    ],
)
def test_nobody_asked_is_said_only_of_tags_that_nobody_asked_for(image, unasked, still_open):
    found = audited(row(images=[HUB]), known={HUB: image})
    assert (found.waves[0].unasked, found.waves[0].undecided) == (unasked, still_open)
    text = " ".join(audit_text.render(found).decode().split())
    assert ("nobody asked whether a newer tag" in text, "none is ruled out" in text) == (unasked, still_open)


@pytest.mark.parametrize(
    ("one", "nodes", "there", "allowed"),
    [
        pytest.param(row(), [], 0, 0, id="no nodes"),
        pytest.param(row(), [node("a", "amd64")], 0, 0, id="no node of the architecture"),
        pytest.param(row(), [node("a", "arm64")], 0, 2, id="a node without a taint"),
        pytest.param(row(), [node("a", "arm64", taints=(TAINT,))], 0, 0, id="its taint is not tolerated"),
        pytest.param(row(tolerations=TOLERATED), [node("a", "arm64", taints=(TAINT,))], 0, 2, id="its taint is tolerated"),
        pytest.param(row(tolerations=ALL), [node("a", "arm64", taints=(TAINT, "spot:NoExecute"))], 0, 2, id="all tolerated"),
        pytest.param(row(tolerations=TOLERATED), [node("a", "arm64", taints=(TAINT, "spot:NoExecute"))], 0, 0, id="one of two taints"),
        pytest.param(row(), [node("a", "arm64", taints=(TAINT,)), node("b", "arm64")], 0, 2, id="one node without a taint suffices"),
        pytest.param(row(), [node("a", "arm64", taints=("x:PreferNoSchedule",))], 0, 2, id="a taint that keeps nobody off"),
        pytest.param(row(), [node("a", "arm64", unschedulable=True)], 0, 0, id="a cordoned node"),
        pytest.param(row(), [node("a", "arm64", ready=False)], 0, 0, id="a node that is not Ready"),
        pytest.param(row(runs_on=(("amd64", 1), ("arm64", 1))), [node("a", "arm64", taints=(TAINT,))], 1, 1, id="one is there already"),
        pytest.param(row(terms=asking("amd64")), [node("a", "arm64")], 0, 0, id="pinned elsewhere"),
        pytest.param(row(devices=GPU), [node("a", "arm64")], 0, 0, id="a device is missing"),
    ],
)  # fmt: skip
def test_what_is_done(one, nodes, there, allowed):
    found = audited(one, nodes=nodes)
    (wave,) = (wave for wave in found.waves[0].waves if wave.owner_count)
    assert (wave.there, wave.allowed) == (there, allowed)


def test_a_node_of_another_cluster_allows_nothing():
    other = node("a", "arm64").replace(snapshot="1" * 16)
    (wave,) = (wave for wave in audited(row(), nodes=[other]).waves[0].waves if wave.owner_count)
    assert wave.allowed == 0


def title(one: Any) -> tuple[str, str, str]:
    return one.facts.namespace, one.facts.kind, one.facts.name


def test_those_that_are_not_ready_come_first_then_the_largest():
    rows = [row(f"web-{number}", cpu=number * 100) for number in range(8)]
    rows += [
        row("agent", kind="DaemonSet", standing="daemonset", cpu=1),
        row("logs", kind="DaemonSet", standing="daemonset", cpu=900),
        row("apm", kind="DaemonSet", standing="daemonset", cpu=2, images=[HUB]),
    ]
    plan = audited(*rows, known={HUB: AMD}).waves[0]
    assert plan.waves[1].owners == tuple(f"shop/Deployment/web-{number}" for number in (7, 6, 5, 4, 3))
    assert plan.waves[1].owner_count == 8
    assert plan.waves[0].owners == ("shop/DaemonSet/apm", "shop/DaemonSet/logs", "shop/DaemonSet/agent")
    assert (plan.waves[0].waiting, plan.waves[0].images) == (1, (HUB,))


def test_owners_of_two_clusters_with_one_name_are_named_once_and_counted_twice():
    found = findings(audit_clusters.shops(100, 2))
    wave = found.waves[0].waves[1]
    assert len(set(wave.owners)) == 5
    rows = [one for one in found.workloads if one.waves[0] == 1]
    assert wave.owner_count == len({(one.facts.snapshot, *title(one)) for one in rows})


def test_the_following_wave_is_the_first_with_pods_that_are_not_done():
    agent = row("agent", kind="DaemonSet", standing="daemonset", tolerations=ALL)
    tainted = [node("a", "arm64", taints=(TAINT,))]
    assert audited(agent, row(), nodes=tainted).waves[0].following.number == 1
    assert audited(agent, row(), nodes=[]).waves[0].following.number == 0
    assert audited(agent, row(tolerations=ALL), nodes=tainted).waves[0].following is None
    only = audited(row(images=[HUB]), known={HUB: AMD}, nodes=tainted)
    assert only.waves[0].following is None


# What is read of a cluster

REQUESTS: list[Any] = [
    pytest.param({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}, ["nvidia.com/gpu"], id="a limit"),
    pytest.param({"containers": [{"resources": {"requests": {"amd.com/gpu": "2"}}}]}, ["amd.com/gpu"], id="a request"),
    pytest.param({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 0}}}]}, [], id="none of them"),
    pytest.param({"containers": [{"resources": {"limits": {"cpu": 1, "memory": "1Gi", "ephemeral-storage": 1}}}]}, [], id="usual"),
    pytest.param({"containers": [{"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}]}, ["hugepages-2Mi"], id="huge pages"),
    pytest.param({"containers": [], "resources": {"limits": {"hugepages-1Gi": "1Gi"}}}, ["hugepages-1Gi"], id="of the pod"),
    pytest.param({"initContainers": [{"resources": {"limits": {"x.example/a": 1}}}]}, ["x.example/a"], id="an init container"),
    pytest.param({"containers": [{"resources": {"limits": {"node.kubernetes.io/x": 1}}}]}, [], id="Kubernetes' own"),
    pytest.param({"containers": [], "resourceClaims": [{"name": "gpu"}]}, ["resourceClaims"], id="a resource claim"),
    pytest.param({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "much"}}}]}, [], id="no quantity"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "devices"), REQUESTS)
@pytest.mark.parametrize("live", [False, True], ids=["manifest", "live"])
def test_the_devices_that_a_pod_needs(spec, devices, live):
    collector = Collector("lists", "x")
    value: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": spec,
    }
    for number, one in enumerate(spec.get("containers", []) + spec.get("initContainers", [])):
        one |= {"name": f"c{number}", "image": "nginx"}
    if live:
        value["status"] = {"phase": "Running"}
    collector.add(value)
    (workload,) = collector.facts().workloads
    assert list(workload.devices) == devices


SERVICE: Any = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": "shop"}}
SELECTING = {**SERVICE, "spec": {"selector": {"app": "web"}}}


def configuration(
    name: str = "hook", namespace: str = "shop", kind: str = "ValidatingWebhookConfiguration"
) -> Any:
    hook = {"name": "a.example", "clientConfig": {"service": {"name": name, "namespace": namespace}}}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "hooks"},
        "webhooks": [{"name": "b.example", "clientConfig": {"url": "https://b.example"}}, hook],
    }


@pytest.mark.parametrize("live", [False, True], ids=["manifest", "live"])
@pytest.mark.parametrize(
    ("others", "serves"),
    [
        pytest.param([configuration(), SELECTING], True, id="validating"),
        pytest.param([configuration(kind="MutatingWebhookConfiguration"), SELECTING], True, id="mutating"),
        pytest.param([SELECTING], False, id="no webhook"),
        pytest.param([configuration()], False, id="no Service"),
        pytest.param([configuration(), SERVICE], False, id="a Service without a selector"),
        pytest.param([configuration("other"), SELECTING], False, id="another Service"),
        pytest.param([configuration(namespace="else"), SELECTING], False, id="another namespace"),
        pytest.param([configuration(), {**SERVICE, "spec": {"selector": {"app": "web", "tier": "x"}}}], False, id="a label more"),
        pytest.param([configuration(), {**SELECTING, "metadata": {"name": "hook"}}], True, id="a Service without a namespace"),
    ],
)  # fmt: skip
def test_what_serves_a_webhook_is_in_the_first_wave(others, serves, live):
    web = workload("Deployment", "web", uid=live)
    web["spec"]["template"]["metadata"] = {"labels": {"app": "web", "x": "y"}}
    more = {
        **configuration("more"),
        "webhooks": [*configuration("a")["webhooks"], *configuration("b")["webhooks"]],
    }
    others = [*others, more, configuration("b")]
    seen = set()
    for objects in ([web, *others], [*reversed(others), web, *others]):
        collector = Collector("lists", "x")
        for one in objects:
            collector.add(one)
        facts = collector.facts()
        (found,) = facts.workloads
        assert found.webhook is serves
        seen.add(facts.snapshots[0].id)
        known = facts.replace(images=tuple(audit_clusters.image(one.reference) for one in facts.images))
        assert findings(known).workloads[0].waves[0] == (0 if serves else 1)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("kind", "phase", "serves"),
    [
        pytest.param("", "Running", True, id="alone"),
        pytest.param("ReplicationController", "Running", True, id="of a controller that is not in the lists"),
        pytest.param("CloneSet", "Pending", True, id="of a custom resource"),
        pytest.param("Job", "Succeeded", False, id="finished"),
    ],
)
def test_the_labels_of_pods_count_for_webhooks(kind, phase, serves):
    owner = (kind, "web") if kind else None
    value = pod("web-1", owner=owner, labels={"app": "web", "x": "y"}, node="n", phase=phase)
    for objects in ([value, configuration(), SELECTING], [configuration(), SELECTING, value]):
        collector = Collector("lists", "x")
        for one in objects:
            collector.add(one)
        (found,) = collector.facts().workloads
        assert found.webhook is serves


# The forms


def test_json_and_csv_have_the_wave_of_each_workload():
    found = findings(audit_clusters.shop(), own=["registry.shop.example/*"])
    value = json.loads(audit_json.render(found))["findings"]
    waves = {one["name"]: one["wave"] for one in value["workloads"]}
    assert waves["apm-agent"] == {"arm64": 0, "amd64": 0}
    assert waves["billing"] == {"arm64": 3, "amd64": 1}
    assert waves["fraud-score"] == {"arm64": None, "amd64": None}
    assert waves["label-printer"] == {"arm64": None, "amd64": None}
    assert [one["number"] for one in value["waves"][0]["waves"]] == [0, 1, 2, 3, 4, 5]
    assert value["waves"][0]["unknown"]["number"] is None
    rows = {
        one["name"]: one for one in csv.DictReader(io.StringIO(audit_csv.render(found).decode(), newline=""))
    }
    assert [
        rows[name]["wave_arm64"] for name in ("apm-agent", "billing", "fraud-score", "label-printer")
    ] == ["0", "3", "", ""]


def test_text_and_markdown_show_the_waves():
    found = findings(audit_clusters.shop(), own=["registry.shop.example/*"])
    text = audit_text.render(found).decode()
    assert "Waves to arm64 (done: running pods that are there, or may go as they are):\n" in text
    part = text.partition("Waves to arm64")[2].partition("\n\n")[0].splitlines()[1:]
    assert [line.split()[0] for line in part] == ["0", "1", "3", "4", "not"]
    assert " ".join(part[1].split()) == "1 ready 9 workloads 25.1 CPU 10 of 43 pods done"
    assert "WAVES TO arm64" in audit_text.render(found, everything=True).decode()
    markdown = audit_markdown.render(found).decode()
    assert "| 0 every node | 3 | 1 | 3.5 | 42 | 19 % | monitoring/DaemonSet/apm-agent, " in markdown
    assert "Waves to amd64" not in markdown


@pytest.mark.parametrize("factor", [1, 10_000], ids=["as it is", "in a large cluster"])
def test_no_number_of_a_wave_is_cut(factor):
    shop = audit_clusters.shop()
    rows = tuple(
        one.replace(cpu=one.cpu * factor + 10 * (factor - 1), pods=one.pods * factor)
        for one in shop.workloads
    )
    found = findings(shop.replace(workloads=rows), own=["registry.shop.example/*"])
    part = (
        audit_text.render(found).decode().partition("Waves to arm64")[2].partition("\n\n")[0].splitlines()[1:]
    )
    plan = found.waves[0]
    assert len(part) == len(filled(plan))
    for line, one in zip(part, filled(plan), strict=True):
        assert f" {cpu_text(one.amount.cpu)} CPU" in line
        assert len(line) <= 80
    assert ("needs" in "".join(part)) == (factor == 1)
