"""`archfit audit --live` and a real API server: statuses as three runtimes report them, owners, rights, many pods."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import machine
from archfit.audit.command import audit as run
from archfit.audit.inputs import GET
from archfit.audit.running.collect import Collector
from archfit.facts.reports import from_json
from control_plane import ControlPlane
from fake_registry import FakeRegistry
from program import Ran, called
from running_builds import CONTAINERD, CRI_O, DOCKER, pushed

Audit = Callable[..., Ran]

BOTH = ["linux/amd64", "linux/arm64"]
NODES = {
    "intel": ("amd64", CONTAINERD),
    "arm": ("arm64", CONTAINERD),
    "crio": ("arm64", CRI_O),
    "dock": ("amd64", DOCKER),
}
HOST = "registry.example"
APP, OLD = f"{HOST}/team/app:1", f"{HOST}/team/old:1"


@pytest.fixture(scope="module")
def plane(real, tmp_path_factory):
    """A cluster of its own: an audit counts all pods."""
    real.refuse_unmarked("a control plane")
    with ControlPlane(tmp_path_factory.mktemp("audit")) as running:
        for name, (architecture, runtime) in NODES.items():
            running.node(name, architecture)
            info = {
                "architecture": architecture,
                "operatingSystem": "linux",
                "containerRuntimeVersion": runtime,
            }
            patched(running, f"/api/v1/nodes/{name}", {"nodeInfo": info})
        running.namespace("shop")
        yield running


@pytest.fixture(scope="module")
def fake():
    registry = FakeRegistry()
    yield registry
    registry.close()


@pytest.fixture(scope="module")
def images(fake):
    return {"app": pushed(fake, "team/app", "1", BOTH), "old": pushed(fake, "team/old", "1", ["linux/amd64"])}


@pytest.fixture
def audit(plane, fake, tmp_path):
    def audited(*words: str, kubeconfig: str = "", **environ: str) -> Ran:
        environ = {
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
            "SOURCE_DATE_EPOCH": "1795401600",
            **environ,
        }
        arguments = (
            *("--live", "--kubeconfig", kubeconfig or str(plane.kubeconfig)),
            *("--mirror", f"*={fake.url}", "--cache", str(tmp_path / "lookups.sqlite")),
            *words,
        )
        return called(run, arguments, environ=environ)

    return audited


def patched(plane: ControlPlane, path: str, status: dict[str, Any]) -> None:
    """Write a status as a kubelet does."""
    answer = plane.client.patch(
        f"{path}/status",
        content=json.dumps({"status": status}),
        headers={"Content-Type": "application/merge-patch+json"},
    )
    assert answer.is_success, answer.text


def started(
    plane: ControlPlane,
    name: str,
    image: str,
    image_id: str,
    node: str,
    namespace: str = "shop",
    **metadata: Any,
) -> None:
    """A pod that runs, as the runtime of its node reports it."""
    container = {"name": "app", "image": image, "resources": {"requests": {"cpu": "1"}}}
    plane.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, **metadata},
            "spec": {"nodeName": node, "containers": [container], "automountServiceAccountToken": False},
        }
    )
    state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    status = {
        "name": "app", "image": image, "imageID": image_id, "ready": True, "restartCount": 0, "state": state,
        "containerID": "containerd://1", "started": True,
    }  # fmt: skip
    patched(
        plane,
        f"/api/v1/namespaces/{namespace}/pods/{name}",
        {"phase": "Running", "containerStatuses": [status]},
    )


def owned(plane: ControlPlane) -> list[dict[str, Any]]:
    """A Deployment with its ReplicaSet; the owner reference of the ReplicaSet's pods."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": APP}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    references: list[dict[str, Any]] = []
    for kind, name in (("Deployment", "web"), ("ReplicaSet", "web-5d4f")):
        made = plane.request(
            "POST",
            f"/apis/apps/v1/namespaces/shop/{kind.lower()}s",
            {
                "apiVersion": "apps/v1",
                "kind": kind,
                "metadata": {"name": name, "ownerReferences": references},
                "spec": spec,
            },
        )
        references = [
            {
                "apiVersion": "apps/v1",
                "kind": kind,
                "name": name,
                "uid": made["metadata"]["uid"],
                "controller": True,
            }
        ]
    return references


@pytest.fixture(scope="module")
def shop(plane, images):
    """Five pods on four nodes."""
    app, old = images["app"], images["old"]
    of_web = {"ownerReferences": owned(plane), "labels": {"pod-template-hash": "5d4f"}}
    started(plane, "web-5d4f-a", APP, f"{HOST}/team/app@{app.index}", "intel", **of_web)
    started(plane, "web-5d4f-b", APP, f"{HOST}/team/app@{app.index}", "arm", **of_web)
    started(plane, "listed", APP, f"{HOST}/team/app@{app.manifests['linux/arm64']}", "crio")
    started(plane, "docker", APP, f"docker://{app.configs['linux/amd64']}", "dock")
    started(plane, "wrong", OLD, f"{HOST}/team/old@{old.manifests['linux/amd64']}", "arm")


@pytest.mark.usefixtures("shop")
def test_each_container_is_proven_against_what_its_runtime_reports(audit, images):
    ran = audit("--format", "json")
    facts = from_json(ran.ok(), "live")
    app = images["app"]
    assert {
        (build.name, build.node_architecture): (build.verdict, build.platform) for build in facts.builds
    } == {
        ("web", "amd64"): ("proven", "linux/amd64"),
        ("web", "arm64"): ("proven", "linux/arm64"),
        ("listed", "arm64"): ("proven", "linux/arm64"),
        ("docker", "amd64"): ("proven", "linux/amd64"),
        ("wrong", "arm64"): ("mismatch", "linux/amd64"),
    }
    assert {build.manifest for build in facts.builds if build.name == "listed"} == {
        app.manifests["linux/arm64"]
    }
    web = [workload for workload in facts.workloads if workload.name == "web"]
    assert [(one.kind, one.owner_by, one.pods, one.cpu) for one in web] == [
        ("Deployment", "controller", 2, 2000)
    ]
    assert {(node.name, node.architecture, node.requested_cpu) for node in facts.nodes} == {
        ("intel", "amd64", 1000), ("arm", "arm64", 2000), ("crio", "arm64", 1000), ("dock", "amd64", 1000),
    }  # fmt: skip
    assert facts.snapshots[0].source == "live"


@pytest.mark.usefixtures("shop")
def test_a_second_audit_says_the_same_and_asks_nothing(audit, fake):
    first = audit("--format", "json").ok()
    fake.forget()
    second = audit("--format", "json").ok()
    assert fake.asked == []
    assert json.loads(second)["findings"] == json.loads(first)["findings"]


@pytest.mark.usefixtures("shop")
def test_an_image_without_the_architecture_fails_what_requires_it(audit):
    ran = audit("--require", "arm64")
    assert ran.status == 3
    assert "--require arm64: 1 workload cannot run there (shop/Pod/wrong)" in ran.stderr


def rights(plane: ControlPlane, tmp_path: Path, user: str, *resources: str) -> str:
    """A kubeconfig of a user who may get and list these resources, and nothing else."""
    rules = [{"apiGroups": ["", "apps", "batch"], "resources": list(resources), "verbs": ["get", "list"]}]
    head = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    role = {**head, "kind": "ClusterRole", "metadata": {"name": user}, "rules": rules}
    binding = {
        **head,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    if resources:
        plane.apply("---\n".join(json.dumps(one) + "\n" for one in (role, binding)))
    access = yaml.safe_load(plane.kubeconfig.read_text(encoding="utf-8"))
    access["users"][0]["user"]["as"] = user
    path = tmp_path / f"{user}.yaml"
    path.write_text(json.dumps(access), encoding="utf-8")
    return str(path)


@pytest.mark.usefixtures("shop")
def test_the_rights_that_the_page_names_are_enough(audit, plane, tmp_path):
    own = rights(
        plane, tmp_path, "auditor", "pods", "nodes", "deployments", "statefulsets", "daemonsets", "replicasets", "jobs",
        "cronjobs", "namespaces",
    )  # fmt: skip
    limited = json.loads(audit("--format", "json", kubeconfig=own).ok())
    assert limited["findings"] == json.loads(audit("--format", "json").ok())["findings"]
    (cluster,) = limited["findings"]["clusters"]
    assert (len(cluster["uid"]), cluster["architectures"]) == (36, ["amd64", "arm64"])


@pytest.mark.usefixtures("shop")
def test_what_has_no_pods_is_read_live_and_with_the_command_of_the_page(audit, plane):
    plane.namespace("asleep")
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "app", "image": OLD}]}}
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    job = {"template": {"spec": {**template["spec"], "restartPolicy": "Never"}}}
    for group, kind, own in (
        ("apps/v1", "DaemonSet", spec),
        ("apps/v1", "StatefulSet", {**spec, "serviceName": "x", "replicas": 0}),
        ("batch/v1", "CronJob", {"schedule": "@daily", "jobTemplate": {"spec": job}}),
    ):
        metadata = {"name": "x", "namespace": "asleep"}
        value = {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": own}
        plane.kubectl("apply", "-f", "-", stdin=json.dumps(value))
    live = from_json(audit("--format", "json").ok(), "live")
    assert [(one.kind, one.standing, one.pods) for one in live.workloads if one.namespace == "asleep"] == [
        ("CronJob", "scheduled", 1),
        ("DaemonSet", "daemonset", 0),
        ("StatefulSet", "idle", 0),
    ]
    listed = plane.kubectl(*GET.split()[1:]).stdout
    collector = Collector("lists", "kubectl")
    collector.add(json.loads(listed))
    there = collector.facts().workloads
    assert [one.replace(snapshot="") for one in there] == [one.replace(snapshot="") for one in live.workloads]
    assert audit("--require", "arm64", "-n", "asleep").status == 3
    plane.kubectl("delete", "-n", "asleep", "ds,sts,cj", "x")


@pytest.mark.usefixtures("shop")
def test_a_user_who_sees_pods_alone_gets_what_they_show(audit, plane, tmp_path):
    ran = audit("--format", "json", kubeconfig=rights(plane, tmp_path, "reader", "pods"))
    facts = from_json(ran.ok(), "live")
    assert [facts.nodes, facts.snapshots[0].nodes, facts.snapshots[0].uid] == [(), False, ""]
    assert [(one.kind, one.owner_by, one.pods) for one in facts.workloads if one.name == "web"] == [
        ("Deployment", "name", 2)
    ]
    apps = "deployments statefulsets daemonsets replicasets"
    webhooks = "services mutatingwebhookconfigurations validatingwebhookconfigurations"
    for what in f"nodes {apps} jobs cronjobs {webhooks}".split():
        assert f'cannot list resource "{what}"' in ran.stderr
    assert "Without them which build runs" in ran.stderr
    assert "Without them the workloads that serve webhooks are not known" in ran.stderr


WEBHOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: judge}
webhooks:
- name: judge.shop.example
  clientConfig: {service: {namespace: judges, name: judge}}
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Ignore
  rules: [{apiGroups: [nothing.example], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]
---
apiVersion: v1
kind: Service
metadata: {namespace: judges, name: judge}
spec: {selector: {app: judge}, ports: [{port: 443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: judges, name: judge}
spec:
  selector: {matchLabels: {app: judge}}
  template:
    metadata: {labels: {app: judge}}
    spec: {containers: [{name: judge, image: registry.example/team/old:1}]}
"""


@pytest.mark.usefixtures("images")
def test_what_serves_a_webhook_of_the_cluster_is_in_the_first_wave(audit, plane):
    plane.namespace("judges")
    plane.apply(WEBHOOK)
    started(plane, "judged", APP, "", "intel", namespace="judges")
    report = json.loads(audit("-n", "judges", "--format", "json").ok())
    waves = {one["name"]: one["wave"]["arm64"] for one in report["findings"]["workloads"]}
    assert waves == {"judge": 0, "judged": 1}


# As much of Karpenter's definition as an API server needs to serve such objects.
NODE_POOLS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "nodepools.karpenter.sh"},
    "spec": {
        "group": "karpenter.sh",
        "scope": "Cluster",
        "names": {"kind": "NodePool", "plural": "nodepools"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


@pytest.mark.usefixtures("shop")
def test_pools_are_read_as_far_as_the_user_may(audit, plane, tmp_path):
    plane.apply(json.dumps(NODE_POOLS))
    plane.established("nodepools.karpenter.sh")
    recorded = yaml.safe_load(
        (machine.ROOT / "fixtures" / "pools" / "karpenter.yaml").read_text(encoding="utf-8")
    )
    items = [one for one in recorded["items"] if one["kind"] == "NodePool"]
    for one in items:
        one["metadata"].pop("uid")
    plane.apply("---\n".join(json.dumps(one) + "\n" for one in items))
    try:
        facts = from_json(audit("--format", "json").ok(), "live")
        assert [(one.name, one.architectures, one.basis) for one in facts.pools] == [
            ("default", ("amd64", "arm64"), "nothing narrows it"),
            ("graviton", ("arm64",), "its instance types"),
            ("old", (), ""),
        ]
        assert facts.snapshots[0].unread_pools == ()
        own = rights(
            plane, tmp_path, "without-pools", "pods", "nodes", "deployments", "statefulsets", "daemonsets",
            "replicasets", "jobs", "cronjobs", "namespaces",
        )  # fmt: skip
        refused = audit("--format", "json", kubeconfig=own)
        facts = from_json(refused.ok(), "live")
        assert (facts.pools, facts.snapshots[0].unread_pools) == ((), ("nodepools.karpenter.sh",))
        assert 'cannot list resource "nodepools"' in refused.stderr
        assert (
            "Without them whether a pool brings nodes of other architectures is not known" in refused.stderr
        )
    finally:
        plane.kubectl("delete", "crd", "nodepools.karpenter.sh")


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("no rights", 'cannot list resource "pods"'),
        ("no kubeconfig", "missing.yaml"),
        ("no server", "name a cluster that answers"),
        ("no kubectl", "there is no kubectl on PATH"),
    ],
)
def test_a_cluster_that_cannot_be_read_is_one_error(audit, plane, tmp_path, case, said):
    access = yaml.safe_load(plane.kubeconfig.read_text(encoding="utf-8"))
    access["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "away.yaml").write_text(json.dumps(access), encoding="utf-8")
    kubeconfig = {
        "no rights": lambda: rights(plane, tmp_path, "nobody"),
        "no kubeconfig": lambda: str(tmp_path / "missing.yaml"),
        "no server": lambda: str(tmp_path / "away.yaml"),
        "no kubectl": lambda: "",
    }[case]()
    environ = {"PATH": str(tmp_path)} if case == "no kubectl" else {}
    ran = audit(kubeconfig=kubeconfig, **environ)
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr
