"""Where the real scheduler puts pods that a policy has changed: on each node that runs their images, and on no other.

Each pod is asked about for each node: a copy selects the node by its host name, and the scheduler binds it or does not.
What it says of the pod without a policy, but with the toleration of the Arm taint, less the nodes that lack an image,
is what the policy has to leave. Whether an image runs on a node is said by a table of this file.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import NamedTuple

import pytest

from archfit.options.settings import Options
from control_plane import Refused
from drawn_pods import at_creation
from drawn_pods.drawing import ARCH, OS

LINUX = ("amd64", "arm64", "s390x")
EVERY = frozenset(LINUX)
OPTIONS = Options(cluster_architectures=(*LINUX, "windows/amd64", "windows/arm64"))
TOLERATION = {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
TAINT = {"key": ARCH, "value": "arm64", "effect": "NoSchedule"}
VIRTUAL = "virtual-kubelet.io/provider"
# What runs an image on Linux nodes. Those that are not here are not drawn.
RUN_BY = {
    "both:1": {"amd64", "arm64"},
    "amd:1": {"amd64"},
    "arm:1": {"arm64"},
    "all:1": EVERY,
    "z:1": {"amd64", "s390x"},
    "armz:1": {"arm64", "s390x"},
    "v7:1": {"amd64", "arm64"},
    "mixed:1": {"arm64"},
    "wasm:1": EVERY,
    "win:1": set(),
    "everywhere:1": EVERY,
    "single-amd:1": {"amd64"},
    "single-arm:1": {"arm64"},
    "single-win:1": set(),
    "v3arm:1": {"arm64"},
    "chart:1": EVERY,
    "pinned": {"amd64"},
}
SINGLE = {"single-amd:1", "single-arm:1", "single-win:1", "pinned"}


class Node(NamedTuple):
    """architecture: "" for a virtual node."""

    architecture: str
    taints: tuple = ()
    labels: dict = MappingProxyType({})
    system: str = "linux"


NODES = {
    "amd": Node("amd64"),
    "amd-pool": Node("amd64", labels={"pool": "a", "disk": "ssd", "cores": "8"}),
    "arm": Node("arm64", labels={"pool": "b", "spot": "true", "cores": "96"}),
    "arm-tainted": Node("arm64", (TAINT,), {"pool": "a", "cores": "8"}),
    "z": Node("s390x", labels={"disk": "hdd"}),
    "virtual": Node("", ({"key": VIRTUAL, "value": "azure", "effect": "NoSchedule"},), {"type": "virtual-kubelet"}),
    "win-amd": Node("amd64", (), {}, "windows"),
    "win-arm": Node("arm64", (), {}, "windows"),
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster(control_plane):
    """The nodes of NODES."""
    for name, node in NODES.items():
        control_plane.node(
            name, node.architecture, system=node.system, labels=node.labels, taints=node.taints
        )
    yield control_plane
    for name in NODES:
        control_plane.delete(f"/api/v1/nodes/{name}")


def copies(pod, names, number, namespace):
    """One for each node, that selects it."""
    made = []
    for name in names:
        selector = {**pod["spec"].get("nodeSelector", {}), "kubernetes.io/hostname": name}
        metadata = {"name": f"p{number}-{name}", "namespace": namespace}
        made.append({**pod, "metadata": metadata, "spec": {**pod["spec"], "nodeSelector": selector}})
    return made


def reached(plane, namespace, pods, names):
    """For each pod the nodes that the scheduler takes for it."""
    plane.namespace(namespace)
    made = [
        plane.create(one) for number, pod in enumerate(pods) for one in copies(pod, names, number, namespace)
    ]
    assert len(made) == len(pods) * len(names)
    with plane.scheduler():
        placed = plane.placed(namespace)
    found = [
        {name for name in names if placed[f"p{number}-{name}"] is not None} for number in range(len(pods))
    ]
    plane.delete(f"/api/v1/namespaces/{namespace}/pods")
    return found


def tolerating(pod):
    return {**pod, "spec": {**pod["spec"], "tolerations": [*pod["spec"]["tolerations"], TOLERATION]}}


def run_by(pod):
    """The Linux architectures that run every image of the pod."""
    spec = pod["spec"]
    texts = [one["image"] for key in ("containers", "initContainers") for one in spec.get(key, ())]
    pulled = [volume["image"]["reference"] for volume in spec.get("volumes", ()) if "image" in volume]
    names = [short(text) for text in texts] + [name for name in map(short, pulled) if name not in SINGLE]
    return EVERY.intersection(*(RUN_BY[name] for name in names))


def short(text):
    return "pinned" if "@" in text else text.rpartition("/")[2]


def judgeable(pod):
    """It names no other system than Linux, and no image whose answer depends on more than the architecture."""
    spec = pod["spec"]
    texts = json.dumps([spec.get("containers"), spec.get("initContainers"), spec.get("volumes")])
    return (
        OS not in json.dumps([spec.get("nodeSelector"), spec.get("affinity"), spec.get("os")])
        and not any(name in texts for name in ("v3:1", "wasm-and:1", "$("))
        and spec.get("runtimeClassName") != "windows"
    )


def test_no_pod_is_on_a_wrong_node_and_none_is_kept_off(policies, cluster, drawn):
    installed = policies.install("placing", at_creation.platforms(), OPTIONS)
    pods = [pod for pod in drawn(2, 160, elsewhere=0) if judgeable(pod)]
    policies.await_change(installed, pods)
    names = [name for name, node in NODES.items() if node.system == "linux"]
    allowed = reached(cluster, "placing-plain", [tolerating(pod) for pod in pods], names)
    actual = reached(cluster, installed.name, pods, names)
    wrong, kept_off, judged, narrowed = [], [], 0, 0
    for pod, before, after in zip(pods, allowed, actual, strict=True):
        tolerates = any(one.get("key") == VIRTUAL for one in pod["spec"]["tolerations"])
        runs = {name for name in names if NODES[name].architecture in run_by(pod)}
        wanted = before & (runs | {"virtual"} if tolerates else runs)
        if not before & runs:  # a conflict: it is left as it is, and no node of the cluster runs it
            continue
        judged += 1
        narrowed += before != after
        wrong += [(name, pod) for name in after - runs - {"virtual"}]
        kept_off += [(name, pod) for name in wanted - after]
    assert not wrong, f"{len(wrong)} on a wrong node: {wrong[0]}"
    assert not kept_off, f"{len(kept_off)} kept off: {kept_off[0]}"
    assert (judged > 40, narrowed > 20) == (True, True), (judged, narrowed)


@pytest.mark.parametrize(
    ("image", "nodes"),
    [
        pytest.param("all:1", {"win-amd"}, id="one architecture"),
        pytest.param("everywhere:1", {"win-amd", "win-arm"}, id="both"),
        pytest.param("mixed:1", {"win-amd"}, id="other architectures on Linux"),
    ],
)
def test_a_windows_pod_runs_on_the_windows_nodes_of_its_image(policies, cluster, image, nodes):
    installed = policies.install("placing", at_creation.platforms(), OPTIONS)
    (pod,) = policies.plain(
        [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "web"},
                "spec": {
                    "containers": [{"name": "c", "image": image}],
                    "nodeSelector": {OS: "windows"},
                    "os": {"name": "windows"},
                },
            }
        ]
    )
    assert not isinstance(pod, Refused)
    names = [name for name, node in NODES.items() if node.system == "windows"]
    assert reached(cluster, installed.name, [pod], names) == [nodes]
