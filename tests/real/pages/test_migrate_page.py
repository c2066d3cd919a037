"""docs/migrate.md followed literally: each step done, checked, undone, done again, on a real control plane.

API server, scheduler and the controllers of workloads are real; `kubelet.Kubelet` says that pods run.
"""

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from registry import Registry
from tests.real.pages.page_walk import SYSTEM_PATH, blocks

import machine
from control_plane import ControlPlane
from kubelet import Kubelet
from program import PROGRAM
from rollouts import pods_rolled_out

_BOTH = ["linux/amd64", "linux/arm64"]
IMAGES = {
    "quay.io/shop/web:1": _BOTH,
    "docker.io/library/nginx:1.16.0": _BOTH,
    "quay.io/shop/db:1": _BOTH,
    "quay.io/shop/agent:1": _BOTH,
    "quay.io/shop/legacy:1": ["linux/amd64"],
}
_KINDS = ("Deployment", "StatefulSet", "DaemonSet")
_THERE = (
    r'^archfit_audit_wave_pods\{[^}]*architecture="arm64"[^}]*wave="([1-5])"[^}]*state="there"\} ([0-9]+)'
)
_PODS = "/api/v1/namespaces/shop/pods"


def _workload(kind: str, name: str, replicas: int, **pod: Any) -> dict[str, Any]:
    container = {"name": name, "image": f"quay.io/shop/{name}:1", "resources": {"requests": {"cpu": "500m"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **pod}}
    more = {"serviceName": name} if kind == "StatefulSet" else {}
    many = {} if kind == "DaemonSet" else {"replicas": replicas}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {**many, **more, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


SHOP = [
    _workload("Deployment", "web", 2),
    _workload("Deployment", "legacy", 1),
    _workload("StatefulSet", "db", 1),
    _workload("DaemonSet", "agent", 0, tolerations=[{"operator": "Exists"}]),
]
_ROOM = {"cpu": "8", "memory": "32Gi", "pods": "100"}
ARM_NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "arm-1", "labels": {"kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux"}},
    "spec": {"taints": [{"key": "kubernetes.io/arch", "value": "arm64", "effect": "NoSchedule"}]},
    "status": {
        "allocatable": _ROOM,
        "capacity": _ROOM,
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {
            **dict.fromkeys(
                ("bootID", "containerRuntimeVersion", "kernelVersion", "machineID", "osImage"), ""
            ),
            **dict.fromkeys(("kubeProxyVersion", "kubeletVersion", "systemUUID"), ""),
            "architecture": "arm64",
            "operatingSystem": "linux",
        },
    },
}


class Workloads:
    """Those of the namespace shop, in a control plane."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def all(self) -> list[dict[str, Any]]:
        """As the API server has them, each with its kind."""
        return [
            {**workload, "kind": kind}
            for kind in _KINDS
            for workload in self._plane.get(f"/apis/apps/v1/namespaces/shop/{kind.lower()}s")["items"]
        ]

    def pods(self) -> list[dict[str, Any]]:
        """All of them."""
        pods: list[dict[str, Any]] = self._plane.get(_PODS)["items"]
        return pods

    def settle(self) -> None:
        """Wait until each has its pods of its newest template, on nodes that there are."""
        self._plane.until("every rollout is complete", self._settled)

    def _settled(self) -> bool:
        nodes = {node["metadata"]["name"] for node in self._plane.get("/api/v1/nodes")["items"]}
        pods = self.pods()
        for pod in pods:
            # The controller that collects pods of lost nodes waits for a minute.
            if pod["spec"].get("nodeName", "") not in {"", *nodes}:
                self._plane.delete(f"{_PODS}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        workloads = [(workload["kind"], pods_rolled_out(workload)) for workload in self.all()]
        if any(made is None or (made != len(nodes) and kind == "DaemonSet") for kind, made in workloads):
            return False
        there = [pod for pod in pods if pod["spec"].get("nodeName") in nodes]
        return sum(made or 0 for _, made in workloads) == len(pods) == len(there) and not any(
            "deletionTimestamp" in pod["metadata"] for pod in pods
        )

    def nodes_of(self, workload: str) -> list[str]:
        """The nodes of its pods, sorted; "" for a pod without one."""
        return sorted(
            pod["spec"].get("nodeName", "")
            for pod in self.pods()
            if pod["metadata"]["name"].startswith(f"{workload}-")
        )


class Reader:
    """Runs the blocks of the page, each in a bash of its own that stops where a command fails."""

    def __init__(self, plane: ControlPlane, folder: Path, mirrors: str) -> None:
        self.plane, self.folder, self.workloads = plane, folder / "work", Workloads(plane)
        home, bin_ = folder / "home", folder / "bin"
        for one in (self.folder, home, bin_):
            one.mkdir()
        programs = {
            name: machine.tool(tool) for name, tool in {"kubectl": "kubectl", "helm": "helm3"}.items()
        }
        for name, path in {**programs, "archfit": PROGRAM}.items():
            (bin_ / name).symlink_to(path)
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ARCHFIT_"))
        }
        self._environ = {
            **kept,
            "HOME": str(home),
            "PATH": f"{bin_}:{SYSTEM_PATH}",
            "KUBECONFIG": str(plane.kubeconfig),
            "ARCHFIT_MIRROR": mirrors,
        }

    def follow(self, commands: tuple[str, ...]) -> str:
        """What they write, once the controllers have acted. Raises AssertionError where one of them fails."""
        written = self._type("\n".join(commands))
        self.workloads.settle()
        return written

    def _type(self, command: str) -> str:
        done = subprocess.run(
            ["/bin/bash", "--norc", "-eo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.returncode}\n{done.stdout}"
        return done.stdout

    def state(self) -> dict[str, Any]:
        """Everything that a step may change and an undo has to take back."""
        files = {
            path.name: path.read_bytes()
            for path in self.folder.iterdir()
            if path.is_file() and path.name != "prod.jsonl"
        }
        specs = {
            f"{one['kind']}/{one['metadata']['name']}": one["spec"]["template"]
            for one in self.workloads.all()
        }
        nodes = {one["metadata"]["name"]: one["spec"] for one in self.plane.get("/api/v1/nodes")["items"]}
        return {**files, **specs, **nodes}

    def audited(self) -> dict[str, Any]:
        """What the audit finds, with prices."""
        words = "archfit audit --live --cluster prod --newer-tags --price amd64=0.04,arm64=0.03 --format json"
        findings: dict[str, Any] = json.loads(self._type(f"{words} 2>/dev/null"))["findings"]
        return findings

    def metrics(self) -> dict[str, int]:
        """Pods of wave 1 to 5 that are there, by wave."""
        text = self._type("archfit audit --live --cluster prod --newer-tags --format openmetrics 2>/dev/null")
        return {name: int(number) for name, number in re.findall(_THERE, text, re.MULTILINE)}


@pytest.fixture(params=["namespaced", "helm create"])
def reader(request, tmp_path, real):
    with contextlib.ExitStack() as stack:
        registry = stack.enter_context(Registry(IMAGES))
        plane = stack.enter_context(ControlPlane(tmp_path))
        stack.enter_context(plane.scheduler())
        stack.enter_context(Kubelet(plane))
        plane.controllers("deployment", "replicaset", "statefulset", "daemonset")
        for name in ("amd-1", "amd-2"):
            plane.node(name, "amd64")
        plane.namespace("shop")
        reader = Reader(plane, tmp_path, " ".join(registry.mirrors()[1::2]))
        _write_chart(reader.folder, own=request.param == "helm create")
        (reader.folder / "arm-pool.yaml").write_text(json.dumps(ARM_NODE))
        yield reader


def _write_chart(folder: Path, *, own: bool) -> None:
    """The chart of `helm create`, beside workloads without a namespace; else all of SHOP, with it."""
    chart = folder / "chart"
    if not own:
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: web, version: 1.0.0}\n")
        (chart / "templates" / "shop.yaml").write_text(yaml.safe_dump_all(SHOP))
        return
    subprocess.run(
        [machine.tool("helm3"), "create", "web"],
        cwd=folder,
        env={"HOME": str(folder.parent / "home"), "PATH": SYSTEM_PATH},
        check=True,
        capture_output=True,
    )
    (folder / "web").rename(chart)
    values = (chart / "values.yaml").read_text()
    values = values.replace("replicaCount: 1", "replicaCount: 2")
    values = values.replace("resources: {}", "resources: {requests: {cpu: 500m}}")
    (chart / "values.yaml").write_text(values)
    others = [{**workload, "metadata": {"name": workload["metadata"]["name"]}} for workload in SHOP[1:]]
    (chart / "templates" / "shop.yaml").write_text(yaml.safe_dump_all(others))


PAGE = "migrate"
STEPS = [one for one in dict.fromkeys(block.heading for block in blocks(PAGE)) if re.match(r"\d", one)]


def test_each_step_does_what_the_page_says_and_can_be_undone(reader):
    first, *of_steps = blocks(PAGE)
    # The manifests as Helm renders them are what runs already.
    reader.follow(first.commands)
    reader.follow(("kubectl apply -f rendered.yaml",))
    said: dict[int, str] = {}
    plan = _plan(reader.audited())
    for number, step in enumerate(STEPS, 1):
        do, check, undo = (block.commands for block in of_steps if block.heading == step)
        before = reader.state()
        reader.follow(do)
        reader.follow(check)
        reader.follow(undo)
        assert reader.state() == before, step
        reader.follow(do)
        said[number] = reader.follow(check)
        AFTER.get(number, lambda _reader: None)(reader)
        findings = reader.audited()
        assert _plan(findings) == plan, step
        metrics = reader.metrics()
        if number == 6:
            # The next wave; the page says to do the step again.
            reader.follow(do)
            reader.follow(check)
            assert reader.workloads.nodes_of("db") == ["arm-1"]
    # All that can move is there. Nobody knows who builds legacy, so it is in no wave.
    assert metrics == {"1": 2, "4": 1}
    for kind in _KINDS:
        assert not reader.plane.get(f"/apis/apps/v1/namespaces/default/{kind.lower()}s")["items"], (
            "a second copy"
        )
    for number, words in SAID.items():
        assert words in " ".join(said[number].split()), said[number]


def _plan(findings: dict[str, Any]) -> dict[int, list[str]]:
    """The workloads of each wave to arm64."""
    return {wave["number"]: sorted(wave["owners"]) for wave in findings["waves"][0]["waves"]}


def _on_amd64(reader: Reader) -> None:
    for workload in ("web", "legacy", "db"):
        assert set(reader.workloads.nodes_of(workload)) <= {"amd-1", "amd-2"}, workload


def _first_arm_node(reader: Reader) -> None:
    _on_amd64(reader)
    assert reader.workloads.nodes_of("agent") == ["amd-1", "amd-2", "arm-1"]


def _first_wave(reader: Reader) -> None:
    assert reader.workloads.nodes_of("web") == ["arm-1", "arm-1"]
    assert set(reader.workloads.nodes_of("legacy") + reader.workloads.nodes_of("db")) <= {"amd-1", "amd-2"}


def _emptied(reader: Reader) -> None:
    assert reader.workloads.nodes_of("web") == ["arm-1", "arm-1"]
    assert reader.workloads.nodes_of("db") == ["arm-1"]
    assert reader.workloads.nodes_of("legacy") == ["amd-1"]


AFTER = {3: _on_amd64, 5: _first_arm_node, 6: _first_wave, 7: _emptied}
# Step -> what its check shows.
SAID = {
    1: "75 % ready",
    2: "- amd64 # 2 Linux nodes",
    3: "as archfit would leave it",
    4: "Before the first arm64 node: 1 DaemonSet, ready.",
    5: "kubernetes.io/arch=arm64:NoSchedule@arm64",
    6: "2 of 2 pods done",
    7: "0.5 CPU in 1 pod of 1 workload would have no node that runs them",
}
