"""The few answers that `helm install --dry-run=client` wants of a cluster: version and discovery, on loopback.

No cluster is imitated beyond that: nothing can be stored, and any other question gets 404.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType


def _resources(version: str, **kinds: str) -> dict[str, Any]:
    return {
        "kind": "APIResourceList",
        "groupVersion": version,
        "resources": [
            {"name": name, "kind": kind, "namespaced": True, "verbs": ["get"], "singularName": ""}
            for name, kind in kinds.items()
        ],
    }


_EXAMPLE = {"groupVersion": "example.com/v1", "version": "v1"}
_ANSWERS = {
    "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {
        "kind": "APIGroupList",
        "groups": [{"name": "example.com", "versions": [_EXAMPLE], "preferredVersion": _EXAMPLE}],
    },
    "/api/v1": _resources("v1", secrets="Secret", configmaps="ConfigMap"),
    "/apis/example.com/v1": _resources("example.com/v1", gauges="Gauge"),
}


class Discovery:
    """Serves between `__enter__`, which gives its address, and `__exit__`."""

    def __enter__(self) -> str:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        answer = _ANSWERS.get(self.path.partition("?")[0])
        body = json.dumps(answer or {"kind": "Status", "status": "Failure", "code": 404}).encode()
        self.send_response(200 if answer else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""
