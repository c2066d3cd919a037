"""A cluster on loopback in which workloads live: real controllers and scheduler, nodes of both kinds, a registry.

with ReleaseSite(folder, platforms) as site:      platforms: image -> the platforms that the registry has of it
    site.helm("helm4")         see helm_runs; it speaks to this cluster, in the namespace `shop`
    site.settled()             Workloads: by kind and name, once nothing moves any more
    site.wrong()               pods on a node that cannot run one of their images, and pods without a node
    site.left()                what the namespace holds, as kind/name

The nodes are `amd`, `arm` and `arm-tainted`, with kubernetes.io/arch=arm64:NoSchedule. A stand-in for the kubelet says
that pods are ready; those of Jobs succeed.
"""

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from registry import Registry

import machine
from cluster_site import TAINT, ClusterSite
from control_plane import ControlPlane
from helm_runs import SYSTEM_PATH, Helm, start
from kubelet import Kubelet
from program import PROGRAM, Ran
from rollouts import pods_rolled_out

NAMESPACE = "shop"
NODES = {"amd": "amd64", "arm": "arm64", "arm-tainted": "arm64"}
_CONTROLLERS = ("deployment", "replicaset", "statefulset", "daemonset", "job", "garbage-collector")
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
_APPS, _CORE = "apis/apps/v1", "api/v1"
_GROUPS = {
    **dict.fromkeys((*WORKLOADS, "ReplicaSet", "ControllerRevision"), _APPS),
    **dict.fromkeys(("Pod", "Service", "Secret", "Event"), _CORE),
    "Job": "apis/batch/v1",
}
_FOREIGN = ("ARCHFIT_", "HELM_", "KUSTOMIZE_", "XDG_")
# What each namespace has by itself, and what only tells of what was.
_NOT_OF_A_RELEASE = {"Event", "ConfigMap/kube-root-ca.crt"}


class Workload(NamedTuple):
    """generation: of the object. template: its pod template. pods: their uids. managers: (name, operation)."""

    generation: int
    template: Mapping[str, Any]
    pods: frozenset[str]
    managers: tuple[tuple[str, str], ...]


Workloads = dict[str, Workload]


def rolled(before: Workloads, after: Workloads) -> list[str]:
    """The workloads all of whose pods are others now."""
    return [name for name in sorted(before) if name in after and not before[name].pods & after[name].pods]


def written(before: Workloads, after: Workloads) -> list[str]:
    """The workloads whose object has another generation or a pod that it had not: what a change touched at all."""
    return [
        name
        for name in sorted(after)
        if name not in before
        or before[name].generation != after[name].generation
        or before[name].pods != after[name].pods
    ]


class ReleaseSite(ClusterSite):
    """See the module. folder: of its own."""

    def __init__(self, folder: Path, platforms: Mapping[str, Sequence[str]], *flags: str) -> None:
        super().__init__()
        self.folder, self.platforms = folder, platforms
        self.plane = ControlPlane(folder, "--advertise-address=127.0.0.1", *flags)
        self._helms: dict[str, Helm] = {}

    def _prepare(self) -> None:
        plane, opened = self.plane, self._exit
        self.registry = opened.enter_context(Registry(self.platforms))
        opened.enter_context(plane)
        plane.namespace(NAMESPACE)
        for name, architecture in NODES.items():
            plane.node(name, architecture, taints=[TAINT] if name == "arm-tainted" else [])
        plane.controllers(*_CONTROLLERS)
        opened.enter_context(plane.scheduler())
        opened.enter_context(Kubelet(plane, ending=True))

    @property
    def environ(self) -> dict[str, str]:
        """Of the programs that run here: a home of their own, this cluster and this registry."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {
            **kept,
            "HOME": str(home),
            "KUBECONFIG": str(self.plane.kubeconfig),
            "ARCHFIT_MIRROR": " ".join(self.registry.mirrors()[1::2]),
            "PATH": SYSTEM_PATH,
        }

    def helm(self, name: str) -> Helm:
        """A Helm by name, "helm3" or "helm4", with archfit behind it."""
        if name not in self._helms:
            environ = self.environ
            folder = self.folder / name
            folder.mkdir()
            helm = Helm(name, folder, environ["ARCHFIT_MIRROR"])
            path, plugins = helm.environ["PATH"], helm.environ.get("HELM_PLUGINS")
            helm.environ = {**environ, "PATH": path, "HELM_NAMESPACE": NAMESPACE}
            if plugins:
                helm.environ["HELM_PLUGINS"] = plugins
            self._helms[name] = helm
        return self._helms[name]

    def archfit(self, *words: str, cwd: Path | None = None) -> Ran:
        return start([str(PROGRAM), *words], self.environ, cwd)

    def objects(self, *kinds: str) -> list[dict[str, Any]]:
        found = []
        for kind in kinds:
            group = _GROUPS[kind]
            items = self.plane.get(f"/{group}/namespaces/{NAMESPACE}/{kind.lower()}s")["items"]
            found += [{**one, "kind": kind} for one in items]
        return found

    def settled(self) -> Workloads:
        """The workloads once each of their pods is of their newest template, ready, and none is left of another."""
        return self.plane.until("the workloads have settled", self._settled)

    def _settled(self) -> Workloads | None:
        listed = self.objects(*WORKLOADS, "ReplicaSet", "Pod")
        pods = defaultdict(set)
        owner_of = {one["metadata"]["uid"]: _owner(one) for one in listed if one["kind"] == "ReplicaSet"}
        for one in listed:
            if one["kind"] == "Pod":
                if one["metadata"].get("deletionTimestamp"):
                    return None
                pods[owner_of.get(_owner(one), _owner(one))].add(one["metadata"]["uid"])
        found = {}
        for one in listed:
            if one["kind"] in ("Pod", "ReplicaSet"):
                continue
            own = pods[one["metadata"]["uid"]]
            if not _is_settled(one, len(own)):
                return None
            managers = tuple(
                (entry["manager"], entry["operation"])
                for entry in one["metadata"].get("managedFields", ())
                if entry.get("subresource") != "status"
            )
            found[f"{one['kind']}/{one['metadata']['name']}"] = Workload(
                one["metadata"]["generation"],
                one["spec"]["template"],
                frozenset(own),
                tuple(sorted(managers)),
            )
        return found

    def pods(self) -> list[dict[str, Any]]:
        """All pods of the namespace."""
        return self.objects("Pod")

    def wrong(self, but: Sequence[str] = ()) -> list[str]:
        """`web on arm`, `web without a node`; by the first container's name, each once. but: that do not count."""
        found = set()
        for pod in self.pods():
            spec = pod["spec"]
            node = spec.get("nodeName")
            name = spec["containers"][0]["name"]
            if name in but:
                continue
            if not node:
                found.add(f"{name} without a node")
            elif any(f"linux/{NODES[node]}" not in self.platforms[image] for image in _images(spec)):
                found.add(f"{name} on {node}")
        return sorted(found)

    def left(self) -> list[str]:
        """kind/name of every object of the namespace, once nothing is being deleted any more."""

        def stands() -> list[str] | None:
            kinds = self.plane.kubectl("api-resources", "--namespaced", "--verbs=list,delete", "-o", "name")
            answer = self.plane.kubectl("get", ",".join(kinds.stdout.split()), "-n", NAMESPACE, "-o", "json")
            listed = json.loads(answer.stdout)["items"]
            if any(one["metadata"].get("deletionTimestamp") for one in listed):
                return None
            owners = {one["metadata"]["uid"] for one in listed}
            if any(_owner(one) not in owners for one in listed if _owner(one)):
                return None
            names = {f"{one['kind']}/{one['metadata']['name']}": one["kind"] for one in listed}
            return ["", *sorted(name for name, kind in names.items() if not {kind, name} & _NOT_OF_A_RELEASE)]

        return self.plane.until("nothing is being deleted", stands)[1:]

    def empty(self) -> None:
        kinds = (*WORKLOADS, "Job", "Pod", "Service", "Secret", "ControllerRevision")
        self.plane.kubectl(
            *("delete", ",".join(kinds), "-n", NAMESPACE, "--all", "--wait=false", "--cascade=background")
        )
        self.plane.until("the namespace is empty", lambda: not self.objects(*kinds, "ReplicaSet"))


def platforms_of(name: str) -> dict[str, list[str]]:
    path = machine.ROOT / "fixtures" / "whole" / name / "platforms.json"
    found: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _images(spec: Mapping[str, Any]) -> list[str]:
    return [one["image"] for one in (*spec["containers"], *spec.get("initContainers", ()))]


def _owner(value: Mapping[str, Any]) -> str:
    """The uid of the controller that made it, "" without one."""
    owners = value["metadata"].get("ownerReferences", ())
    return next((str(one["uid"]) for one in owners if one.get("controller")), "")


def _is_settled(value: Mapping[str, Any], pods: int) -> bool:
    # Nodes are there, and every DaemonSet of a test has one that takes it.
    return pods_rolled_out(value) == pods and (pods > 0 or value["kind"] != "DaemonSet")
