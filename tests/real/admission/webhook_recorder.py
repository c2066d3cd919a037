"""A webhook in the test's own process, with a certificate of its own: it notes what it is asked for.

    with WebhookRecorder(pair, folder) as recorder:
        recorder.port                    on loopback
        recorder.asked                   the AdmissionReviews as they came, in order

`as_external_name` makes an API server without pods reach it: a Service of type ExternalName is called at its name's
address, and the certificate is still checked for NAME.NAMESPACE.svc.
Source: kubernetes v1.36, staging/src/k8s.io/apiserver/pkg/util/proxy (ResolveCluster), util/webhook/client.go.
"""

import copy
import json
import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopback_server import Answer, Asked

from mutating_webhooks import Listening, allowed
from webhook_pairs import Pair


class WebhookRecorder(Listening):
    """See the module. folder: for the pair, which Python reads from files."""

    def __init__(self, pair: Pair, folder: Path) -> None:
        self._folder = folder
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.load(pair)
        super().__init__(self._context, lambda asked: allowed(request_of(asked)["uid"], []))

    def load(self, pair: Pair) -> None:
        """Serve this pair from now on."""
        path = self._folder / "pair.pem"
        path.write_bytes(pair.certificate + pair.key)
        self._context.load_cert_chain(path)

    def stored(self, asked: Asked) -> Answer:
        """Each call makes a connection, and sees the certificate of its moment."""
        answer = super().stored(asked)
        return replace(answer, headers={**answer.headers, "Connection": "close"})

    def names(self) -> list[str]:
        """Of the pods that it was asked for."""
        return [request_of(asked)["object"]["metadata"]["name"] for asked in self.asked]


def request_of(asked: Asked) -> dict[str, Any]:
    """The request of a review."""
    found: dict[str, Any] = json.loads(asked.body)["request"]
    return found


def as_external_name(objects: list[dict[str, Any]], port: int) -> list[dict[str, Any]]:
    """The Service and the webhook configuration among the objects, so that the API server calls localhost:port."""
    found = []
    for value in copy.deepcopy(objects):
        if value["kind"] == "Service":
            value["spec"] = {
                "type": "ExternalName",
                "externalName": "localhost",
                "ports": [{"name": "https", "port": port}],
            }
            found.append(value)
        if value["kind"] == "MutatingWebhookConfiguration":
            for one in value["webhooks"]:
                one["clientConfig"]["service"]["port"] = port
            found.append(value)
    return found
