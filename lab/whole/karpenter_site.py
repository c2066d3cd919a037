"""Karpenter's core controllers with the kwok provider, on a control plane on loopback that has the real scheduler.

    with KarpenterSite(folder, pools, "Respect") as site:
        site.create(stream)     Deployments, StatefulSets, Jobs, DaemonSets; returns once their pods are there
        site.settle()           Karpenter makes nodes, the scheduler binds pods; returns once nothing moves
        site.nodes(), site.pods()

The kwok provider writes a Node where another one would start a machine. A stand-in for the kubelet says that the node
is ready; no container of anybody runs. Karpenter starts once the scheduler has refused every pod, so all pods are one
batch. The scheduler then fills the nodes in an order of its own, not in Karpenter's, so that a run may need one small
node more than another. Karpenter's instance types and prices are those of EC2 in
Karpenter's own examples (kwok/examples/aws_instance_types.json): the provider's built-in types cost the same on both
architectures.
"""

import datetime as dt
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import machine
from cluster_site import UNROUTED, ClusterSite, is_refused
from control_plane import ControlPlane
from operators.build import Failed, fetched

KARPENTER = "karpenter-kwok"
NAMESPACE = "shop"
POOL = "karpenter.sh/nodepool"
PRICE = "eks-node-viewer/instance-price"
SYSTEM_NODE = "system"
_TAINT = {"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}
_CONTROLLERS = ("deployment", "replicaset", "statefulset", "daemonset", "job")
_PATIENCE_SECONDS = 90.0
_QUIET_SECONDS = 3.0
_LOOK_SECONDS = 0.2
_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
# The example writes x86_64, which is no value of the label kubernetes.io/arch.
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}

Object = dict[str, Any]


def module() -> Path:
    return fetched(f"sigs.k8s.io/karpenter@{machine.TABLE[KARPENTER].version}")


def instance_types(source: Path) -> list[Object]:
    """Karpenter's list of EC2 types, with the names of architectures that Kubernetes has."""
    listed = json.loads(
        (source / "kwok" / "examples" / "aws_instance_types.json").read_text(encoding="utf-8")
    )
    return [
        {**one, "architecture": _ARCHITECTURES[one["architecture"]]}
        for one in listed
        if one["architecture"] in _ARCHITECTURES
    ]


class KarpenterSite(ClusterSite):
    """See the module. pools: KWOKNodeClass and NodePools as YAML. policy: PREFERENCE_POLICY."""

    def __init__(self, folder: Path, pools: str, policy: str) -> None:
        super().__init__()
        self._folder, self._pools, self._policy = folder, pools, policy
        self.plane = ControlPlane(folder, *UNROUTED)

    def _prepare(self) -> None:
        plane, source = self.plane, module()
        self._exit.enter_context(plane)
        texts = [
            path.read_text(encoding="utf-8")
            for path in sorted(
                (*(source / "pkg/apis/crds").glob("*.yaml"), *(source / "kwok/apis/crds").glob("*.yaml"))
            )
        ]
        plane.define(texts)
        plane.apply(self._pools)
        plane.namespace(NAMESPACE)
        plane.node(SYSTEM_NODE, "amd64", taints=[_TAINT])
        plane.controllers(*_CONTROLLERS)
        self._exit.enter_context(plane.scheduler())
        (self._folder / "instance_types.json").write_text(
            json.dumps(instance_types(source)), encoding="utf-8"
        )

    def create(self, stream: bytes) -> None:
        """Create the workloads, and wait until the scheduler has refused each of their pods."""
        wanted = sum(map(_replicas, yaml.safe_load_all(stream)))
        self.plane.kubectl("apply", "--server-side", "-n", NAMESPACE, "-f", "-", stdin=stream.decode())
        self.plane.until(
            f"{wanted} pods are refused by the scheduler",
            lambda: sum(map(is_refused, self._own_pods())) == wanted,
        )

    def settle(self) -> None:
        """Start Karpenter, and wait until every pod has a node or a refusal of Karpenter's. Raises Failed."""
        self.plane.start(
            KARPENTER,
            [machine.tool(KARPENTER)],
            KUBECONFIG=str(self.plane.kubeconfig),
            DISABLE_LEADER_ELECTION="true",
            PREFERENCE_POLICY=self._policy,
            INSTANCE_TYPES_FILE_PATH=str(self._folder / "instance_types.json"),
        )
        began = last = time.monotonic()
        before: object = None
        while time.monotonic() - began < _PATIENCE_SECONDS:
            self._play_kubelet()
            pods, claims = self.pods(), self.plane.get(_CLAIMS)["items"]
            ready = [_is_initialized(claim) for claim in claims]
            state = {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in pods}, ready
            now = time.monotonic()
            if state != before:
                before, last = state, now
            waiting = {
                pod["metadata"]["name"]
                for pod in pods
                if not (pod["spec"].get("nodeName") or is_of_daemon_set(pod))
            }
            decided = waiting <= self._refused_by_karpenter() and all(ready)
            if decided and now - last > _QUIET_SECONDS:
                return
            self.plane.alive()
            time.sleep(_LOOK_SECONDS)
        raise Failed(f"waiting {_PATIENCE_SECONDS:.0f} s for Karpenter", self.plane.log(KARPENTER))

    def nodes(self) -> list[Object]:
        """The nodes that Karpenter made."""
        return [one for one in self.plane.get("/api/v1/nodes")["items"] if POOL in one["metadata"]["labels"]]

    def pods(self) -> list[Object]:
        found: list[Object] = self.plane.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
        return found

    def _own_pods(self) -> list[Object]:
        """Those for which Karpenter makes nodes: all but the pods of DaemonSets."""
        return [pod for pod in self.pods() if not is_of_daemon_set(pod)]

    def _refused_by_karpenter(self) -> set[str]:
        events = self.plane.get(f"/api/v1/namespaces/{NAMESPACE}/events")["items"]
        return {
            one["involvedObject"]["name"]
            for one in events
            if one["reason"] == "FailedScheduling" and one["source"].get("component") == "karpenter"
        }

    def _play_kubelet(self) -> None:
        for node in self.nodes():
            if not any(one["type"] == "Ready" for one in node["status"].get("conditions", ())):
                moment = dt.datetime.now(tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
                self.plane.client.patch(
                    f"/api/v1/nodes/{node['metadata']['name']}/status",
                    json={
                        "status": {
                            "conditions": [
                                {**ready, "lastHeartbeatTime": moment, "lastTransitionTime": moment}
                            ]
                        }
                    },
                    headers={"Content-Type": "application/merge-patch+json"},
                ).raise_for_status()


def is_of_daemon_set(pod: Mapping[str, Any]) -> bool:
    owners: Sequence[Mapping[str, Any]] = pod["metadata"].get("ownerReferences", ())
    return any(owner["kind"] == "DaemonSet" for owner in owners)


def _replicas(workload: Mapping[str, Any]) -> int:
    """How many pods Karpenter has to find a place for."""
    spec = workload["spec"]
    return 0 if workload["kind"] == "DaemonSet" else int(spec.get("replicas", spec.get("parallelism", 1)))


def _is_initialized(claim: Mapping[str, Any]) -> bool:
    conditions = claim.get("status", {}).get("conditions", ())
    return any((one["type"], one["status"]) == ("Initialized", "True") for one in conditions)
