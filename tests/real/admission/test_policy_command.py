"""`archfit policy` and a real API server: what it writes is accepted, warns, can be checked, and can be made live."""

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from registry import Registry

from archfit.cluster import cluster_connection
from archfit.cluster.service_account import plural
from archfit.policy import command
from archfit.policy.table import installed_table
from chart_runs import Chart
from control_plane import ControlPlane
from control_plane import pod_in as pod
from program import Ran, called

AMD, ARM, BOTH = ["linux/amd64"], ["linux/arm64"], ["linux/amd64", "linux/arm64"]
IMAGES = {"quay.io/team/amd:1": AMD, "quay.io/team/arm:1": ARM, "docker.io/library/both:1": BOTH}
NAMESPACE, ACCOUNT = "archfit", "archfit-policy"
# Flag of `archfit policy` -> value of the chart.
VALUES = {
    "--carrier": "policy.carrier",
    "--name": "policy.name",
    "--namespace-selector": "policy.namespaceSelectors[0]",
}
_NUMBERS = count(1)


def lock_file(folder: Path, images: dict[str, list[str]] = IMAGES) -> str:
    entries = {
        name: {
            "digest": "sha256:" + "a" * 64,
            "kind": "index" if len(platforms) > 1 else "manifest",
            "platforms": platforms,
        }
        for name, platforms in images.items()
    }
    path = folder / "archfit.lock"
    path.write_text(json.dumps({"version": 1, "images": entries}), encoding="utf-8")
    return str(path)


def workload(namespace: str, image: str, kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": image.partition(":")[0].rpartition("/")[2], "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod(namespace, image, **spec)["spec"]},
            **({"serviceName": "web"} if kind == "StatefulSet" else {}),
        },
    }


class Site:
    """A namespace with a policy of its own, and archfit with kubectl for it."""

    def __init__(self, plane: ControlPlane, archfit: Callable[..., Ran], folder: Path, name: str) -> None:
        self.plane, self._archfit, self.folder = plane, archfit, folder
        self.namespace = plane.namespace(name)
        self.name = f"{name}.tests.archfit.dev"
        self.lock = lock_file(folder)
        self.words = ("--name", self.name, "--namespace-selector", f"kubernetes.io/metadata.name={name}")
        kubectl = Path(plane._programs["kubectl"]).parent
        self.environ = {"KUBECONFIG": str(plane.kubeconfig), "PATH": f"{kubectl}:{os.environ['PATH']}"}

    def archfit(self, *words: str, text: bytes = b"", **environ: str) -> Ran:
        named = any(word.startswith(("--lock-file", "--live")) for word in (*self.words, *words))
        lock = [] if named or not (self.folder / "archfit.lock").exists() else ["--lock-file", "archfit.lock"]
        return self._archfit(
            text, "policy", *self.words, *lock, *words, cwd=self.folder, **self.environ, **environ
        )

    def install(self, *words: str) -> None:
        if "crd" in words:  # kubectl reads a custom resource only once its definition is there
            self.archfit("--apply", *words).ok()
        else:
            self.plane.kubectl("apply", "--server-side", "-f", "-", stdin=self.archfit(*words).ok().decode())
        probe = pod(self.namespace, "quay.io/team/amd:1")
        self.plane.until("the policy acts", lambda: "affinity" in self.plane.dry(probe)["spec"])
        other = pod(self.namespace, "quay.io/team/other:1")
        self.plane.until("the companion acts", lambda: self.plane.warnings(other))


@pytest.fixture
def site(control_plane, archfit, tmp_path):
    """See Site; each test has a namespace of its own."""
    made = Site(control_plane, archfit, tmp_path, f"site-{next(_NUMBERS)}")
    yield made
    for kind in ("mutating", "validating"):
        resources = f"{kind}admissionpolicybindings,{kind}admissionpolicies"
        control_plane.kubectl("delete", "--ignore-not-found", resources, made.name)


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_what_it_writes_acts_and_warns_in_one_line(site, carrier):
    site.install("--carrier", carrier)
    name, arm = site.namespace, {"kubernetes.io/arch": "arm64"}
    both = site.plane.dry(pod(name, "both:1"))["spec"]
    assert "arm64" in {one.get("value") for one in both["tolerations"]}
    assert "affinity" not in both
    unfit = "where not all its images run"
    only_arm = {"archfit.dev/only": "arm64"}
    for value, words in (
        (pod(name, "both:1"), []),
        (pod(name, "both:1", "other:1"), ["archfit does not know where other:1 of pod web-"]),
        (pod(name, "one:1", "two:1"), ["where one:1, two:1 of pod web-"]),
        (
            pod(name, "quay.io/team/amd:1", "quay.io/team/arm:1"),
            [f"may go to amd64, arm64 nodes, {unfit} (quay.io/team/amd:1, quay.io/team/arm:1): correct them"],
        ),
        (
            pod(name, "quay.io/team/amd:1", nodeSelector=arm),
            [f"may go to arm64 nodes, {unfit} (quay.io/team/amd:1): correct them"],
        ),
        (
            pod(name, "quay.io/team/amd:1", metadata={"generateName": "web-", "annotations": only_arm}),
            [f"{unfit} (quay.io/team/amd:1), or which archfit.dev/only excludes: correct them"],
        ),
    ):
        said = site.plane.warnings(value)
        assert [word in text for word, text in zip(words, said, strict=True)] == [True] * len(words)


def test_the_check_finds_a_difference(site):
    site.install()
    lock_file(site.folder, {**IMAGES, "quay.io/team/amd:1": BOTH, "quay.io/team/new:1": AMD})
    objects = [
        workload(site.namespace, "quay.io/team/amd:1"),
        workload(site.namespace, "quay.io/team/new:1"),
        workload("default", "quay.io/team/arm:1"),
        workload("no-such-namespace", "quay.io/team/arm:1"),
    ]
    text = "\n---\n".join(map(json.dumps, objects)).encode()
    ran = site.archfit("--check", text=text)
    lines = ran.stdout.decode().splitlines()
    assert ran.status == 3, ran.stderr
    assert lines[0].startswith(
        f"different: apps/v1/Deployment/{site.namespace}/amd (document 1, line 1): archfit"
    )
    assert "and the policy adds requiredDuringSchedulingIgnoredDuringExecution" in lines[0]
    assert lines[1].endswith("the policy does not know quay.io/team/new:1: renew it with archfit policy")
    assert lines[2].endswith("the policy leaves the namespace default out (namespaceSelector)")
    assert 'namespaces "no-such-namespace" not found' in lines[3]
    assert lines[4].endswith(
        "4 pods: 0 as archfit would place them, 1 different, 2 left alone, 1 not compared"
    )


class Pretended:
    """A process as a pod of the cluster: the environment and the mounted folder of a service account."""

    def __init__(self, plane: ControlPlane, folder: Path, account: str) -> None:
        self.folder = folder / "serviceaccount"
        self.folder.mkdir()
        token = plane.kubectl("create", "token", account, "-n", NAMESPACE).stdout
        (self.folder / "token").write_text(token, encoding="ascii")
        (self.folder / "ca.crt").write_bytes(plane.ca.read_bytes())
        port = plane.url.rpartition(":")[2]
        self.environ = {
            "HOME": str(folder),
            "PATH": "/nowhere",
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": port,
        }

    def policy(self, *words: str) -> tuple[int, str, str]:
        """`archfit policy` in this pod."""
        ran = called(command.write_policy, words, environ=self.environ)
        return ran.status, ran.stdout.decode(), ran.stderr


@pytest.fixture
def job(control_plane, tmp_path, monkeypatch):
    """`job("--carrier", "crd")` installs the chart's job with these flags, and is then its pod."""
    rendered: list[str] = []

    def made(*flags: str) -> Pretended:
        pairs = zip(flags[::2], flags[1::2], strict=True)
        words = [word for flag, value in pairs for word in ("--set", f"{VALUES[flag]}={value}")]
        rendered.append(Chart("helm4").render("--set", "mode=policy", *words).ok().decode())
        control_plane.namespace(NAMESPACE)
        control_plane.kubectl("apply", "--server-side", "-f", "-", stdin=rendered[-1])
        pretended = Pretended(control_plane, tmp_path, ACCOUNT)
        monkeypatch.setattr(cluster_connection, "FOLDER", str(pretended.folder))
        return pretended

    yield made
    # Other tests install the same names by other means.
    for text in rendered:
        control_plane.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)


def seeded(site: Site) -> None:
    for value in (
        workload(site.namespace, "both:1"),
        workload(site.namespace, "quay.io/team/amd:1", "StatefulSet"),
        workload(site.namespace, "quay.io/team/daemon:1", "DaemonSet"),
        pod(site.namespace, "quay.io/team/arm:1"),
        pod(site.namespace, "quay.io/team/unknown:1"),
    ):
        site.plane.kubectl("create", "-f", "-", stdin=json.dumps(value))


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_the_job_applies_a_policy_with_the_rights_that_setup_gives(site, job, carrier):
    seeded(site)
    flags = ("--carrier", carrier, *site.words)
    pretended = job(*flags)
    lookups = ("--lock-file", site.lock, "--allow-host", "none.example", "--offline")
    words = ("--live", "--apply", *flags, *lookups)
    status, stdout, stderr = pretended.policy(*words)
    assert (status, stdout) == (0, ""), stderr
    assert f"MutatingAdmissionPolicy/{site.name} applied" in stderr
    assert "quay.io/team/unknown:1" in stderr
    probe = pod(site.namespace, "quay.io/team/amd:1")
    site.plane.until("the policy acts", lambda: "affinity" in site.plane.dry(probe)["spec"])
    path = f"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/{site.name}"
    before = site.plane.get(path)
    assert pretended.policy(*words)[0] == 0
    after = site.plane.get(path)
    assert before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
    refused = pretended.policy(*words, "--name", "other.tests.archfit.dev")
    assert refused[0] == 1
    assert "is forbidden" in refused[2]
    assert "give this user or service account what the message names" in refused[2]


def test_the_job_removes_what_kubectl_applied_before(site, job):
    site.install("--image-platforms", "docker.io/*=amd64", "--prefer", "arm64=3")
    pretended = job(*site.words)
    words = ("--apply", *site.words, "--lock-file", site.lock)
    assert pretended.policy(*words)[0] == 0
    wanted = list(yaml.safe_load_all(site.archfit().ok()))
    for value in (wanted[0], wanted[2]):
        path = f"/apis/admissionregistration.k8s.io/v1/{plural(value, ())}/{site.name}"
        spec = site.plane.get(path)["spec"]
        for key in ("variables", "matchConditions", "validations", "mutations"):
            assert spec.get(key) == value["spec"].get(key), key


def test_the_rights_of_the_job_are_these_and_no_more(site, job):
    job(*site.words)
    account = f"--as=system:serviceaccount:{NAMESPACE}:{ACCOUNT}"

    def may(*words: str) -> bool:
        return site.plane.kubectl("auth", "can-i", *words, account, check=False).stdout.strip() == "yes"

    assert may("list", "pods", "-A")
    assert may("list", "cronjobs.batch", "-A")
    assert may("patch", f"mutatingadmissionpolicies.admissionregistration.k8s.io/{site.name}")
    for words in (
        ("get", "secrets", "-A"),
        ("list", "secrets", "-A"),
        ("list", "configmaps", "-A"),
        ("watch", "pods", "-A"),
        ("create", "pods", "-A"),
        ("delete", "pods", "-A"),
        ("patch", "mutatingadmissionpolicies.admissionregistration.k8s.io/other"),
        ("patch", "mutatingadmissionpolicies.admissionregistration.k8s.io"),
        ("delete", f"mutatingadmissionpolicies.admissionregistration.k8s.io/{site.name}"),
        ("create", "mutatingwebhookconfigurations.admissionregistration.k8s.io"),
    ):
        assert not may(*words), words


def test_live_through_kubectl_asks_registries_for_what_the_cluster_runs(site):
    seeded(site)
    with Registry({name: platforms for name, platforms in IMAGES.items() if "both" not in name}) as served:
        ran = site.archfit("--live", "--no-cache", "--timeout", "20s", *served.mirrors())
    assert known(ran) == {"quay.io/team/amd:1", "quay.io/team/arm:1"}
    assert "pods with it get no toleration" in ran.stderr
    site.install()
    unanswered = site.archfit("--live", "--no-cache", "--offline")
    assert known(unanswered) == set(IMAGES)
    assert "those in the installed policy are kept" in unanswered.stderr


def known(ran: Ran) -> set[str]:
    """The images of a policy."""
    return set(installed_table(next(yaml.safe_load_all(ran.ok())), None))
