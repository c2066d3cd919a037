"""docs/migrate.md followed literally: each step done, checked, undone, done again, on a real API server and scheduler.

No controller manager and no kubelet is here: `Controllers` makes the pods of the templates, as the Deployment,
StatefulSet and DaemonSet controllers do, and calls them running once the scheduler has bound them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from registry import Registry
from tests.real.pages.page_walk import SYSTEM_PATH, blocks, text_of

import machine
from control_plane import ControlPlane
from program import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_BOTH = ["linux/amd64", "linux/arm64"]
IMAGES = {
    "quay.io/shop/web:1": _BOTH,
    "quay.io/shop/db:1": _BOTH,
    "quay.io/shop/agent:1": _BOTH,
    "quay.io/shop/legacy:1": ["linux/amd64"],
}
_KINDS = ("Deployment", "StatefulSet", "DaemonSet")
_PODS = "/api/v1/namespaces/shop/pods"


def _workload(kind: str, name: str, replicas: int, **pod: Any) -> dict[str, Any]:
    container = {
        "name": name,
        "image": f"quay.io/shop/{name}:1",
        "resources": {"requests": {"cpu": "500m"}},
    }
    template = {
        "metadata": {"labels": {"app": name}},
        # Nothing has to be stopped, as no kubelet runs it: a pod that is deleted is gone at once.
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **pod},
    }
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


class Controllers:
    """The pods of the workloads of the namespace shop."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def act(self) -> None:
        """Until each workload has the pods of its template, and each of them has a node or none can run it."""
        nodes = {one["metadata"]["name"] for one in self._plane.get("/api/v1/nodes")["items"]}
        wanted = self._wanted(nodes)
        for pod in self._plane.get(_PODS)["items"]:
            name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
            if name not in wanted or (node and node not in nodes):
                self._plane.delete(f"{_PODS}/{name}?gracePeriodSeconds=0")
            else:
                del wanted[name]
        for pod in wanted.values():
            self._plane.create(pod)
        self._plane.placed("shop")
        for pod in self._plane.get(_PODS)["items"]:
            if pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                pod["status"]["phase"] = "Running"
                self._plane.request("PUT", f"{_PODS}/{pod['metadata']['name']}/status", pod)

    def _wanted(self, nodes: set[str]) -> dict[str, dict[str, Any]]:
        found = {}
        for kind in _KINDS:
            for owner in self._plane.get(f"/apis/apps/v1/namespaces/shop/{kind.lower()}s")["items"]:
                template = owner["spec"]["template"]
                state = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:8]
                places = sorted(nodes) if kind == "DaemonSet" else range(owner["spec"]["replicas"])
                for place in places:
                    name = f"{owner['metadata']['name']}-{state}-{place}"
                    found[name] = _pod(kind, owner, name, str(place) if kind == "DaemonSet" else "")
        return found

    def nodes_of(self, workload: str) -> list[str]:
        """The nodes of its pods, sorted; "" for a pod without one."""
        return sorted(
            pod["spec"].get("nodeName", "")
            for pod in self._plane.get(_PODS)["items"]
            if pod["metadata"]["labels"]["app"] == workload
        )


def _pod(kind: str, owner: Mapping[str, Any], name: str, node: str) -> dict[str, Any]:
    spec = json.loads(json.dumps(owner["spec"]["template"]["spec"]))
    if node:
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    controller = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    metadata = {"name": name, "namespace": "shop", "labels": owner["spec"]["template"]["metadata"]["labels"]}
    metadata["ownerReferences"] = [controller]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Reader:
    """Types the commands of the page into one bash, and looks at how each ended."""

    def __init__(self, plane: ControlPlane, folder: Path, mirrors: str) -> None:
        self.plane, self.folder, self.controllers = plane, folder / "work", Controllers(plane)
        self._home, bin_ = folder / "home", folder / "bin"
        for one in (self.folder, self._home, bin_):
            one.mkdir()
        programs = {
            name: machine.tool(tool) for name, tool in {"kubectl": "kubectl", "helm": "helm3"}.items()
        }
        for name, path in {**programs, "archfit": PROGRAM}.items():
            (bin_ / name).symlink_to(path)
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ARCHFIT_"))
        }
        environ = {
            **kept,
            "HOME": str(self._home),
            "PATH": f"{bin_}:{SYSTEM_PATH}",
            "KUBECONFIG": str(plane.kubeconfig),
            "ARCHFIT_MIRROR": mirrors,
        }
        self._bash = subprocess.Popen(
            ["/bin/bash", "--norc"],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._type("set -o pipefail")

    def follow(self, commands: tuple[str, ...]) -> str:
        """What they write, once the controllers have acted. Raises AssertionError where one of them fails."""
        written = [self._type(command) for command in commands]
        self.controllers.act()
        return "".join(written)

    def _type(self, command: str) -> str:
        assert self._bash.stdin
        assert self._bash.stdout
        said = self._home / "said"
        self._bash.stdin.write(f"{{ {command}\n}} </dev/null >{said} 2>&1; echo $?\n")
        self._bash.stdin.flush()
        status = self._bash.stdout.readline().strip()
        text = said.read_text()
        assert status == "0", f"{command}\n{status}\n{text}"
        return text

    def end(self) -> None:
        self._bash.kill()
        self._bash.communicate()

    def state(self) -> dict[str, Any]:
        """Everything that a step may change and an undo has to take back."""
        files = {
            path.name: path.read_bytes()
            for path in self.folder.iterdir()
            if path.is_file() and path.name != "prod.jsonl"
        }
        specs = {
            f"{kind}/{one['metadata']['name']}": one["spec"]["template"]
            for kind in _KINDS
            for one in self.plane.get(f"/apis/apps/v1/namespaces/shop/{kind.lower()}s")["items"]
        }
        nodes = {one["metadata"]["name"]: one["spec"] for one in self.plane.get("/api/v1/nodes")["items"]}
        return {**files, **specs, **nodes}


@pytest.fixture(params=[True, False], ids=["namespaced", "as-helm-renders"])
def reader(request: pytest.FixtureRequest, tmp_path: Path, real) -> Iterator[Reader]:
    with Registry(IMAGES) as registry, ControlPlane(tmp_path) as plane, plane.scheduler():
        for name in ("amd-1", "amd-2"):
            plane.node(name, "amd64")
        plane.namespace("shop")
        one = Reader(plane, tmp_path, " ".join(registry.mirrors()[1::2]))
        templates = one.folder / "chart" / "templates"
        templates.mkdir(parents=True)
        (templates.parent / "Chart.yaml").write_text("{apiVersion: v2, name: web, version: 1.0.0}\n")
        written = json.loads(json.dumps(SHOP))
        for one_of_it in written if not request.param else ():
            del one_of_it["metadata"]["namespace"]
        (templates / "shop.yaml").write_text(yaml.safe_dump_all(written))
        (one.folder / "arm-pool.yaml").write_text(json.dumps(ARM_NODE))
        plane.apply(yaml.safe_dump_all(SHOP))
        one.controllers.act()
        try:
            yield one
        finally:
            one.end()


PAGE = "migrate"
STEPS = [one for one in dict.fromkeys(block.heading for block in blocks(PAGE)) if re.match(r"\d", one)]


def test_the_page_has_seven_steps_each_with_a_command_a_check_and_an_undo():
    assert [one[:2] for one in STEPS] == [f"{number}." for number in range(1, 8)]
    parts = re.split(r"^## ", text_of(PAGE), flags=re.MULTILINE)
    for step in STEPS:
        (part,) = (one for one in parts if one.startswith(step))
        assert re.findall(r"^(Do|Check|Undo)[:.,]", part, re.MULTILINE) == ["Do", "Check", "Undo"], step
        assert len([block for block in blocks(PAGE) if block.heading == step]) == 3


def test_each_step_does_what_the_page_says_and_can_be_undone(reader: Reader) -> None:
    first, *of_steps = blocks(PAGE)
    # The manifests as Helm renders them are what runs already.
    reader.follow(first.commands)
    reader.follow(("kubectl apply -f rendered.yaml",))
    said = {}
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
        if number == 6:
            # The next wave; the page says to do the step again.
            reader.follow(do)
            reader.follow(check)
            assert reader.controllers.nodes_of("db") == ["arm-1"]
    for kind in _KINDS:
        assert not reader.plane.get(f"/apis/apps/v1/namespaces/default/{kind.lower()}s")["items"], (
            "a second copy"
        )
    for number, words in SAID.items():
        assert words in " ".join(said[number].split()), said[number]


def _on_amd64(reader: Reader) -> None:
    for workload in ("web", "legacy", "db"):
        assert set(reader.controllers.nodes_of(workload)) <= {"amd-1", "amd-2"}, workload


def _first_arm_node(reader: Reader) -> None:
    _on_amd64(reader)
    assert reader.controllers.nodes_of("agent") == ["amd-1", "amd-2", "arm-1"]


def _first_wave(reader: Reader) -> None:
    assert reader.controllers.nodes_of("web") == ["arm-1", "arm-1"]
    assert set(reader.controllers.nodes_of("legacy") + reader.controllers.nodes_of("db")) <= {
        "amd-1",
        "amd-2",
    }


def _emptied(reader: Reader) -> None:
    assert reader.controllers.nodes_of("web") == ["arm-1", "arm-1"]
    assert reader.controllers.nodes_of("db") == ["arm-1"]
    assert reader.controllers.nodes_of("legacy") == ["amd-1"]


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
