"""Random pods with lists of their own; the same seed gives the same pods. A real API server takes them all.

tolerations     0 to 5, of all operators and effects, with tolerationSeconds, with duplicates
affinity        1 to 3 required terms of matchExpressions and matchFields; preferred terms; of pods
nodeSelector, schedulingGates, annotations
images          of several architectures, of one, and one that nobody knows
"""

from random import Random
from typing import Any

from drawn_pods.drawing import ARCH, OTHERS, PREFERRED, REQUIRED

IMAGES = ("both:1", "both:1", "all:1", "amd:1", "amd:1", "arm:1", "z:1", "single-amd:1", "new:1")
GATE = "example.com/quota"
_TOLERATIONS: tuple[dict[str, Any], ...] = (
    {"operator": "Exists"},
    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600},
    {"key": ARCH, "operator": "Exists"},
    {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"},
    {"key": ARCH, "operator": "Equal", "value": "amd64", "effect": "NoSchedule"},
    {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "PreferNoSchedule"},
    {"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "db"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"},
    {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
    {"key": "spot", "value": "", "effect": "PreferNoSchedule"},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
)  # fmt: skip
_EXPRESSIONS: tuple[dict[str, Any], ...] = (
    *OTHERS,
    {"key": ARCH, "operator": "In", "values": ["amd64", "arm64"]},
    {"key": ARCH, "operator": "NotIn", "values": ["s390x"]},
)
_FIELDS = [{"key": "metadata.name", "operator": "NotIn", "values": ["n0"]}]
_OF_PODS = {
    "podAntiAffinity": {
        REQUIRED: [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}


def pod(random: Random, name: str) -> dict[str, Any]:
    images = random.choices(IMAGES, k=random.choice((1, 1, 2)))
    spec: dict[str, Any] = {
        "containers": [
            {"name": f"c{index}", "image": f"quay.io/team/{image}"} for index, image in enumerate(images)
        ]
    }
    tolerations = random.choices(_TOLERATIONS, k=random.choice((0, 1, 1, 2, 3, 4, 5)))
    if tolerations:
        spec["tolerations"] = [dict(one) for one in tolerations]
    affinity: dict[str, Any] = {}
    if random.random() < 0.7:
        count = random.choice((1, 1, 2, 3))
        affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": [_term(random) for _ in range(count)]}}
    if random.random() < 0.3:
        preference = {"weight": random.randint(1, 100), "preference": _term(random)}
        affinity.setdefault("nodeAffinity", {})[PREFERRED] = [preference]
    if random.random() < 0.1:
        affinity |= _OF_PODS
    if affinity:
        spec["affinity"] = affinity
    if random.random() < 0.2:
        spec["nodeSelector"] = {"pool": "a"}
    if random.random() < 0.3:
        spec["schedulingGates"] = [{"name": GATE}]
    metadata: dict[str, Any] = {"name": name, "labels": {"app": random.choice(("web", "db"))}}
    if random.random() < 0.5:
        metadata["annotations"] = {"team": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _term(random: Random) -> dict[str, Any]:
    if random.random() < 0.05:
        return {}
    expressions = [dict(one) for one in random.sample(_EXPRESSIONS, random.choice((0, 1, 1, 2, 3)))]
    if expressions and random.random() < 0.8:
        return {"matchExpressions": expressions}
    return {"matchFields": _FIELDS, **({"matchExpressions": expressions} if expressions else {})}
