"""Pods that name no operating system, in a cluster with Windows nodes: the real scheduler places what archfit wrote.

Each pod is made once for each node, with the node's hostname in its nodeSelector: it is placed where its images run,
and on no other node.
"""

from typing import Any

import pytest

from archfit.options.settings import Options, Toleration
from pod_decisions import decided, using

TAINT = {"key": "node.kubernetes.io/os", "value": "windows", "effect": "NoSchedule"}
NODES = {"linux-amd": "linux/amd64", "linux-arm": "linux/arm64", "windows-amd": "windows/amd64"}
IMAGES = {
    "linux:1": "amd64 arm64",
    "amd:1": "amd64",
    "all:1": "amd64 arm64 windows/amd64",
    "split:1": "arm64 windows/amd64",
}
OPTIONS = Options(cluster_architectures=("amd64", "arm64", "windows/amd64"), tolerate=())
CLOSED = OPTIONS.replace(
    system_taints=(("windows", Toleration(TAINT["key"], "Equal", TAINT["value"], TAINT["effect"])),)
)
EVERYWHERE = [{"operator": "Exists"}]  # as the DaemonSets of agents have it
PODS = {
    **{f"{name.partition(':')[0]}-plain": (name, {}) for name in IMAGES},
    **{f"{name.partition(':')[0]}-everywhere": (name, {"tolerations": EVERYWHERE}) for name in IMAGES},
    "linux-pinned": ("linux:1", {"nodeSelector": {"kubernetes.io/arch": "amd64"}}),
    "all-for-windows": ("all:1", {"os": {"name": "windows"}, "tolerations": EVERYWHERE}),
}


@pytest.mark.parametrize(("tainted", "options"), [(False, OPTIONS), (True, CLOSED)], ids=["open", "tainted"])
def test_no_pod_is_on_a_node_of_another_system(control_plane, tainted, options):
    plane, namespace = control_plane, "windows-tainted" if tainted else "windows-open"
    plane.namespace(namespace)
    for node, platform in NODES.items():
        os, _, architecture = platform.partition("/")
        taints = [TAINT] if tainted and os == "windows" else []
        plane.node(node, architecture, system=os, taints=taints)
    wanted: dict[str, str | None] = {}
    for name, (image, fields) in PODS.items():
        placed = decided({**using(image), **fields}, IMAGES, options, "Pod")
        for node, platform in NODES.items():
            spec: dict[str, Any] = dict(placed.spec)
            spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "kubernetes.io/hostname": node}
            plane.create(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": f"{name}-{node}", "namespace": namespace},
                    "spec": spec,
                }
            )
            runs = platform.removeprefix("linux/") in IMAGES[image].split()
            meant = fields.get("os", {}).get("name") in (None, platform.partition("/")[0])
            pinned = fields.get("nodeSelector", {}).get("kubernetes.io/arch") in (
                None,
                platform.partition("/")[2],
            )
            closed = tainted and platform.startswith("windows") and fields.get("tolerations") != EVERYWHERE
            wanted[f"{name}-{node}"] = node if runs and meant and pinned and not closed else None
    with plane.scheduler():
        found = plane.placed(namespace)
    plane.delete(f"/api/v1/namespaces/{namespace}/pods")
    for node in NODES:
        plane.delete(f"/api/v1/nodes/{node}")
    assert found == wanted
    assert set(wanted.values()) == {None, *NODES}
