"""A stand-in for the kubelets of a control plane: it says that pods run and are ready. No container of anybody runs.

with Kubelet(plane):                 pods that the scheduler has bound
with Kubelet(plane, unbound=True):   all pods, where no scheduler runs
Kubelet(plane, ending=True)          a pod that is not restarted always succeeds after some looks
Kubelet(plane, nodes=("n1",))        pods bound to these nodes, whose Leases it renews; image_ids: as in `status`

RunningKubelet (running_kubelet.py) runs what it says.
"""

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import httpx

from control_plane import ControlPlane

# A pod that ends is seen at least so often before it does.
_LOOKS = 3
_LOOK_SECONDS = 0.2
LEASE_SECONDS = 1.0


class Kubelet:
    """See the module. A deleted pod that was bound ends without its grace period."""

    def __init__(
        self,
        plane: ControlPlane,
        *,
        ending: bool = False,
        unbound: bool = False,
        nodes: Sequence[str] = (),
        image_ids: Mapping[str, str] | None = None,
    ) -> None:
        self._plane, self._ending, self._unbound = plane, ending, unbound
        self._nodes, self._image_ids, self._renewed = nodes, image_ids, 0.0
        self._looks: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _play(self) -> None:
        with self._plane.another_client() as client:
            while not self._stop.wait(_LOOK_SECONDS):
                with contextlib.suppress(httpx.HTTPError, ValueError):
                    if time.monotonic() - self._renewed > LEASE_SECONDS:
                        self._renewed = time.monotonic()
                        for node in self._nodes:
                            renew_lease(client, node)
                    for pod in client.get("/api/v1/pods").json().get("items", ()):
                        node = pod["spec"].get("nodeName")
                        if node in self._nodes if self._nodes else self._unbound or node:
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
                json={"status": status(pod["spec"], phase, self._image_ids)},
                headers={"Content-Type": "application/merge-patch+json"},
            )


def renew_lease(client: httpx.Client, node: str) -> None:
    """What says that a node is there, to the controller of nodes. Raises httpx.HTTPError."""
    place = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    spec = {
        "holderIdentity": node,
        "leaseDurationSeconds": 40,
        "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime()),
    }
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": node},
        "spec": spec,
    }
    client.patch(
        f"{place}/{node}",
        json=lease,
        params={"fieldManager": "kubelet", "force": "true"},
        headers={"Content-Type": "application/apply-patch+yaml"},
    ).raise_for_status()


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def status(spec: Mapping[str, Any], phase: str, image_ids: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The status of a pod that runs and is ready, or that succeeded. phase: "Running" or "Succeeded".

    image_ids: the imageID of each image; without it, the image.
    """
    moment = now()
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": moment, "finishedAt": moment}}
    runs = {"running": {"startedAt": moment}} if phase == "Running" else ended
    states = {one["name"]: {"state": runs} for one in spec.get("containers", ())}
    states |= {one["name"]: {"state": ended} for one in spec.get("initContainers", ())}
    ready = all("running" in states[one["name"]]["state"] for one in spec.get("containers", ()))
    return status_of(spec, phase, states, started=moment, ready=ready, image_ids=image_ids)


def status_of(
    spec: Mapping[str, Any],
    phase: str,
    states: Mapping[str, Mapping[str, Any]],
    *,
    started: str,
    ready: bool,
    image_ids: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The status of a pod. states: of each container `state`, and `restartCount` and `lastState` where they are known.

    started: the pod's moment.
    """
    moment = now()

    def statuses(name: str, *, init: bool) -> list[dict[str, Any]]:
        return [
            {
                "name": one["name"],
                "image": one.get("image", ""),
                "imageID": (image_ids or {}).get(one.get("image", ""), one.get("image", "")),
                "restartCount": 0,
                **(found := states[one["name"]]),
                "ready": "running" in found["state"] or _succeeded(found["state"]) if init else ready,
                "started": "running" in found["state"],
            }
            for one in spec.get(name, ())
        ]

    initialized = all(_succeeded(states[one["name"]]["state"]) for one in spec.get("initContainers", ()))
    conditions = {"PodScheduled": True, "Initialized": initialized, "ContainersReady": ready, "Ready": ready}
    return {
        "phase": phase,
        "hostIP": "127.0.0.1",
        "podIP": "127.0.0.1",
        "podIPs": [{"ip": "127.0.0.1"}],
        "startTime": started,
        "conditions": [
            {"type": name, "status": str(value), "lastTransitionTime": moment}
            for name, value in conditions.items()
        ],
        "containerStatuses": statuses("containers", init=False),
        "initContainerStatuses": statuses("initContainers", init=True),
    }


def _succeeded(state: Mapping[str, Any]) -> bool:
    return bool(state.get("terminated", {}).get("exitCode") == 0)
