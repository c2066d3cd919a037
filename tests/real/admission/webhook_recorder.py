"""A webhook in the test's own process, with a certificate of its own: it notes what it is asked for.

    with WebhookRecorder(pair, folder) as recorder:
        recorder.port                    on loopback
        recorder.asked                   the requests of the AdmissionReviews, in order

`as_external_name` makes an API server without pods reach it: a Service of type ExternalName is called at its name's
address, and the certificate is still checked for NAME.NAMESPACE.svc.
Source: kubernetes v1.36, staging/src/k8s.io/apiserver/pkg/util/proxy (ResolveCluster), util/webhook/client.go.
"""

from __future__ import annotations

import copy
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from mutating_webhooks import Answering, allowed

if TYPE_CHECKING:
    from pathlib import Path

    from webhook_pairs import Pair


class WebhookRecorder:
    """See the module. folder: for the pair, which Python reads from files."""

    def __init__(self, pair: Pair, folder: Path) -> None:
        self.asked: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._folder = folder
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.load(pair)
        self._server.socket = self._context.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]

    def load(self, pair: Pair) -> None:
        """Serve this pair from now on."""
        path = self._folder / "pair.pem"
        path.write_bytes(pair.certificate + pair.key)
        self._context.load_cert_chain(path)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def names(self) -> list[str]:
        """Of the pods that it was asked for."""
        return [one["object"]["metadata"]["name"] for one in self.asked]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        recorder = self

        class Handler(Answering):
            protocol_version = (
                "HTTP/1.0"  # each call makes a connection, and sees the certificate of its moment
            )

            def do_POST(self) -> None:  # noqa: N802 - http.server calls it so
                request = self.asked()
                recorder.asked.append(request | {"path": self.path})
                self.answer(allowed(request["uid"], []))

        return Handler


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
