"""Mutating webhooks in a real API server: their configuration, and one that injects a container.

with injecting("quay.io/side:1") as url, webhook(plane, "injector", url, "shop"):
    pods of the namespace `shop` get one more container with that image

injecting() takes the image from the pod's annotation INJECT, and changes no pod without it; `second=True` injects only
when it is called for a pod the second time. Webhooks are called in the order of their names.
"""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import yaml

from archfit.integrations.webhook import setup_files
from archfit.integrations.webhook.setup_files import WEBHOOK, Choices
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from control_plane import ControlPlane

INJECT = "tests.archfit.dev/inject"
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@contextlib.contextmanager
def webhook(
    plane: ControlPlane,
    name: str,
    url: str,
    namespace: str,
    *,
    shipped: bool = False,
    failure_policy: str = "Ignore",
) -> Iterator[None]:
    """A configuration that calls url for the new pods of one namespace.

    shipped: for the pods that the manifests of `archfit setup webhook` name.
    """
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{name}.tests.archfit.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": failure_policy,
                "matchPolicy": "Equivalent",
                "reinvocationPolicy": "IfNeeded",
                "timeoutSeconds": 3,
                "clientConfig": {
                    "url": url,
                    "caBundle": base64.b64encode(tls_files().ca.read_bytes()).decode(),
                },
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                        "scope": "Namespaced",
                    }
                ],
                **(_shipped() if shipped else {}),
            }
        ],
    }
    plane.apply(json.dumps(configuration))
    try:
        yield
    finally:
        plane.delete(f"{_CONFIGURATIONS}/{name}")


def _shipped() -> dict[str, Any]:
    """The rules and conditions of the manifests."""
    (made,) = yaml.safe_load(setup_files.files(Choices())[WEBHOOK])["webhooks"]
    return {member: made[member] for member in ("rules", "objectSelector", "matchConditions")}


@contextlib.contextmanager
def injecting(image: str = "", *, name: str = "side", second: bool = False) -> Iterator[str]:
    """The URL of a webhook that adds a container with that image."""
    handler = type(
        "Injector",
        (_Injector,),
        {"image": image, "container": name, "second": second, "calls": Counter[str]()},
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = tls_files().context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


class _Injector(BaseHTTPRequestHandler):
    """Adds a container to a pod that has none."""

    image = ""
    container = "side"
    second = False
    calls: Counter[str]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        response: dict[str, Any] = {"uid": request["uid"], "allowed": True}
        pod = request["object"]
        image = self.image or pod["metadata"].get("annotations", {}).get(INJECT)
        self.calls[request.get("name", "")] += 1
        late = self.second and self.calls[request.get("name", "")] < 2
        if image and not late and all(one["name"] != self.container for one in pod["spec"]["containers"]):
            value = {"name": self.container, "image": image, "resources": {}}
            patch = [{"op": "add", "path": "/spec/containers/-", "value": value}]
            response |= {
                "patchType": "JSONPatch",
                "patch": base64.b64encode(json.dumps(patch).encode()).decode(),
            }
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        text = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *_: object) -> None:
        """Write no log."""
