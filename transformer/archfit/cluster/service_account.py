"""The cluster from inside: a pod's service account and the API server that its environment names.

The token is read for each request, as the kubelet renews it; ca.crt is the only CA that counts. Source:
kubernetes.io/docs/tasks/run-application/access-api-from-pod; docs/reference/using-api/server-side-apply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

from archfit.cluster.cluster_error import ClusterError, reason_of_status
from archfit.cluster.kubectl import DEFINITION, MAX_OUTPUT, decoded
from archfit.registry.http.connections import ConnectionPool
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.limits import LargeBodies
from archfit.registry.http.request import Request, TooLarge
from archfit.registry.http.trust import Tls, Trust, host_port
from archfit.registry.lookup_context import Deadline
from archfit.registry.registry_errors import RegistryError

HOST = "KUBERNETES_SERVICE_HOST"
PORT = "KUBERNETES_SERVICE_PORT"
FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
_PLURALS = {
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    DEFINITION: "customresourcedefinitions",
}
# The manager of `kubectl apply --server-side`: with another one, list items that kubectl applied would stay for ever.
_QUERY = "?fieldManager=kubectl&force=true"
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_LONGEST_MESSAGE = 2000
_WAIT_SECONDS = 0.2
_READY_SECONDS = 30.0


class ServiceAccount:
    """The API of the cluster that this pod runs in. seconds: for all requests together. Raises ClusterError."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float, folder: str = FOLDER) -> None:
        host = environ[HOST]
        host = f"[{host}]" if ":" in host else host
        self._base = f"https://{host}:{environ.get(PORT) or '443'}"
        self._token = os.path.join(folder, "token")
        certificates = os.path.join(folder, "ca.crt")
        deadline = Deadline()
        deadline.start(seconds)
        self._left = deadline.left
        self._seconds = seconds
        try:
            server = host_port(self._base)
            trust = Trust({server: Tls(ca=(certificates,), usual=False)})
            connections = ConnectionPool(self._left, HostPolicy({server}), trust, {})  # through no proxy
            connections.context(trust.of(*server))
        except RegistryError as error:
            raise ClusterError(f"{certificates} cannot be used ({error})") from None
        self._http = HttpClient(connections, LargeBodies(self._left), read_seconds=seconds)

    def get(self, path: str) -> Any:
        return decoded(self._request("GET", path), f"GET {path}")

    def text(self, path: str) -> str:
        return self._request("GET", path).decode(errors="replace")

    def context(self) -> str:
        """A pod knows no name of its cluster."""
        return ""

    def apply(self, objects: Sequence[Mapping[str, Any]]) -> list[str]:
        lines = []
        for value in objects:
            path = resource_path(value, objects)
            self._patch(f"{path}{_QUERY}", json.dumps(value).encode())
            lines.append(f"{value['kind']}/{value['metadata']['name']} applied")
        return lines

    def close(self) -> None:
        self._http.close()

    def _patch(self, path: str, body: bytes) -> None:
        """One object. A custom resource has to wait until the API server knows its definition."""
        ends = monotonic() + min(self._left(), _READY_SECONDS)
        while True:
            try:
                self._request("PATCH", path, body)
            except ClusterError as error:
                if error.reason != "not-found" or monotonic() >= ends:
                    raise
                sleep(_WAIT_SECONDS)
            else:
                return

    def _request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        if not self._left():
            raise self._too_late(method, path)
        try:
            with open(self._token, encoding="ascii") as file:
                token = file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ClusterError(f"{self._token} cannot be read ({type(error).__name__})") from None
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            **(_APPLY if body else {}),
        }
        try:
            reply = self._http.exchange(
                Request("api", method, self._base + path, headers, self._base, MAX_OUTPUT, body or b"")
            )
        except TooLarge:
            raise ClusterError(f"{method} {path} gave more than {MAX_OUTPUT >> 20} MiB") from None
        except RegistryError as error:
            if not self._left():
                raise self._too_late(method, path) from None
            raise ClusterError(f"{self._base} cannot be asked ({error})", "unreachable") from None
        if 200 <= reply.status <= 299:
            return reply.body
        words = _message(reply.body)
        answer = f"{method} {path} answered {reply.status}{words and f' ({words})'}"
        raise ClusterError(answer, reason_of_status(reply.status))

    def _too_late(self, method: str, path: str) -> ClusterError:
        return ClusterError(f"{method} {path}: no answer within {self._seconds:g} s", "timeout")


def _message(content: bytes) -> str:
    """What a metav1.Status says, or the beginning of any other answer."""
    text = content[:_LONGEST_MESSAGE].decode(errors="replace").strip()
    try:
        status = json.loads(content)
    except (ValueError, RecursionError):
        return text
    message = status.get("message") if isinstance(status, dict) else None
    return message[:_LONGEST_MESSAGE] if isinstance(message, str) else text


def plural(value: Mapping[str, Any], beside: Iterable[Mapping[str, Any]]) -> str:
    """The plural of an object's kind. beside: objects among which its definition may be. Raises ClusterError."""
    kind = value["kind"]
    if kind in _PLURALS:
        return _PLURALS[kind]
    for other in beside:
        if other["kind"] == DEFINITION and other["spec"]["names"]["kind"] == kind:
            return str(other["spec"]["names"]["plural"])
    raise ClusterError(f"{kind} has no definition beside it, so its place in the API is not known")


def resource_path(value: Mapping[str, Any], beside: Iterable[Mapping[str, Any]]) -> str:
    """The path of an object, as /apis/GROUP/VERSION/[namespaces/NAMESPACE/]PLURAL/NAME. Raises ClusterError.

    Source: kubernetes.io/docs/reference/using-api/api-concepts, resource URIs.
    """
    metadata = value["metadata"]
    inside = f"/namespaces/{quote(metadata['namespace'])}" if metadata.get("namespace") else ""
    group = "/api" if "/" not in value["apiVersion"] else "/apis"
    return f"{group}/{value['apiVersion']}{inside}/{plural(value, beside)}/{quote(metadata['name'])}"
