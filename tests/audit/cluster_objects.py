"""Objects of a cluster as the API server lists them, each with what a test is about."""

import json
from typing import Any

DIGEST = "sha256:" + "a" * 64
CREATED = "2026-11-20T08:00:00Z"


def pod(
    name: str,
    *,
    image: str = "nginx:1",
    owner: tuple[str, str] | None = None,
    node: str = "",
    phase: str = "Running",
    cpu: str = "100m",
    memory: str = "1Gi",
    spec: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    **metadata: Any,
) -> dict[str, Any]:
    """A Pod with one container, "app". owner: (kind, name) of its controller."""
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": "7", **metadata}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "Other", "name": "not-this-one", "uid": "o"},
            {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "uid": "p", "controller": True},
        ]
    requests = {key: text for key, text in (("cpu", cpu), ("memory", memory)) if text}
    container = {"name": "app", "image": image, "resources": {"requests": requests}}
    image_id = f"docker.io/library/nginx@{DIGEST}"
    state = {"name": "app", "image": image, "imageID": image_id, "state": {"running": {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**({"nodeName": node} if node else {}), "containers": [container], **(spec or {})},
        "status": {"phase": phase, "containerStatuses": [state], **(status or {})},
    }


def node(
    name: str,
    architecture: str = "amd64",
    *,
    kubelet: str | None = None,
    os: str = "linux",
    labels: dict[str, str] | None = None,
    taints: list[dict[str, str]] | None = None,
    runtime: str = "containerd://2.1.4",
    unschedulable: bool = False,
    ready: str = "True",
) -> dict[str, Any]:
    """A Node of 4 CPU, of which 3,920/1000 can be requested."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "3",
            "labels": {"kubernetes.io/arch": architecture, "kubernetes.io/os": os, **(labels or {})},
        },
        "spec": {"taints": taints or [], **({"unschedulable": True} if unschedulable else {})},
        "status": {
            "allocatable": {"cpu": "3920m", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}],
            "nodeInfo": {
                "architecture": architecture if kubelet is None else kubelet,
                "operatingSystem": os,
                "containerRuntimeVersion": runtime,
            },
        },
    }


def workload(
    kind: str,
    name: str,
    *,
    owner: tuple[str, str] | None = None,
    replicas: int = 1,
    image: str = "nginx:1",
    namespace: str = "shop",
    uid: bool = True,
) -> dict[str, Any]:
    """A Deployment, ReplicaSet, Job or CronJob of a cluster, or of a manifest without a uid."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if uid:
        metadata |= {"uid": f"uid-{kind}-{namespace}-{name}", "resourceVersion": "5"}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "controller": True}]
    template = {"spec": {"containers": [{"name": "app", "image": image}]}}
    group = "batch/v1" if "Job" in kind else "apps/v1"
    spec: dict[str, Any] = {"replicas": replicas, "template": template}
    if kind == "Job":
        spec = {"parallelism": replicas, "template": template}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": {"parallelism": replicas, "template": template}}}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}


def listed(*items: dict[str, Any], kind: str = "List") -> dict[str, Any]:
    """A list; the items of a typed one lose their kind, as the API server writes them."""
    if kind == "List":
        return {"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {}}
    bare = [
        {key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in items
    ]
    return {"kind": kind, "apiVersion": items[0]["apiVersion"], "metadata": {}, "items": bare}


def bare_pod(name: str, image: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """A Pod that runs, without states of its containers."""
    container = {"name": "app", "image": image, "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": "shop", "uid": f"u-{name}", "creationTimestamp": CREATED}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container, *spec.pop("containers", ())], **spec},
        "status": {"phase": "Running"},
    }


def as_json(*objects: dict[str, Any]) -> bytes:
    """A list as `kubectl get -o json` writes it."""
    return json.dumps(listed(*objects)).encode()
