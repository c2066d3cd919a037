"""From the chart to a changed pod: certificate, configuration, a real API server."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from registry import Registry
from tests.real.admission.webhook_recorder import as_external_name

from chart_runs import CERT_MANAGER, Chart
from control_plane import ControlPlane, pod_in
from helm_runs import start
from webhook_pairs import Pair, paired
from webhook_server import Secret, WebhookServer

IMAGES = {
    "x.example/amd:1": ["linux/amd64"],
    "x.example/both:1": ["linux/amd64", "linux/arm64"],
    "x.example/arm:1": ["linux/arm64"],
}
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@pytest.fixture(scope="module")
def registry():
    with Registry(IMAGES) as running:
        yield running


def pod(image: str, **spec: Any) -> dict[str, Any]:
    return pod_in("shop", image, **spec)


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


def mounted(pair: Pair, secret: Secret, folder: Path) -> Path:
    """The pair in a folder as the kubelet mounts it."""
    for name, content in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
        (folder / name).write_bytes(content)
    return secret.write(folder / "tls.crt", folder / "tls.key")


def served(pair: Pair, folder: Path, *words: str, **environ: str) -> WebhookServer:
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


# The toleration of k8smultiarcher, as docs/serve.md says to write it.
THEIRS = {"key": "k8smultiarcher", "operator": "Equal", "value": "arm64Supported", "effect": "NoSchedule"}


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_pods_get_what_they_need_and_those_that_k8smultiarcher_lets_onto_arm_nodes_still_get_there(
    control_plane, registry, tmp_path, helm
):
    objects, pair = paired(Chart(helm), tmp_path)
    environ = {"ARCHFIT_CONFIG": configuration(objects, tmp_path)}
    words = ("--tolerate", "k8smultiarcher=arm64Supported:NoSchedule@arm64")
    with (
        served(pair, tmp_path, *words, *registry.mirrors(), **environ) as server,
        Installed(control_plane, objects, server.port) as plane,
    ):
        assert server.probe("/readyz")[0] == 200
        plane.until("it acts", lambda: "affinity" in plane.dry(pod("x.example/amd:1"))["spec"])
        tolerated = {
            name: THEIRS in plane.dry(pod(name))["spec"].get("tolerations", []) for name in sorted(IMAGES)
        }
        assert tolerated == {"x.example/amd:1": False, "x.example/arm:1": True, "x.example/both:1": True}
        # While both webhooks run, the second one finds the toleration and adds none.
        both = plane.dry(pod("x.example/both:1", tolerations=[THEIRS]))["spec"]["tolerations"]
        assert [one for one in both if one == THEIRS] == [THEIRS]


def test_the_charts_test_pod_finds_a_running_webhook(registry, tmp_path):
    """Its program, with the name of the Service resolved to loopback. Another CA does not prove the certificate."""
    _objects, pair = paired(Chart("helm4"), tmp_path)
    objects = Chart("helm4").objects(*CERT_MANAGER)
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
        other = tmp_path / "other"
        other.mkdir()
        ca.write_bytes(paired(Chart("helm4"), other)[1].ca)
        ran = start([sys.executable, "-c", program], dict(os.environ))
        assert ran.status == 1
        assert "CERTIFICATE_VERIFY_FAILED" in ran.stderr
