"""A registry on loopback that serves one Helm plugin as an OCI artifact, as `helm plugin install oci://` reads it.

    manifest    artifactType application/vnd.helm.plugin.v1+json, an empty config
    layer       application/vnd.oci.image.layer.v1.tar, titled NAME-VERSION.tgz

Source: helm.sh/helm/v4, pkg/registry/plugin.go.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from image_documents import Document
from loopback_server import Answer, Asked, LoopbackServer

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def _described(media_type: str, content: bytes, **more: Any) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": media_type, "digest": digest, "size": len(content), **more}


class PluginRegistry(LoopbackServer):
    """Every repository and tag is the plugin."""

    def __init__(self, name: str, version: str, archive: bytes) -> None:
        super().__init__()
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
        self._manifest = Document(_MANIFEST, manifest)
        self._blobs = {
            described["digest"]: Document("application/octet-stream", body)
            for described, body in ((config, b"{}"), (layer, archive))
        }

    def stored(self, asked: Asked) -> Answer:
        last = asked.path.rpartition("/")[2]
        if last.endswith(".prov"):
            return Answer(404)
        found = self._blobs.get(last) if asked.kind == "blob" else self._manifest
        if not found:
            return Answer(404)
        headers = {"Content-Type": found.media_type, "Docker-Content-Digest": found.digest}
        return Answer(200, found.body, headers)
