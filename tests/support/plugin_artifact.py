"""A registry on loopback that serves one Helm plugin as an OCI artifact, as `helm plugin install oci://` reads it.

    manifest    artifactType application/vnd.helm.plugin.v1+json, an empty config
    layer       application/vnd.oci.image.layer.v1.tar, titled NAME-VERSION.tgz

Source: helm.sh/helm/v4, pkg/registry/plugin.go.
"""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from types import TracebackType

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def _described(media_type: str, content: bytes, **more: Any) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": media_type, "digest": digest, "size": len(content), **more}


class PluginRegistry:
    """Serves between `__enter__`, which gives HOST:PORT, and `__exit__`; every repository and tag is the plugin."""

    def __init__(self, name: str, version: str, archive: bytes) -> None:
        title = {"org.opencontainers.image.title": f"{name}-{version}.tgz"}
        config = _described("application/vnd.oci.empty.v1+json", b"{}")
        layer = _described("application/vnd.oci.image.layer.v1.tar", archive, annotations=title)
        manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "artifactType": "application/vnd.helm.plugin.v1+json",
                "config": config,
                "layers": [layer],
            }
        ).encode()

        class Handler(_Handler):
            manifest_body = manifest
            blobs: ClassVar = {config["digest"]: b"{}", layer["digest"]: archive}

        self._handler = Handler

    def __enter__(self) -> str:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        return f"127.0.0.1:{self._server.server_port}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    manifest_body: bytes
    blobs: ClassVar[dict[str, bytes]]

    def do_GET(self) -> None:
        last = self.path.rpartition("/")[2]
        body = self.blobs.get(last) if "/blobs/" in self.path else self.manifest_body
        found = body if body is not None and not last.endswith(".prov") else b""
        self.send_response(200 if found else 404)
        self.send_header(
            "Content-Type", _MANIFEST if "/manifests/" in self.path else "application/octet-stream"
        )
        self.send_header("Content-Length", str(len(found)))
        if found:
            self.send_header("Docker-Content-Digest", f"sha256:{hashlib.sha256(found).hexdigest()}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(found)

    do_HEAD = do_GET  # noqa: N815 - http.server's name

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""
