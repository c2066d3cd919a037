"""Random pods of Kubernetes' own kinds; the same seed gives the same pods.

    spec        containers, nodeSelector, required and preferred terms, matchFields, spec.os, tolerations
    object      a kind, a name or a generated one, hooks, `archfit.dev/skip`
    stream      RuntimeClasses and pods, as JSON documents or as YAML

Node labels are those that the oracle makes nodes for, see its README.
"""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import yaml

ARCH, OS = "kubernetes.io/arch", "kubernetes.io/os"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
IMAGES = {
    "both:1": ["linux/amd64", "linux/arm64"],
    "amd:1": ["linux/amd64"],
    "arm:1": ["linux/arm64"],
    "all:1": ["linux/amd64", "linux/arm64", "linux/s390x", "windows/amd64"],
    "z:1": ["linux/s390x", "linux/amd64"],
    "armz:1": ["linux/arm64", "linux/s390x"],
    "v7:1": ["linux/arm/v7", "linux/arm64/v8", "linux/386"],
    "mixed:1": ["linux/arm64", "windows/amd64"],
    "wasm:1": ["wasi/wasm"],
    "win:1": ["windows/amd64"],
    "five:1": ["linux/amd64", "linux/arm64", "linux/ppc64le", "linux/riscv64", "linux/s390x"],
    "everywhere:1": ["linux/amd64", "linux/arm64", "linux/s390x", "windows/amd64", "windows/arm64"],
}
RUNTIME_CLASSES: dict[str, dict[str, Any]] = {
    "arm": {"nodeSelector": {ARCH: "arm64"}},
    "windows": {"nodeSelector": {OS: "windows"}},
    "ready": {"tolerations": [{"key": ARCH, "operator": "Exists"}]},
    "pool": {"nodeSelector": {"pool": "a"}},
}
_TOLERATIONS = (
    {"operator": "Exists"},
    {"key": ARCH, "operator": "Exists"},
    {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"},
    {"key": "virtual-kubelet.io/provider", "operator": "Exists"},
    {"key": "virtual-kubelet.io/provider", "value": "azure", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "db"},
    {"key": "node.kubernetes.io/os", "value": "windows", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "NoExecute"},
)
OTHERS: tuple[dict[str, Any], ...] = (
    {"key": "pool", "operator": "In", "values": ["a", "b"]},
    {"key": "pool", "operator": "NotIn", "values": ["c"]},
    {"key": "disk", "operator": "Exists"},
    {"key": "spot", "operator": "DoesNotExist"},
    {"key": "cores", "operator": "Gt", "values": ["4"]},
    {"key": "cores", "operator": "Lt", "values": ["64"]},
)


def stream(random: Random, count: int, architectures: Sequence[str]) -> bytes:
    """That many objects with a pod each, in one stream with the RuntimeClasses. architectures: that pods name."""
    classes = [
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "runc",
         "scheduling": scheduling}
        for name, scheduling in RUNTIME_CLASSES.items()
    ]  # fmt: skip
    documents = [*classes, *(an_object(random, number, architectures) for number in range(count))]
    if random.random() < 0.5:
        return "\n---\n".join(map(json.dumps, documents)).encode() + b"\n"
    return yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False).encode()


def an_object(random: Random, number: int, architectures: Sequence[str]) -> dict[str, Any]:
    """One object with a pod. architectures: that pods name."""
    kind = random.choice(("Deployment", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"))
    metadata: dict[str, Any] = {"name": f"p{number}", "namespace": "shop"}
    if kind in ("Job", "Pod") and random.random() < 0.3:
        metadata = {"generateName": f"p{number}-", "namespace": "shop"}
    notes = {}
    if random.random() < 0.15:
        notes["helm.sh/hook"] = "pre-install"
    if random.random() < 0.02:
        notes["archfit.dev/skip"] = "true"
    if notes:
        metadata["annotations"] = notes
    spec = pod_spec(random, architectures)
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
    template: dict[str, Any] = {"template": {"metadata": {"labels": {"app": "p"}}, "spec": spec}}
    if kind == "CronJob":
        template = {"jobTemplate": {"spec": template}}
    group = "batch/v1" if kind in ("Job", "CronJob") else "apps/v1"
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": template}


def pod_spec(random: Random, architectures: Sequence[str]) -> dict[str, Any]:
    """A pod spec. architectures: that it may name."""
    usual = ("both:1", "amd:1", "all:1", "everywhere:1")
    number = random.choice((1, 1, 1, 2, 2, 3, 12))
    names = [random.choice(usual if random.random() < 0.6 else tuple(IMAGES)) for _ in range(number)]
    if random.random() < 0.05:
        names.append("$(params.image)")
    containers = [{"name": f"c{index}", "image": name} for index, name in enumerate(names)]
    split = random.randrange(len(containers)) if random.random() < 0.3 else 0
    spec: dict[str, Any] = {"containers": containers[split:]}
    if split:
        spec["initContainers"] = containers[:split]
    selector = _selector(random, architectures)
    if selector:
        spec["nodeSelector"] = selector
    if random.random() < 0.5:
        spec["affinity"] = {"nodeAffinity": _node_affinity(random, architectures)}
    if random.random() < 0.35:
        spec["tolerations"] = random.sample(_TOLERATIONS, random.randint(1, 3))
    if random.random() < 0.08 and OS not in json.dumps(spec.get("affinity")):
        spec["os"] = {"name": selector.get(OS, "linux")}
    if ARCH not in selector and OS not in selector and "pool" not in selector and random.random() < 0.1:
        spec["runtimeClassName"] = random.choice((*RUNTIME_CLASSES, "unknown"))
    if random.random() < 0.01:
        spec["nodeName"] = "amd64-plain"
    return spec


def _selector(random: Random, architectures: Sequence[str]) -> dict[str, str]:
    found = {}
    for chance, key, values in (
        (0.08, ARCH, architectures),
        (0.04, f"beta.{ARCH}", architectures),
        (0.15, OS, ("linux", "linux", "windows")),
        (0.1, "pool", ("a", "b")),
        (0.02, "type", ("virtual-kubelet",)),
    ):
        if random.random() < chance:
            found[key] = random.choice(values)
    return found


def _node_affinity(random: Random, architectures: Sequence[str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if random.random() < 0.85:
        made[REQUIRED] = {
            "nodeSelectorTerms": [_term(random, architectures) for _ in range(random.choice((1, 1, 2, 3, 5)))]
        }
    if random.random() < 0.3:
        preference = {"matchExpressions": [_expression(random, architectures)]}
        made[PREFERRED] = [{"weight": random.randint(1, 100), "preference": preference}]
    return made


def _term(random: Random, architectures: Sequence[str]) -> dict[str, Any]:
    if random.random() < 0.02:
        return {}
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    if random.random() < 0.05:
        return {"matchFields": fields}
    made: dict[str, Any] = {
        "matchExpressions": [_expression(random, architectures) for _ in range(random.choice((1, 1, 2, 3)))]
    }
    if random.random() < 0.05:
        made["matchFields"] = fields
    return made


def _expression(random: Random, architectures: Sequence[str]) -> dict[str, Any]:
    chance = random.random()
    if chance < 0.4:
        return dict(random.choice(OTHERS))
    if chance < 0.6:
        operator = random.choice(("In", "In", "In", "NotIn", "Exists"))
        one: dict[str, Any] = {"key": random.choice((OS, OS, f"beta.{OS}")), "operator": operator}
        if operator != "Exists":
            # The oracle takes only In with one value for a word about the OS: NotIn [linux] is none to it.
            one["values"] = [random.choice(("linux", "windows")) if operator == "In" else "windows"]
            if operator == "In" and random.random() < 0.3:
                one["values"] = ["linux", "windows"]
        return one
    operator = random.choice(("In", "In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"))
    made: dict[str, Any] = {"key": random.choice((ARCH, ARCH, f"beta.{ARCH}")), "operator": operator}
    if operator in ("In", "NotIn"):
        made["values"] = random.sample(architectures, random.randint(1, 2))
    return made
