"""A stand-in for the kubelets of a control plane: it says that pods run and are ready. No container of anybody runs.

with Kubelet(plane):                 pods that the scheduler has bound
with Kubelet(plane, unbound=True):   all pods, where no scheduler runs
Kubelet(plane, ending=True)          a pod that is not restarted always succeeds after some looks
"""

from __future__ import annotations

import contextlib
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any, Self

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping

    from control_plane import ControlPlane

# A pod that ends is seen at least so often before it does.
_LOOKS = 3
_LOOK_SECONDS = 0.2


class Kubelet:
    """See the module. A deleted pod that was bound ends without its grace period."""

    def __init__(self, plane: ControlPlane, *, ending: bool = False, unbound: bool = False) -> None:
        self._plane, self._ending, self._unbound = plane, ending, unbound
        self._looks: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._trust = ssl.create_default_context(cafile=str(plane.ca))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _play(self) -> None:
        with httpx.Client(
            base_url=self._plane.url, headers=self._plane.client.headers, verify=self._trust, trust_env=False
        ) as client:
            while not self._stop.wait(_LOOK_SECONDS):
                with contextlib.suppress(httpx.HTTPError, ValueError):
                    for pod in client.get("/api/v1/pods").json().get("items", ()):
                        if self._unbound or pod["spec"].get("nodeName"):
                            self._look(client, pod)

    def _look(self, client: httpx.Client, pod: Mapping[str, Any]) -> None:
        at = "/api/v1/namespaces/{namespace}/pods/{name}".format_map(pod["metadata"])
        if pod["metadata"].get("deletionTimestamp"):
            client.delete(at, params={"gracePeriodSeconds": "0"})
            return
        uid = pod["metadata"]["uid"]
        self._looks[uid] = self._looks.get(uid, 0) + 1
        once = self._ending and pod["spec"].get("restartPolicy") != "Always"
        phase = "Succeeded" if once and self._looks[uid] > _LOOKS else "Running"
        if pod.get("status", {}).get("phase") not in (phase, "Succeeded", "Failed"):
            client.patch(
                f"{at}/status",
                json={"status": status(pod["spec"], phase)},
                headers={"Content-Type": "application/merge-patch+json"},
            )


def status(spec: Mapping[str, Any], phase: str) -> dict[str, Any]:
    """The status of a pod that runs and is ready, or that succeeded. phase: "Running" or "Succeeded"."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    runs = {"running": {"startedAt": now}} if phase == "Running" else ended

    def statuses(name: str, state: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "name": one["name"],
                "image": one.get("image", ""),
                "imageID": one.get("image", ""),
                "ready": True,
                "started": "running" in state,
                "restartCount": 0,
                "state": state,
            }
            for one in spec.get(name, ())
        ]

    ready = "True" if phase == "Running" else "False"
    conditions = {"PodScheduled": "True", "Initialized": "True", "ContainersReady": ready, "Ready": ready}
    return {
        "phase": phase,
        "hostIP": "127.0.0.1",
        "podIP": "127.0.0.1",
        "podIPs": [{"ip": "127.0.0.1"}],
        "startTime": now,
        "conditions": [
            {"type": name, "status": value, "lastTransitionTime": now} for name, value in conditions.items()
        ],
        "containerStatuses": statuses("containers", runs),
        "initContainerStatuses": statuses("initContainers", ended),
    }
