"""Flux' controllers on a control plane on loopback that has the real scheduler and the real workload controllers.

    with FluxSite(folder) as site:
        site.commit("shop", {"app/a.yaml": b".."})     a Git repository of that name; the commit
        site.apply(object), site.patch(..)             objects of Flux in the namespace flux-system
        site.reconciled("Kustomization", "shop")       asks Flux to reconcile it, and waits; its condition Ready
        site.shape("shop")                             what must not change while nothing changes
        site.pods("shop")                              the pods, once each is bound or refused

GitRepositories are served by `git http-backend` behind a server for CGI (RFC 3875). A stand-in for the kubelet says
that bound pods run, and that pods of Jobs end. Three nodes: amd64, arm64 with GKE's taint, arm64 without one.
"""

import itertools
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from loopback_server import Answer, Asked, LoopbackServer

import machine
from cluster_site import TAINT, UNROUTED, ClusterSite, is_refused, run_git
from control_plane import ControlPlane
from kubelet import Kubelet
from operators.build import Failed, fetched
from real_registries import free_port
from rollouts import pods_rolled_out

SOURCE = "flux-source-controller"
CONTROLLERS = (SOURCE, "flux-kustomize-controller", "flux-helm-controller")
NAMESPACE = "flux-system"
ARCH = "kubernetes.io/arch"
_CONTROLLERS = ("deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob")
_KINDS = {
    "GitRepository": "/apis/source.toolkit.fluxcd.io/v1/namespaces/{}/gitrepositories",
    "HelmChart": "/apis/source.toolkit.fluxcd.io/v1/namespaces/{}/helmcharts",
    "Kustomization": "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{}/kustomizations",
    "HelmRelease": "/apis/helm.toolkit.fluxcd.io/v2/namespaces/{}/helmreleases",
}
_WORKLOADS = ("deployments", "statefulsets", "daemonsets")
_REQUESTED = "reconcile.fluxcd.io/requestedAt"
_PATIENCE_SECONDS = 180.0
_LOOK_SECONDS = 0.2
_LAST_LINES = 4

Object = dict[str, Any]
Value = TypeVar("Value")


class Condition(NamedTuple):
    """The condition Ready of an object of Flux. status: "True" or "False"."""

    status: str
    reason: str
    message: str


class FluxSite(ClusterSite):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.plane = ControlPlane(folder, *UNROUTED)
        self._asked = itertools.count(1)
        self._git = folder / "git"
        self._server = _GitServer(self._git)

    def _prepare(self) -> None:
        plane = self.plane
        self._exit.enter_context(plane)
        self._exit.enter_context(self._server)
        texts = [
            path.read_text(encoding="utf-8")
            for name in CONTROLLERS
            for path in sorted((_module(name) / "config/crd/bases").glob("*.yaml"))
        ]
        plane.define(texts)
        plane.namespace(NAMESPACE)
        plane.node("amd", "amd64")
        plane.node("arm-tainted", "arm64", taints=[TAINT])
        plane.node("arm", "arm64")
        plane.controllers(*_CONTROLLERS)
        self._exit.enter_context(plane.scheduler())
        self._exit.enter_context(Kubelet(plane, ending=True))
        storage, address = self._folder / "storage", f"127.0.0.1:{free_port()}"
        storage.mkdir()
        stored = (f"--storage-path={storage}", f"--storage-addr={address}", f"--storage-adv-addr={address}")
        for name in CONTROLLERS:
            self._start(name, *(stored if name == SOURCE else ()))

    def _start(self, name: str, *words: str) -> None:
        place = self._folder / f"tmp-{name}"
        place.mkdir()
        ports = [f"--{what}-addr=127.0.0.1:{free_port()}" for what in ("metrics", "health")]
        self.plane.start(
            name,
            [
                machine.tool(name),
                *ports,
                "--watch-all-namespaces=true",
                "--enable-leader-election=false",
                *words,
            ],
            KUBECONFIG=str(self.plane.kubeconfig),
            RUNTIME_NAMESPACE=NAMESPACE,
            TMPDIR=str(place),
            HOME=str(place),
        )

    def commit(self, name: str, files: Mapping[str, bytes | None]) -> str:
        """Write files into a repository, and its commit. None removes a file."""
        place = self._git / name
        if not place.exists():
            place.mkdir(parents=True)
            run_git(place, "init", "--quiet", "--initial-branch=main")
        for path, content in files.items():
            target = place / path
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        run_git(place, "add", "--all")
        run_git(place, "commit", "--quiet", "--allow-empty", "--message=Change")
        return run_git(place, "rev-parse", "HEAD")

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.port}/{name}/.git"

    def apply(self, value: Mapping[str, Any]) -> None:
        """Server-side apply, as `kubectl apply --server-side` of an object of Flux does."""
        place = f"{_KINDS[value['kind']].format(NAMESPACE)}/{value['metadata']['name']}"
        self.plane.client.patch(
            place,
            content=json.dumps(value),
            params={"fieldManager": "tests", "force": "true"},
            headers={"Content-Type": "application/apply-patch+yaml"},
        ).raise_for_status()

    def get(self, kind: str, name: str) -> Object:
        found: Object = self.plane.get(f"{_KINDS[kind].format(NAMESPACE)}/{name}")
        return found

    def merge(self, path: str, value: Mapping[str, Any], manager: str) -> None:
        """A merge patch (RFC 7386) of any object by its path."""
        self.plane.client.patch(
            path,
            content=json.dumps(value),
            params={"fieldManager": manager},
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()

    def reconciled(self, kind: str, name: str, *, forced: bool = False) -> Condition:
        """As `flux reconcile KIND NAME [--force]`: what came of it. Raises Failed."""
        token = str(next(self._asked))
        words = {_REQUESTED: token, **({"reconcile.fluxcd.io/forceAt": token} if forced else {})}
        place = f"{_KINDS[kind].format(NAMESPACE)}/{name}"
        self.merge(place, {"metadata": {"annotations": words}}, "flux")

        def ended() -> Condition | None:
            found = self.get(kind, name)
            status = found.get("status", {})
            conditions = {one["type"]: one for one in status.get("conditions", ())}
            ready = conditions.get("Ready", {"status": "Unknown"})
            # A failed attempt leaves observedGeneration of a Kustomization as it was.
            if status.get("lastHandledReconcileAt") != token or ready["status"] == "Unknown":
                return None
            if ready["status"] == "True" and (
                status.get("observedGeneration") != found["metadata"]["generation"]
                or conditions.get("Reconciling", {}).get("status") == "True"
            ):
                return None
            return Condition(ready["status"], ready["reason"], ready["message"])

        return self.until(f"{kind} {name} is reconciled", ended)

    def source(self, name: str, commit: str) -> None:
        """Make the GitRepository of a repository, and wait until its commit is fetched."""
        self.apply(
            {
                "apiVersion": "source.toolkit.fluxcd.io/v1",
                "kind": "GitRepository",
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {"interval": "1h", "url": self.url(name), "ref": {"branch": "main"}},
            }
        )
        self.fetched(name, commit)

    def fetched(self, name: str, commit: str) -> None:
        """Let source-controller clone a repository, and wait for the commit."""
        condition = self.reconciled("GitRepository", name)
        revision = self.get("GitRepository", name).get("status", {}).get("artifact", {}).get("revision", "")
        if not revision.endswith(commit):
            raise Failed(f"cloning {name}", f"{revision}, not {commit}: {condition.message}")

    def until(self, what: str, probe: Callable[[], Value | None]) -> Value:
        """The first true value of `probe`. Raises Failed with the last words of each controller."""
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while not (value := probe()):
            self.plane.alive()
            if time.monotonic() > give_up:
                logs = (self.plane.log(name).splitlines()[-_LAST_LINES:] for name in CONTROLLERS)
                said = "\n".join(line for lines in logs for line in lines)
                raise Failed(f"waiting {_PATIENCE_SECONDS:.0f} s until {what}", said)
            time.sleep(_LOOK_SECONDS)
        return value

    def workloads(self, namespace: str) -> dict[str, Object]:
        """Deployments, StatefulSets, DaemonSets and CronJobs by KIND/NAME."""
        found = {}
        for group, plural in (*(("apps", one) for one in _WORKLOADS), ("batch", "cronjobs")):
            listed = self.plane.get(f"/apis/{group}/v1/namespaces/{namespace}/{plural}")
            kind = listed["kind"].removesuffix("List")
            found.update({f"{kind}/{one['metadata']['name']}": one for one in listed["items"]})
        return found

    def shape(self, namespace: str) -> dict[str, Any]:
        """Generations of the workloads, and which ReplicaSets, ControllerRevisions and pods there are."""
        made = {
            plural: sorted(
                one["metadata"]["uid"]
                for one in self.plane.get(f"{path}/namespaces/{namespace}/{plural}")["items"]
                if not _is_of_hook(one)
            )
            for path, plural in (
                ("/apis/apps/v1", "replicasets"),
                ("/apis/apps/v1", "controllerrevisions"),
                ("/api/v1", "pods"),
            )
        }
        workloads = self.workloads(namespace).items()
        return {"generations": {name: one["metadata"]["generation"] for name, one in workloads}, **made}

    def pods(self, namespace: str) -> list[Object]:
        """The pods of the newest templates, once the workloads have as many as they want. Raises Failed."""

        def settled() -> list[Object] | None:
            workloads = self.workloads(namespace)
            if any(
                "jobTemplate" not in one["spec"] and pods_rolled_out(one) is None
                for one in workloads.values()
            ):
                return None
            found = self.plane.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
            return found if all(one["spec"].get("nodeName") or is_refused(one) for one in found) else None

        return self.until(f"the workloads of {namespace} are rolled out", settled)

    def events(self, name: str, *reasons: str) -> int:
        """How many events Flux has written of its object of that name with one of these reasons."""
        return sum(number for reason, _, number in self._events(name) if reason in reasons)

    def told(self, name: str, *words: str) -> int:
        return sum(
            number for _, message, number in self._events(name) if any(word in message for word in words)
        )

    def _events(self, name: str) -> list[tuple[str, str, int]]:
        items = self.plane.get(f"/api/v1/namespaces/{NAMESPACE}/events")["items"]
        return [
            (one["reason"], one["message"], one.get("count") or 1)
            for one in items
            if one["involvedObject"]["name"] == name
            and one["involvedObject"]["kind"] in ("Kustomization", "HelmRelease")
        ]

    def architectures(self) -> dict[str, str]:
        nodes = self.plane.get("/api/v1/nodes")["items"]
        return {one["metadata"]["name"]: one["metadata"]["labels"][ARCH] for one in nodes}


def _module(name: str) -> Path:
    tool = machine.TABLE[name]
    return fetched(f"{tool.origin.split()[0]}@{tool.version}")


def _is_of_hook(one: Mapping[str, Any]) -> bool:
    """Whether it is the pod of a hook, by its Job or by its annotation: those come with each upgrade."""
    metadata = one["metadata"]
    owners = metadata.get("ownerReferences", ())
    return "helm.sh/hook" in metadata.get("annotations", {}) or any(
        owner["kind"] == "Job" for owner in owners
    )


class _GitServer(LoopbackServer):
    """`git http-backend` for the repositories of a folder."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        root.mkdir()
        self._root = root

    def stored(self, asked: Asked) -> Answer:
        path, _, query = asked.path.partition("?")
        settings = {
            "GIT_PROJECT_ROOT": str(self._root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": asked.method,
            "CONTENT_TYPE": asked.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(asked.body)),
            "HTTP_CONTENT_ENCODING": asked.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        words, environ = ("git", "http-backend"), {**os.environ, **settings}
        done = subprocess.run(words, input=asked.body, capture_output=True, check=False, env=environ)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        status = headers.pop("Status", "200 OK")
        return Answer(int(status.split()[0]), content, headers)
