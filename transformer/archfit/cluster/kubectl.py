"""The cluster through the user's kubectl: its login, its context, its proxy.

All calls share one deadline. What a call may write is bounded. Its complaint is shown as it is, up to a length.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from archfit.base.external_program import ExternalProgram, NoEnd, Ran
from archfit.cluster.cluster_error import ClusterError, reason_of_words

DEFINITION = "CustomResourceDefinition"
MAX_OUTPUT = 256 << 20
_APPLY = ("apply", "--server-side", "--force-conflicts", "-f", "-")


class Kubectl:
    """kubectl for one cluster. seconds: for all calls together. Raises ClusterError where there is no kubectl."""

    def __init__(
        self, environ: Mapping[str, str], *, context: str = "", kubeconfig: str = "", seconds: float
    ) -> None:
        program = shutil.which("kubectl", path=environ.get("PATH"))
        if not program:
            raise ClusterError(
                "there is no kubectl on PATH: install it (https://kubernetes.io/docs/tasks/tools/)"
            )
        self._words = [program]
        self._words += [f"--context={context}"] if context else []
        self._words += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
        self._context = context
        self._environ = environ
        self._ends = monotonic() + seconds
        self._seconds = seconds

    def get(self, path: str) -> Any:
        return decoded(self.checked("get", "--raw", path), f"kubectl get --raw {path}")

    def text(self, path: str) -> str:
        return self.checked("get", "--raw", path).decode(errors="replace")

    def context(self) -> str:
        if self._context:
            return self._context
        ran = self.run("config", "current-context")
        return ran.text.strip() if not ran.status else ""

    def apply(self, objects: Sequence[Mapping[str, Any]]) -> list[str]:
        """Applies definitions, then the rest in its order. kubectl's line about each. Raises ClusterError."""
        definitions = [value for value in objects if value["kind"] == DEFINITION]
        lines = self._apply(definitions) if definitions else []
        for value in definitions:
            name = value["metadata"]["name"]
            self.checked("wait", "--for=condition=Established", "--timeout=30s", f"crd/{name}")
        return lines + self._apply([value for value in objects if value["kind"] != DEFINITION])

    def _apply(self, objects: Sequence[Mapping[str, Any]]) -> list[str]:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        output = self.checked(*_APPLY, given=text.encode())
        return output.decode(errors="replace").splitlines()

    def close(self) -> None:
        """Nothing stays open."""

    def checked(self, *words: str, given: bytes = b"") -> bytes:
        """The output of a call that has to succeed. Raises ClusterError."""
        ran = self.run(*words, given=given)
        if ran.status:
            raise ClusterError(
                f"kubectl {words[0]} failed ({ran.complaint.strip() or f'exit status {ran.status}'})",
                reason_of_words(ran.complaint),
            )
        return ran.output

    def run(self, *words: str, given: bytes = b"") -> Ran:
        """How one call ended. Raises ClusterError where it cannot start, takes too long or writes too much."""
        program = ExternalProgram([*self._words, *words], self._environ, asks=True)
        try:
            return program.run(given, seconds=self._ends - monotonic(), most_bytes=MAX_OUTPUT)
        except NoEnd as error:
            if error.reason == "time":
                message = f"kubectl {words[0]} did not end within {self._seconds:g} s"
                raise ClusterError(message, "timeout") from None
            raise ClusterError(f"kubectl {words[0]} {error.problem}") from None


def decoded(content: bytes, source: str) -> Any:
    """JSON from the cluster. source: for messages. Raises ClusterError."""
    try:
        return json.loads(content)
    except RecursionError:
        problem = "JSON that is nested too deeply: is this the API server?"
    except ValueError:
        problem = "no JSON: is this the API server, or a proxy's page before it?"
    raise ClusterError(f"{source} gave {problem}")
