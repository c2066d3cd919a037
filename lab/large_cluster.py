"""A large cluster's list, as `kubectl get pods,nodes,replicasets,jobs -A -o json` prints it, on standard output.

    write(100_000, "list", output)    indented: 13 KB for each pod
    write(100_000, "page", output)    PodLists of 500, as of --raw: 6 KB

Of ten pods seven are of Deployments, one each of StatefulSets, DaemonSets and CronJobs; a third of the
workloads has an istio sidecar.
The same arguments give the same bytes.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, TextIO

PODS_OF_A_NODE = 50
PODS_OF_A_WORKLOAD = 7
PAGE = 500
_AMD64_OF_TEN = 6
_NAMES = (
    "image", "imagePullPolicy", "name", "resources", "terminationMessagePath", "terminationMessagePolicy", "env",
    "volumeMounts", "ports", "livenessProbe", "readinessProbe", "securityContext", "dnsPolicy", "restartPolicy",
    "schedulerName", "serviceAccountName", "tolerations",
)  # fmt: skip
_FIELDS: dict[str, Any] = {f"f:{name}": {} for name in _NAMES}


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def uid(text: str) -> str:
    """The form of a UUID."""
    code = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return f"{code[:8]}-{code[8:12]}-{code[12:16]}-{code[16:20]}-{code[20:]}"


def architecture(number: int) -> str:
    return "amd64" if number % 10 < _AMD64_OF_TEN else "arm64"


def node(number: int) -> dict[str, Any]:
    name = f"ip-10-{number >> 16 & 255}-{number >> 8 & 255}-{number & 255}.eu-central-1.compute.internal"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": uid(name),
            "resourceVersion": str(900 + number),
            "labels": {
                "kubernetes.io/arch": architecture(number),
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": f"m{6 + number % 2}g.16xlarge",
                "karpenter.sh/capacity-type": ("spot", "on-demand")[number % 2],
                "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
            },
        },
        "spec": {"providerID": f"aws:///eu-central-1a/i-{number:017x}"},
        "status": {
            "allocatable": {"cpu": "63770m", "memory": "254Gi", "pods": "110"},
            "nodeInfo": {
                "architecture": architecture(number),
                "operatingSystem": "linux",
                "containerRuntimeVersion": "containerd://2.1.4",
            },
            "images": [
                {"names": [f"registry.example.com/i{image}@{digest(str(image))}"], "sizeBytes": 10_000_000}
                for image in range(number % 50)
            ],
        },
    }


def owner(number: int, nodes: int) -> tuple[str, str, str]:
    """(kind, name, pod template hash) of what controls the pod."""
    turn, workload = number % 10, number // 10 // PODS_OF_A_WORKLOAD
    if turn < 7:
        name = f"service-{workload * 7 + turn}"
        code = digest(name)[7:16]
        return "ReplicaSet", f"{name}-{code}", code
    if turn == 7:
        return "StatefulSet", f"database-{workload}", ""
    if turn == 8:
        return "DaemonSet", f"agent-{number // 10 // nodes}", ""
    return "Job", f"report-{number // 10 // 20}-{29_000_000 + number}", ""


def pod(number: int, nodes: int) -> dict[str, Any]:
    kind, controller, code = owner(number, nodes)
    namespace = f"team-{number // 10 // PODS_OF_A_WORKLOAD % 200}"
    name = f"{controller}-{digest(str(number))[7:12]}"
    service = controller.removesuffix(f"-{code}")
    image = f"registry.example.com/{namespace}/{service.split('-29')[0]}:v1.{number // 10 // PODS_OF_A_WORKLOAD % 40}.0"
    finished = kind == "Job"
    containers = [("app", image, "250m", "512Mi")]
    if number // 10 // PODS_OF_A_WORKLOAD % 3 == 0:
        containers.append(("istio-proxy", "docker.io/istio/proxyv2:1.27.1", "10m", "40Mi"))
    labels = {"app": service, "team": namespace, **({"pod-template-hash": code} if code else {})}
    notes = {"prometheus.io/scrape": "true", "sidecar.istio.io/status": "{" + '"a":1,' * 30 + "}"}
    above = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": controller,
        "uid": uid(controller),
        "controller": True,
    }
    manager = {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
    }
    managed = {"f:spec": {f"f:containers-{place}": _FIELDS for place in range(2)}}
    ends = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    token = {"sources": [{"serviceAccountToken": {"path": "token"}}]}
    held = {"status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-08-01T10:00:00Z"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "generateName": f"{controller}-",
            "namespace": namespace,
            "uid": uid(f"pod {number}"),
            "resourceVersion": str(1_000_000 + number),
            "creationTimestamp": "2026-08-01T10:00:00Z",
            "labels": labels,
            "annotations": notes,
            "ownerReferences": [above],
            "managedFields": [{**manager, "fieldsV1": managed}],
        },
        "spec": {
            "nodeName": node_name(number % nodes),
            "serviceAccountName": service,
            "containers": [_container(*one) for one in containers],
            "tolerations": [
                {"key": f"node.kubernetes.io/{key}", **ends} for key in ("not-ready", "unreachable")
            ],
            "volumes": [{"name": "kube-api-access-x7", "projected": token}],
        },
        "status": {
            "phase": "Succeeded" if finished else "Running",
            "conditions": [
                {"type": type, **held} for type in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "podIP": f"10.0.{number >> 8 & 255}.{number & 255}",
            "containerStatuses": [
                _status(container, image, finished=finished) for container, image, *_ in containers
            ],
        },
    }


def node_name(number: int) -> str:
    name: str = node(number)["metadata"]["name"]
    return name


def replica_set(name: str, namespace: str, code: str) -> dict[str, Any]:
    deployment = name.removesuffix(f"-{code}")
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid(f"{namespace} {name}"),
            "resourceVersion": "5",
            "ownerReferences": [{"kind": "Deployment", "name": deployment, "controller": True}],
        },
        "spec": {
            "replicas": 0,
            "template": {
                "spec": {
                    "containers": [_container("app", f"registry.example.com/old/{deployment}:v1", "1", "1Gi")]
                }
            },
        },
    }


def _container(name: str, image: str, cpu: str, memory: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": "1Gi"}},
        "env": [{"name": f"VARIABLE_{number}", "value": f"value of {number}"} for number in range(12)],
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
            "periodSeconds": 10,
        },
        "volumeMounts": [
            {"mountPath": "/var/run/secrets/kubernetes.io", "name": "kube-api-access-x7", "readOnly": True}
        ],
    }


def _status(name: str, image: str, *, finished: bool) -> dict[str, Any]:
    ended = {"terminated": {"reason": "Completed", "exitCode": 0}}
    return {
        "name": name,
        "image": image,
        "imageID": f"{image.rpartition(':')[0]}@{digest(image)}",
        "containerID": f"containerd://{digest(name + image)[7:]}",
        "ready": not finished,
        "restartCount": 0,
        "started": not finished,
        "state": ended if finished else {"running": {"startedAt": "2026-08-01T10:00:00Z"}},
    }


def objects(pods: int) -> Iterator[dict[str, Any]]:
    """Pods first, then nodes, then ReplicaSets, as kubectl lists them."""
    nodes = max(1, pods // PODS_OF_A_NODE)
    names = [node_name(number) for number in range(nodes)]
    sets: dict[tuple[str, str], str] = {}
    for number in range(pods):
        one = pod(number, 1)
        one["spec"]["nodeName"] = names[number % nodes]
        kind, name, code = owner(number, nodes)
        if kind == "DaemonSet":
            one["metadata"]["ownerReferences"][0]["name"] = name
        if code:
            sets[name, one["metadata"]["namespace"]] = code
        yield one
    for number in range(nodes):
        yield node(number)
    for (name, namespace), code in sets.items():
        yield replica_set(name, namespace, code)


def write(pods: int, form: str, output: TextIO) -> None:
    if form == "list":
        output.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, one in enumerate(objects(pods)):
            text = json.dumps(one, indent=4, sort_keys=True).replace("\n", "\n        ")
            output.write(f"{',' * (number > 0)}\n        {text}" if number else f"        {text}")
        output.write(
            '\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n'
        )
        return
    page: list[dict[str, Any]] = []
    for one in objects(pods):
        if page and (len(page) == PAGE or page[0]["kind"] != one["kind"]):
            _write_page(page, output)
            page = []
        page.append(one)
    _write_page(page, output)


def _write_page(page: list[dict[str, Any]], output: TextIO) -> None:
    first = page[0]
    bare = [{key: value for key, value in one.items() if key not in ("apiVersion", "kind")} for one in page]
    value = {"kind": f"{first['kind']}List", "apiVersion": first["apiVersion"], "metadata": {}, "items": bare}
    output.write(json.dumps(value, separators=(",", ":")) + "\n")


FORMS = ("list", "page")
