"""A stand-in for the kubelet of one node that really runs the pods bound to it, as processes of this machine.

    with RunningKubelet(plane, "n1", "amd64", folder, IMAGES) as kubelet:     makes the Node, and runs its pods
        kubelet.oom(pod, "archfit")    kills what runs in a container, as the kernel does out of memory
        kubelet.lose()                 the node has lost power: processes are gone, no word to the API server
        kubelet.wrong                  what the stand-in does not know, and what failed in itself
    Image({"/usr": "/usr"}, {"PATH": "/usr/bin"})       what an image is here: paths of this machine, and its variables

    a pod       volumes -> init containers in their order -> containers together -> Succeeded or Failed
    an end      deletion: SIGTERM, the grace period, SIGKILL, last status, then the object goes
    the node    its Lease is renewed each second; its logs are served, so `kubectl logs` works

Each container is `container_process.Container`: the root, mounts, user and process 1 of its own; volumes and variables
are of `pod_inputs`. Nothing is restarted, and probes, sidecars, hooks and deadlines are not there; a pod that asks for
them is named in `wrong`. A status is a strategic merge, so conditions of others stay.
Source: k8s.io/kubernetes v1.36, pkg/kubelet (kubelet_pods.go, status_manager.go).
"""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import httpx
from loopback_server import Answer, Asked, LoopbackServer

from container_process import Container, Spec
from control_plane import ControlPlane
from kubelet import LEASE_SECONDS, now, renew_lease, status_of
from pod_inputs import NotThere, PodInputs, expanded

_LOOK_SECONDS = 0.1
_AGAIN_SECONDS = 1.0
_NOBODY = 65534
_STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
_UNKNOWN = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "envFrom", "restartPolicy")


class Image(NamedTuple):
    """paths: in the container -> of this machine, read-only; a link stays one."""

    paths: Mapping[str, str]
    environ: Mapping[str, str]


class RunningKubelet:
    """See the module. images: name -> Image; a pod of another image waits for ever."""

    def __init__(
        self, plane: ControlPlane, name: str, architecture: str, folder: Path, images: Mapping[str, Image]
    ) -> None:
        self.plane, self.name, self.images, self.folder = plane, name, images, folder / name
        self.wrong: list[str] = []
        # Where pods find the API server.
        self.api = plane.url
        self._architecture = architecture
        self._stop, self.lost = threading.Event(), threading.Event()
        self._pods: dict[str, _Pod] = {}
        self._thread = threading.Thread(target=self._play, daemon=True)
        self.client = plane.another_client()
        self._server = LoopbackServer(plane.tls.context())
        self._server.on(self._logged)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True)
        self.plane.node(self.name, self._architecture)
        addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]
        port = {"kubeletEndpoint": {"Port": self._server.port}}
        moment = now()
        ready = {
            "type": "Ready",
            "status": "True",
            "lastHeartbeatTime": moment,
            "lastTransitionTime": moment,
            "reason": "KubeletReady",
        }
        self.patch(
            f"/api/v1/nodes/{self.name}/status",
            {"status": {"addresses": addresses, "daemonEndpoints": port, "conditions": [ready]}},
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.lose()
        self._server.close()
        self.client.close()

    def lose(self) -> None:
        """See the module. No process is left, and nothing is said any more."""
        self.lost.set()
        self._stop.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.thread.join()

    def oom(self, pod: str, container: str) -> bool:
        return any(one.kill_process(container) for one in list(self._pods.values()) if one.name == pod)

    def _logged(self, asked: Asked) -> Answer:
        """GET /containerLogs/NAMESPACE/POD/CONTAINER, as the API server asks for `kubectl logs`."""
        *_, pod, container = urlsplit(asked.path).path.split("/")
        return Answer(body=self.log(pod, container).encode())

    def log(self, pod: str, container: str) -> str:
        """What a container of the pod has written; "" for none, also after the pod is gone."""
        path = self.folder / "logs" / f"{pod}_{container}"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _play(self) -> None:
        renewed = 0.0
        while not self._stop.wait(_LOOK_SECONDS):
            with contextlib.suppress(httpx.HTTPError, ValueError):
                if time.monotonic() - renewed > LEASE_SECONDS:
                    renew_lease(self.client, self.name)
                    renewed = time.monotonic()
                self._look()

    def _look(self) -> None:
        answer = self.client.get("/api/v1/pods", params={"fieldSelector": f"spec.nodeName={self.name}"})
        items = answer.raise_for_status().json()["items"]
        there = {pod["metadata"]["uid"] for pod in items}
        for pod in items:
            uid = pod["metadata"]["uid"]
            if uid not in self._pods:
                if pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}:
                    if pod["metadata"].get("deletionTimestamp"):
                        self.remove(pod)
                    continue
                self._pods[uid] = _Pod(self, pod)
                self._pods[uid].thread.start()
            deleted = pod["metadata"].get("deletionTimestamp")
            if deleted:
                self._pods[uid].end(pod["metadata"].get("deletionGracePeriodSeconds", 30))
                if not self._pods[uid].thread.is_alive():
                    self.remove(pod)
        for uid in set(self._pods) - there:
            self._pods[uid].end(0)

    def remove(self, pod: Mapping[str, Any]) -> None:
        metadata = pod["metadata"]
        self.client.request(
            "DELETE",
            f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}",
            json={"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}},
        )

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        return None if answer.status_code == httpx.codes.NOT_FOUND else answer.raise_for_status().json()

    def post(self, path: str, value: Any) -> Any:
        return self.client.post(path, json=value).raise_for_status().json()

    def patch(self, path: str, value: Any) -> None:
        """A strategic merge, until the API server answers; a pod that is gone is no fault."""
        while not self.lost.is_set():
            with contextlib.suppress(httpx.TransportError):
                answer = self.client.patch(path, json=value, headers=_STRATEGIC)
                if not answer.is_server_error:
                    if answer.is_error and answer.status_code not in {404, 409}:
                        self.wrong.append(f"PATCH {path}: {answer.text}")
                    return
            time.sleep(_LOOK_SECONDS)


class _Pod:
    def __init__(self, kubelet: RunningKubelet, pod: Mapping[str, Any]) -> None:
        self.thread = threading.Thread(target=self._guarded, daemon=True)
        self._kubelet, self._pod = kubelet, pod
        self.name = pod["metadata"]["name"]
        self._spec: Mapping[str, Any] = pod["spec"]
        self._folder = kubelet.folder / "pods" / pod["metadata"]["uid"]
        self._inputs = PodInputs(pod, self._folder, kubelet.get, kubelet.post)
        self._started = now()
        # When the containers have to be gone; None while nobody wants it.
        self._ends: float | None = None
        self._running: dict[str, Container] = {}
        self._states: dict[str, dict[str, Any]] = {
            one["name"]: {"state": {"waiting": {"reason": "PodInitializing"}}}
            for key in ("initContainers", "containers")
            for one in self._spec.get(key, ())
        }
        self._volumes: dict[str, Path] = {}

    def end(self, grace_seconds: float) -> None:
        """The containers are to end; an earlier end stays."""
        at = time.monotonic() + grace_seconds
        if self._ends is None:
            for container in list(self._running.values()):
                container.terminate()
        self._ends = at if self._ends is None else min(at, self._ends)

    def kill_process(self, container: str) -> bool:
        found = self._running.get(container)
        return found is not None and found.out_of_memory()

    def _guarded(self) -> None:
        try:
            self._run()
        except Exception as error:  # noqa: BLE001 - a thread has nobody who would hear of it
            if not self._kubelet.lost.is_set():
                self._kubelet.wrong.append(f"pod {self.name}: {type(error).__name__}: {error}")
        finally:
            for container in self._running.values():
                container.lose()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self) -> None:
        if not self._prepare():
            return
        for one in self._spec.get("initContainers", ()):
            if not self._succeeds([one]):
                return
        self._succeeds(self._spec["containers"])

    def _prepare(self) -> bool:
        """Volumes and images; False where the pod ended before they were there."""
        while True:
            try:
                self._check()
                self._volumes = self._inputs.volumes()
            except NotThere as error:
                self._say("Pending", str(error))
                if self._over():
                    return False
                time.sleep(_AGAIN_SECONDS)
            else:
                return True

    def _check(self) -> None:
        for key in ("initContainers", "containers"):
            for one in self._spec.get(key, ()):
                unknown = [field for field in _UNKNOWN if one.get(field)]
                if unknown:
                    raise NotImplementedError(f"{unknown[0]} of the container {one['name']}")
                if one["image"] not in self._kubelet.images:
                    raise NotThere(f"ErrImagePull: there is no image {one['image']}")

    def _over(self) -> bool:
        """Whether the pod has to end."""
        return self._ends is not None or self._kubelet.lost.is_set()

    def _succeeds(self, containers: list[Mapping[str, Any]]) -> bool:
        """Run them together until they have ended; writes the pod's phase where it ends with them."""
        last = containers is self._spec["containers"]
        codes: dict[str, int] = {}
        killed = False
        for one in () if self._over() else containers:
            self._start(one)
        while self._running:
            self._say("Running" if last else "Pending")
            said = len(self._running)
            while len(self._running) == said:
                for name, container in list(self._running.items()):
                    code = container.wait(0)
                    if code is not None:
                        codes[name] = code
                        self._ended(name, code)
                if self._kubelet.lost.is_set():
                    return False
                if self._ends is not None and time.monotonic() > self._ends and not killed:
                    killed = True
                    for container in self._running.values():
                        container.kill()
                time.sleep(0.02)
        if self._kubelet.lost.is_set():
            return False
        fine = all(codes.get(one["name"]) == 0 for one in containers)
        if last or not fine or self._ends is not None:
            self._say("Succeeded" if fine and last else "Failed")
            return False
        self._say("Pending")
        return True

    def _start(self, container: Mapping[str, Any]) -> None:
        name = container["name"]
        image = self._kubelet.images[container["image"]]
        server = urlsplit(self._kubelet.api)
        usual = {
            **image.environ,
            "HOSTNAME": self.name,
            "KUBERNETES_SERVICE_HOST": str(server.hostname),
            "KUBERNETES_SERVICE_PORT": str(server.port),
        }
        environ = self._inputs.variables(container.get("env", ()), usual)
        words = [*container["command"], *container.get("args", ())]
        security = {**self._spec.get("securityContext", {}), **container.get("securityContext", {})}
        mounts = container.get("volumeMounts", ())
        links = [(target, os.readlink(path)) for target, path in image.paths.items() if os.path.islink(path)]
        bound = [(path, target, True) for target, path in image.paths.items() if not os.path.islink(path)]
        for one in mounts:
            folder = self._volumes[one["name"]]
            bound.append((str(folder), one["mountPath"], bool(one.get("readOnly"))))
            for other in mounts:  # as MakeNestedMountpoints of the kubelet
                inner = other["mountPath"].removeprefix(f"{one['mountPath'].rstrip('/')}/")
                if inner != other["mountPath"]:
                    (folder / inner).mkdir(parents=True, exist_ok=True)
        spec = Spec(
            [expanded(word, environ) for word in words],
            environ,
            bound,
            links,
            security.get("runAsUser", _NOBODY),
            security.get("runAsGroup", _NOBODY),
            bool(security.get("readOnlyRootFilesystem")),
        )
        self._running[name] = Container(spec, self._folder / "containers" / name)
        log = self._kubelet.folder / "logs" / f"{self.name}_{name}"
        log.parent.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.link(self._running[name].log, log)
        self._states[name]["state"] = {"running": {"startedAt": now()}}

    def _ended(self, name: str, code: int) -> None:
        del self._running[name]
        since = self._states[name]["state"]["running"]["startedAt"]
        reason = "Completed" if code == 0 else "Error"
        ended = {"exitCode": code, "reason": reason, "startedAt": since, "finishedAt": now()}
        self._states[name]["state"] = {"terminated": ended}

    def _say(self, phase: str, waiting: str = "") -> None:
        metadata = self._pod["metadata"]
        ready = phase == "Running" and len(self._running) == len(self._spec["containers"])
        states = self._states
        if waiting:
            state = {"waiting": {"reason": "ContainerCreating", "message": waiting}}
            states = {name: {**one, "state": state} for name, one in states.items()}
        found = status_of(self._spec, phase, states, started=self._started, ready=ready)
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
        self._kubelet.patch(path, {"metadata": {"uid": metadata["uid"]}, "status": found})
