"""From `archfit setup webhook`, or the chart, to a changed pod: certificate, configuration, a real API server."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from registry import Registry
from tests.real.admission.webhook_recorder import as_external_name

import machine
from archfit.webhook.setup.certificates import KeyPair
from archfit.webhook.setup.webhook_folder import read
from chart_runs import Chart
from control_plane import pod_in
from helm_runs import start
from program import PROGRAM
from webhook_server import Secret, WebhookServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from control_plane import ControlPlane

IMAGES = {
    "x.example/amd:1": ["linux/amd64"],
    "x.example/both:1": ["linux/amd64", "linux/arm64"],
    "x.example/arm:1": ["linux/arm64"],
}
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
GKE = {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with Registry(IMAGES) as running:
        yield running


def pod(image: str, **spec: Any) -> dict[str, Any]:
    return pod_in("shop", image, **spec)


def by_setup(folder: Path, *words: str) -> tuple[list[dict[str, Any]], KeyPair]:
    out = folder / "out"
    start([str(PROGRAM), "setup", "webhook", "--into", str(out), *words], dict(os.environ)).ok()
    pair = read(str(out)).pair
    assert pair
    return [yaml.safe_load(path.read_text()) for path in sorted(out.glob("*.yaml"))], pair


def by_chart(name: str) -> tuple[list[dict[str, Any]], KeyPair]:
    objects = Chart(name).objects()
    (secret,) = (value for value in objects if value["kind"] == "Secret")
    return objects, KeyPair(
        *(base64.b64decode(secret["data"][key]) for key in ("ca.crt", "tls.crt", "tls.key"))
    )


@pytest.fixture(params=["setup", "helm3", "helm4"])
def manifests(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[dict[str, Any]], KeyPair]:
    """The objects, and the pair among them."""
    return by_setup(tmp_path) if request.param == "setup" else by_chart(request.param)


class Installed:
    """The webhook in a real API server, as long as it is entered."""

    def __init__(self, plane: ControlPlane, objects: list[dict[str, Any]], port: int) -> None:
        self.plane, self._objects = plane, as_external_name(objects, port)

    def __enter__(self) -> ControlPlane:
        for name in ("archfit", "shop"):
            self.plane.namespace(name)
        for value in self._objects:
            self.plane.apply(json.dumps(value))
        return self.plane

    def __exit__(self, *_: object) -> None:
        self.plane.delete(f"{WEBHOOKS}/archfit")
        self.plane.delete("/api/v1/namespaces/archfit/services/archfit")
        self.plane.until(
            "it is gone", lambda: "affinity" not in self.plane.dry(pod("x.example/amd:1"))["spec"]
        )


def mounted(pair: KeyPair, secret: Secret, folder: Path) -> Path:
    """The pair in a folder as the kubelet mounts it."""
    for name, content in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
        (folder / name).write_bytes(content)
    return secret.write(folder / "tls.crt", folder / "tls.key")


def served(pair: KeyPair, folder: Path, *words: str, **environ: str) -> WebhookServer:
    """`archfit serve` with the pair."""
    return WebhookServer(
        folder / "served", *words, tls=mounted(pair, Secret(folder / "tls"), folder), **environ
    )


def configuration(objects: list[dict[str, Any]], folder: Path) -> str:
    """The file that the pods get."""
    (found,) = (value for value in objects if value["kind"] == "ConfigMap")
    path = folder / "archfit.yaml"
    path.write_text(found["data"]["archfit.yaml"])
    return str(path)


def test_new_pods_get_what_they_need(
    control_plane: ControlPlane, manifests, registry: Registry, tmp_path: Path
) -> None:
    objects, pair = manifests
    environ = {"ARCHFIT_CONFIG": configuration(objects, tmp_path)}
    with (
        served(pair, tmp_path, *registry.mirrors(), **environ) as server,
        Installed(control_plane, objects, server.port) as plane,
    ):
        assert server.probe("/readyz")[0] == 200
        plane.until("it acts", lambda: "affinity" in plane.dry(pod("x.example/amd:1"))["spec"])
        terms = plane.dry(pod("x.example/amd:1"))["spec"]["affinity"]["nodeAffinity"]
        (term,) = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert term == {
            "matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]
        }
        both = plane.dry(pod("x.example/both:1"))["spec"]
        assert GKE in both["tolerations"]
        assert "affinity" not in both
        # What was rendered through archfit stays as it is.
        rendered = plane.dry(pod("x.example/both:1", tolerations=[GKE]))["spec"]
        assert [one for one in rendered["tolerations"] if one == GKE] == [GKE]
        stored = plane.create(pod("x.example/amd:1"))
        assert stored["spec"]["affinity"]["nodeAffinity"] == terms
        plane.delete(f"/api/v1/namespaces/shop/pods/{stored['metadata']['name']}")


def check(plane: ControlPlane, folder: Path) -> tuple[int, list[str]]:
    """The exit code and the lines of `archfit setup webhook --check --live`."""
    environ = {**os.environ, "PATH": f"{Path(machine.tool('kubectl')).parent}:{os.environ['PATH']}"}
    words = ("--check", "--live", "--kubeconfig", str(plane.kubeconfig), "--into", str(folder))
    ran = start([str(PROGRAM), "setup", "webhook", *words], environ)
    return ran.status, ran.stdout.decode().splitlines()


def test_a_check_of_the_cluster_says_what_is_missing_until_it_works(
    control_plane: ControlPlane, registry: Registry, tmp_path: Path
) -> None:
    objects, pair = by_setup(tmp_path)
    folder = tmp_path / "out"
    code, lines = check(control_plane, folder)
    assert (code, lines[-1].partition(":")[0]) == (1, "wrong")
    assert "there is no MutatingWebhookConfiguration archfit: run archfit setup webhook" in lines[-1]
    (deployment,) = (value for value in objects if value["kind"] == "Deployment")
    place = "/apis/apps/v1/namespaces/archfit/deployments/archfit"
    with (
        served(pair, tmp_path, *registry.mirrors()) as server,
        Installed(control_plane, objects, server.port) as plane,
    ):
        plane.apply(json.dumps(deployment))
        assert "no pod of Deployment archfit/archfit is ready" in check(plane, folder)[1][-1]
        there = plane.get(place)
        there["status"] = {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "updatedReplicas": 2}
        plane.request("PUT", f"{place}/status", there)
        plane.until("it acts", lambda: "affinity" in plane.dry(pod("x.example/amd:1"))["spec"])
        code, lines = check(plane, folder)
        assert code == 0, lines
        assert "2 of 2 pods of Deployment archfit/archfit are ready" in lines[-2]
        assert lines[-1] == (
            "ok: the API server asks the webhook about a pod in the namespace default, and it answers"
        )

        start([str(PROGRAM), "setup", "webhook", "--renew", "--into", str(folder)], dict(os.environ)).ok()
        code, lines = check(plane, folder)
        assert code == 1
        assert lines[-1].endswith(f"90-webhook.yaml: kubectl apply --server-side -f {folder}")
        server.process.kill()
        server.process.wait()
        code, lines = check(plane, tmp_path / "no-folder")
        assert code == 1
        assert "the webhook said nothing about a dry-run pod in the namespace default" in lines[-1]
        plane.delete(place)


# The toleration of k8smultiarcher, as docs/serve.md says to write it.
THEIRS = {"key": "k8smultiarcher", "operator": "Equal", "value": "arm64Supported", "effect": "NoSchedule"}


def test_pods_that_k8smultiarcher_lets_onto_arm_nodes_still_get_there(
    control_plane: ControlPlane, registry: Registry, tmp_path: Path
) -> None:
    objects, pair = by_setup(tmp_path)
    words = ("--tolerate", "k8smultiarcher=arm64Supported:NoSchedule@arm64")
    with (
        served(pair, tmp_path, *words, *registry.mirrors()) as server,
        Installed(control_plane, objects, server.port) as plane,
    ):
        plane.until("it acts", lambda: "affinity" in plane.dry(pod("x.example/amd:1"))["spec"])
        tolerated = {
            name: THEIRS in plane.dry(pod(name))["spec"].get("tolerations", []) for name in sorted(IMAGES)
        }
        assert tolerated == {"x.example/amd:1": False, "x.example/arm:1": True, "x.example/both:1": True}
        # While both webhooks run, the second one finds the toleration and adds none.
        both = plane.dry(pod("x.example/both:1", tolerations=[THEIRS]))["spec"]["tolerations"]
        assert [one for one in both if one == THEIRS] == [THEIRS]


def test_the_charts_test_pod_finds_a_running_webhook(registry: Registry, tmp_path: Path) -> None:
    """Its program, with the name of the Service resolved to loopback. Another CA does not prove the certificate."""
    objects, pair = by_chart("helm4")
    (test,) = (value for value in objects if value["kind"] == "Pod")
    ca = tmp_path / "ca.crt"
    with served(pair, tmp_path, *registry.mirrors()) as server:
        resolved = (
            "import socket\n_connect = socket.create_connection\n"
            f"socket.create_connection = lambda _, *a, **k: _connect(('127.0.0.1', {server.port}), *a, **k)\n"
        )
        program = resolved + test["spec"]["containers"][0]["command"][2].replace(
            "/etc/archfit/ca/ca.crt", str(ca)
        )
        ca.write_bytes(pair.ca)
        ran = start([sys.executable, "-c", program], dict(os.environ))
        assert json.loads(ran.ok())["response"]["allowed"] is True
        ca.write_bytes(by_chart("helm4")[1].ca)
        ran = start([sys.executable, "-c", program], dict(os.environ))
        assert ran.status == 1
        assert "CERTIFICATE_VERIFY_FAILED" in ran.stderr
