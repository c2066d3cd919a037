"""A cluster on loopback in which the audits of the chart really run: real controllers, and nodes that run the pods.

    with FleetSite(folder, cluster) as site:         the workloads of `cluster` run, the registry has their images
        out = site.write("job", "shards=8")          what the chart renders, applied; its folder
        site.start(out / "1-snapshot.yaml")          as Helm starts its hooks, one after the other
        site.ended("archfit-audit-snapshot")         "Complete" or the reason why it failed
        site.audit                                   the folder that is the volume of the claim

The API server has ServiceAccount admission and RBAC on; the pods of archfit reach it with the token that it signed. The
Job, CronJob, Deployment, volume, node and taint controllers are the real ones, and the real scheduler binds the pods.
The nodes that run pods are RunningKubelets; the pods of the workloads are only said to run. archfit of this checkout
plays the command of the image, as user 65532, process 1, with a read-only root.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from loopback_server import Asked
from registry import Registry

import file_runs
import machine
from chart_runs import Chart
from cluster_site import UNROUTED, ClusterSite
from control_plane import ControlPlane
from kubelet import Kubelet
from operators.build import Failed
from program import Ran
from redis_server import RedisServer
from running_kubelet import Image, RunningKubelet

NAMESPACE = "archfit"
CLUSTER = "shop-eu"
# How the audit runs -> the release.
RELEASES = {"job": "archfit-audit", "cron": "archfit-nightly"}
NIGHTLY = "archfit-nightly-audit"
IMAGE = "registry.example.com/archfit:0.1.0"
USER = 65532
CONTROLLERS = (
    *("job", "cronjob", "deployment", "replicaset", "daemonset", "garbage-collector", "serviceaccount"),
    *("root-ca-certificate-publisher", "persistentvolume-binder", "node-lifecycle", "taint-eviction"),
    "pod-garbage-collector",
)
_QUIET_NODES = {"amd64-1": "amd64", "arm64-1": "arm64"}
# What a lost node costs in a test; Kubernetes waits 40 s and 300 s.
_GRACE_SECONDS, _TOLERATED_SECONDS = 12, 2

Object = dict[str, Any]


class Cluster(NamedTuple):
    """What is audited. images: reference -> platforms, None for one that no registry has. objects: what runs."""

    images: Mapping[str, Sequence[str] | None]
    objects: Sequence[Object]


def image_of_archfit() -> Image:
    """The checkout's archfit with its Python, as an image."""
    system = ("/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/etc/ld.so.cache", "/etc/passwd", "/etc/hosts")
    own = (str(machine.ROOT), sys.prefix, sys.base_prefix)
    paths = {path: path for path in (*system, *own) if os.path.exists(path)}
    inside = [path for path in paths if any(path.startswith(f"{other}/") for other in paths if other != path)]
    path = f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    environ = {"PATH": path, "HOME": "/tmp", "XDG_CACHE_HOME": "/tmp"}
    return Image({name: name for name in paths if name not in inside}, environ)


def rendered(engine: str, values: Sequence[str] = (), words: Sequence[str] = ()) -> list[Object]:
    """What the chart renders for an engine. values: of audit.ENGINE. words: more of them for Helm."""
    sets = [word for value in values for word in ("--set", f"audit.{engine}.{value}")]
    repository, _, tag = IMAGE.rpartition(":")
    image = ("--set", f"mode=audit,audit.{engine}.enabled=true,image.repository={repository},image.tag={tag}")
    return Chart("helm4").objects(*image, *sets, *words, release=RELEASES[engine], namespace=NAMESPACE)


class FleetSite(ClusterSite):
    """See the module. nodes: names of those that run archfit's pods. flags: of the API server."""

    def __init__(
        self, folder: Path, cluster: Cluster, *, nodes: Sequence[str] = ("fleet-1", "fleet-2")
    ) -> None:
        super().__init__()
        self.folder, self.cluster = folder, cluster
        self.audit = folder
        self.plane = ControlPlane(
            folder,
            *UNROUTED,
            f"--default-unreachable-toleration-seconds={_TOLERATED_SECONDS}",
            f"--default-not-ready-toleration-seconds={_TOLERATED_SECONDS}",
            accounts=True,
        )
        self._images = {IMAGE: image_of_archfit()}
        self.moments: list[Moment] = []
        # Of every request to the registry.
        self.times: list[float] = []
        self.registry = Registry(cluster.images, before_request=self._act)
        self.cache = RedisServer(folder)
        self.kubelets: dict[str, RunningKubelet] = {}
        self.nodes = nodes

    def _prepare(self) -> None:
        plane = self.plane
        for opened in (self.registry, self.cache, plane):
            self._exit.enter_context(opened)
        tls = plane.tls
        plane.controllers(
            *CONTROLLERS,
            flags=(
                "--use-service-account-credentials=false",
                f"--root-ca-file={tls.ca}",
                f"--node-monitor-grace-period={_GRACE_SECONDS}s",
                "--node-monitor-period=1s",
                "--pvclaimbinder-sync-period=1s",
            ),
        )
        for name in ("kube-node-lease", "shop", NAMESPACE):
            plane.namespace(name)
        for name, architecture in _QUIET_NODES.items():
            plane.node(name, architecture)
        self._exit.enter_context(plane.scheduler())
        self._exit.enter_context(Kubelet(plane, nodes=tuple(_QUIET_NODES), image_ids=self._image_ids()))
        plane.until(
            "accounts are made", lambda: self.get(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")
        )
        self.run_workloads(self.cluster.objects)
        # From here on the quiet nodes are for the workloads alone.
        for name in _QUIET_NODES:
            plane.kubectl("cordon", name)
        for name in self.nodes:
            self.add_node(name)

    def _act(self, asked: Asked) -> None:
        self.times.append(time.monotonic())
        for moment in self.moments:
            moment(asked)

    def add_node(self, name: str, architecture: str = "amd64") -> RunningKubelet:
        kubelet = RunningKubelet(self.plane, name, architecture, self.folder / "nodes", self._images)
        self.kubelets[name] = self._exit.enter_context(kubelet)
        return kubelet

    def run_workloads(self, objects: Sequence[Object]) -> None:
        self.plane.apply("\n---\n".join(json.dumps(one) for one in objects))
        wanted = sum(one["spec"].get("replicas", 1) for one in objects)
        self.plane.until(
            f"{wanted} pods of the workloads run",
            lambda: (
                sum(
                    pod["status"].get("phase") == "Running"
                    for pod in self.plane.get("/api/v1/namespaces/shop/pods")["items"]
                )
                >= wanted
            ),
        )

    def _image_ids(self) -> dict[str, str]:
        return {
            reference: f"{reference.rpartition(':')[0]}@{self.registry.put(reference, platforms)}"
            for reference, platforms in self.cluster.images.items()
            if platforms
        }

    def get(self, path: str) -> Any:
        """The object, None where there is none."""
        answer = self.plane.client.get(path)
        return None if answer.status_code == httpx.codes.NOT_FOUND else answer.raise_for_status().json()

    def write(self, engine: str, *values: str, configuration: str = "") -> Path:
        """What the chart renders for the engine, applied but for its hooks, with the volume of its claim.

        values: of audit.ENGINE. The hooks are files of the folder that is returned, in their order. Raises Failed.
        """
        out = self.folder / engine
        out.mkdir(exist_ok=True)
        settings = self.folder / "archfit.yaml"
        settings.write_text(configuration or self.configuration(), encoding="utf-8")
        words = ("--set", f"audit.cluster={CLUSTER}", "--set-file", f"configuration={settings}")
        objects = rendered(engine, values, words)
        hooks = [one for one in objects if one["kind"] == "Job"]
        for one in hooks:
            number = one["metadata"]["annotations"]["helm.sh/hook-weight"]
            name = one["metadata"]["name"].rpartition("-")[2]
            (out / f"{number}-{name}.yaml").write_text(json.dumps(one, indent=1), encoding="utf-8")
        self.plane.apply("\n---\n".join(json.dumps(one) for one in objects if one not in hooks))
        self._bind(NIGHTLY if engine == "cron" else "archfit-audit")
        return out

    def configuration(self, requests_per_second: int = 0) -> str:
        """archfit.yaml: every registry is the one on loopback."""
        hosts = {source: url for source, _, url in (word.partition("=") for word in self._mirrors())}
        operator: Object = {"mirror": hosts, "cache": self.cache.url()}
        if requests_per_second:
            operator["requestsPerSecond"] = {self.registry.host: requests_per_second}
        value = {
            "apiVersion": "archfit.dev/v1alpha1",
            "kind": "ArchFit",
            "spec": {"clusterArchitectures": ["amd64", "arm64"]},
            "operator": operator,
        }
        return json.dumps(value, indent=2) + "\n"

    def _mirrors(self) -> list[str]:
        return [word for word in self.registry.mirrors() if word != "--mirror"]

    def _bind(self, claim: str) -> None:
        """A volume of this machine for the claim, whose folder is `audit` from now on: the controller binds the two."""
        self.audit = self.folder / claim
        if not self.audit.exists():
            self.audit.mkdir()
            if os.geteuid() == 0:
                os.chown(self.audit, USER, USER)
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": claim},
            "spec": {
                "capacity": {"storage": "5Gi"},
                "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "hostPath": {"path": str(self.audit)},
                "claimRef": {"namespace": NAMESPACE, "name": claim},
            },
        }
        self.plane.apply(json.dumps(volume))
        path = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims/{claim}"
        self.plane.until(
            f"the claim {claim} is bound", lambda: self.plane.get(path)["status"].get("phase") == "Bound"
        )

    def start(self, file: Path) -> None:
        self.plane.kubectl("replace", "--force", "-f", str(file))

    def job(self, name: str) -> Any:
        return self.plane.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}")

    def ended(self, name: str) -> str:
        """Waits for the Job; "Complete", or the reason why it failed."""

        def state() -> str:
            self.check()
            conditions = self.job(name).get("status", {}).get("conditions") or ()
            found = {one["type"]: one.get("reason", "") for one in conditions if one["status"] == "True"}
            return "Complete" if "Complete" in found else found.get("Failed", "")

        return self.plane.until(f"the Job {name} ends", state)

    def pods(self, job: str = "") -> list[Object]:
        query = f"?labelSelector=batch.kubernetes.io/job-name%3D{job}" if job else ""
        found: list[Object] = self.get(f"/api/v1/namespaces/{NAMESPACE}/pods{query}")["items"]
        return found

    def pod_of(self, job: str, index: int) -> Object | None:
        key = "batch.kubernetes.io/job-completion-index"
        for pod in self.pods(job):
            active = pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
            if active and pod["metadata"]["annotations"].get(key) == str(index):
                return pod
        return None

    def report(self, name: str) -> Any:
        return json.loads((self.audit / name).read_bytes())

    def outside(self, *words: str, status: int = 0) -> Ran:
        """`archfit audit` on this machine, beside the cluster. Raises Failed where it ends otherwise."""
        settings = self.folder / "archfit.yaml"
        ended = file_runs.run(("audit", f"--config={settings}", "--no-cache", *words), b"")
        if ended.status != status:
            raise Failed(f"archfit audit {' '.join(words)}", ended.stderr)
        return ended

    def evict(self, pod: str) -> float:
        """As `kubectl drain` does; the seconds until the pod has ended. Its owner may keep the object for a while."""
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}"
        name = {"name": pod, "namespace": NAMESPACE}
        self.plane.request(
            "POST", f"{path}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name}
        )
        began = time.monotonic()
        self.plane.until(f"{pod} has ended", lambda: _has_ended(self.get(path)))
        return time.monotonic() - began

    def check(self) -> None:
        wrong = [line for kubelet in self.kubelets.values() for line in kubelet.wrong]
        assert not wrong, "\n".join(wrong)


def _has_ended(pod: Object | None) -> bool:
    return pod is None or pod["status"].get("phase") in {"Succeeded", "Failed"}


class Moment:
    """`act` before a request is answered for which `when` holds; once, or `times`. It counts unless it says False.

    Further requests for which `when` holds wait meanwhile, and are answered then.
    """

    def __init__(self, when: Callable[[Asked], bool], act: Callable[[], object], times: int = 1) -> None:
        self._when, self._act, self._lock = when, act, threading.Lock()
        self._acted = 0.0
        self.left = times

    def __call__(self, asked: Asked) -> None:
        came = time.monotonic()
        if self.left and self._when(asked):
            with self._lock:
                if self.left and came > self._acted and self._act() is not False:
                    self.left -= 1
                    self._acted = time.monotonic()
