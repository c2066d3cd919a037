"""The API server refuses the snapshot of an audit in parts: what the Job says, and what is left on the volume.

    Gateway      between the pods and the API server: it passes on, and answers some requests in its own words
    REFUSALS     name -> Refusal: what is refused, how the Job ends, and what its log has to say

A refusal that passes ends in a whole snapshot; any other one in exit code 1, and the volume is as it was.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from loopback_server import Answer, Asked, LoopbackServer

from control_plane import ControlPlane
from whole.fleet.site import NAMESPACE, FleetSite

_JOB = "archfit-audit-snapshot"
_PODS = "/api/v1/pods"
_BLOCK = b" " * (1 << 20)
_TOO_LARGE = 257  # blocks; archfit reads 256 MiB


class Gateway(LoopbackServer):
    """See the module. It has the certificate of the API server."""

    def __init__(self, plane: ControlPlane) -> None:
        self._client = plane.another_client(token=False)
        super().__init__(plane.tls.context())

    def stored(self, asked: Asked) -> Answer:
        headers: dict[str, str] = {
            name: asked.headers[name] for name in ("authorization", "accept") if name in asked.headers
        }
        answer = self._client.request(asked.method, asked.path, headers=headers)
        return Answer(answer.status_code, answer.content, {"Content-Type": answer.headers["content-type"]})

    def close(self) -> None:
        super().close()
        self._client.close()


class Refusal(NamedTuple):
    """script: what the gateway answers. says: words of the log. passes: whether the snapshot is whole in the end."""

    script: Callable[[Asked], Answer | None]
    says: str
    passes: bool = False


def _status(code: int, reason: str, message: str) -> Answer:
    """A failure as the API server writes it."""
    value = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    body = json.dumps({**value, "reason": reason, "message": message}).encode()
    return Answer(code, body, {"Content-Type": "application/json"})


def _for_pods(answer: Callable[[], Answer], *, first: int = 1 << 30) -> Callable[[Asked], Answer | None]:
    left = first

    def script(asked: Asked) -> Answer | None:
        nonlocal left
        if not asked.path.startswith(_PODS) or left <= 0:
            return None
        left -= 1
        return answer()

    return script


def _blocks() -> Iterator[bytes]:
    yield b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}'
    for _ in range(_TOO_LARGE):
        yield _BLOCK


def _large() -> Answer:
    return Answer(200, chunks=_blocks(), headers={"Content-Type": "application/json"})


def _gone() -> Answer:
    return _status(410, "Expired", "The provided continue parameter is too old")


REFUSALS: Mapping[str, Refusal] = {
    "the API server says 401": Refusal(_for_pods(lambda: _status(401, "Unauthorized", "Unauthorized")), "401"),
    "the API server says 403": Refusal(_for_pods(lambda: _status(403, "Forbidden", "pods is forbidden")), "forbidden"),
    "the API server says 410 once": Refusal(_for_pods(_gone, first=1), "", passes=True),
    "the API server says 410 each time": Refusal(_for_pods(_gone), "410"),
    "a list above 256 MiB": Refusal(_for_pods(_large), "256 MiB"),
}  # fmt: skip


def refused(site: FleetSite, out: Path, refusal: Refusal) -> tuple[dict[str, Any], list[str]]:
    """Run the snapshot's Job behind a gateway: what was measured, and what is wrong."""
    wrong: list[str] = []
    before = (site.audit / "snapshot.json").read_bytes()
    quick = site.folder / "snapshot.yaml"
    text = (out / "1-snapshot.yaml").read_text(encoding="utf-8")
    quick.write_text(text.replace('"backoffLimit": 2', '"backoffLimit": 0'), encoding="utf-8")
    began = time.monotonic()
    with Gateway(site.plane) as gateway:
        gateway.on(refusal.script)
        for kubelet in site.kubelets.values():
            kubelet.api = gateway.url
        try:
            site.start(quick)
            ended = site.ended(_JOB)
            (pod,) = (one["metadata"]["name"] for one in site.pods(_JOB))
            said = site.plane.kubectl("logs", "-n", NAMESPACE, pod).stdout
            code = _exit_code(site, pod)
        finally:
            for kubelet in site.kubelets.values():
                kubelet.api = site.plane.url
    wanted = ("Complete", 0) if refusal.passes else ("BackoffLimitExceeded", 1)
    if (ended, code) != wanted:
        wrong.append(f"the Job ended with {ended} and exit code {code}: {said[-400:]}")
    if refusal.says not in said or "Traceback" in said:
        wrong.append(f"it does not say {refusal.says!r}: {said[-400:]}")
    same = (site.audit / "snapshot.json").read_bytes() == before
    if same is refusal.passes:
        wrong.append("the snapshot of before is " + ("still there" if same else "gone"))
    return {"job": ended, "exit": code, "seconds": round(time.monotonic() - began)}, wrong


def _exit_code(site: FleetSite, pod: str) -> int:
    found = site.plane.get(f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}")
    return int(found["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"])
