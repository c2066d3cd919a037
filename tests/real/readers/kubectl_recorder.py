"""An API server on loopback that takes every object and remembers it: what kubectl really creates from a stream.

with KubectlRecorder(tool("kubectl"), folder) as recorder:
    recorder.created(stream)                    [{"apiVersion": "v1", "kind": "Pod", ..}, ..] in the order sent
    recorder.created(stream, "create")          the same by another command than `apply`
    recorder.created(stream, "apply", "--server-side")
    recorder.said                               what kubectl wrote to standard error then
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from loopback_server import Answer, Asked

from kubernetes_discovery import Discovery

_JSON = {"Content-Type": "application/json"}
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class KubectlRecorder(Discovery):
    """See the module. folder: for kubectl's cache and configuration."""

    def __init__(self, kubectl: str | Path, folder: Path) -> None:
        super().__init__()
        self.said = ""
        self._words = (str(kubectl), f"--server={self.url}", f"--cache-dir={folder}", "--validate=false")
        self._environ = {**os.environ, "KUBECONFIG": str(folder / "none"), "HOME": str(folder)}

    def created(self, stream: bytes, *command: str) -> list[dict[str, Any]]:
        """The objects that kubectl sends. They are taken, and none is there before."""
        before = len(self.asked)
        done = subprocess.run(
            [*self._words, *(command or ("apply",)), "--filename=-"],
            input=stream,
            env=self._environ,
            capture_output=True,
            check=False,
        )
        self.said = done.stderr.decode()
        return [_sent(asked) for asked in self.asked[before:] if asked.method in ("POST", "PATCH")]

    def stored(self, asked: Asked) -> Answer:
        """As `Discovery`, and each object that is sent comes back as it is."""
        return Answer(201, asked.body, _JSON) if asked.method in ("POST", "PATCH") else super().stored(asked)


def _sent(asked: Asked) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(asked.body)
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if (
        isinstance(metadata, dict)
        and isinstance(annotations, dict)
        and annotations.pop(_LAST_APPLIED, None)
        and not annotations
    ):
        del metadata["annotations"]
    return value
