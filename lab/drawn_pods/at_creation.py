"""Random v1 Pods as controllers and users create them, such that an API server takes them.

They have the specs of `drawing`, and beside them:

    images           spelt in every way that names the same image; behind a port, by digest; volumes; sidecars;
                     strings that are no reference, or one that the lock file lacks
    answers          of the lock file: indexes, single manifests, artifacts, wasm, higher variants; some images lack one
    metadata         generateName or a name, labels, controllers, mirror pods, annotations of archfit
    affinity         empty, or of pods only
    tolerations      with operators, empty keys and effects
"""

from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

from archfit.images.platforms import Found
from archfit.images.reference import parse
from drawn_pods.drawing import ARCH, IMAGES, RUNTIME_CLASSES, pod_spec
from pod_decisions import found

DIGEST = "sha256:" + "0123456789abcdef" * 4
UNLOCKED = "unlocked:1"
# Each `{}` is a name of IMAGES; those of a block are one image.
_SPELLINGS = (
    ("{}", "library/{}", "docker.io/{}", "docker.io/library/{}", "index.docker.io/{}", "index.docker.io/library/{}"),
    ("team/{}", "docker.io/team/{}", "index.docker.io/team/{}"),
    ("quay.io/team/{}",),
    ("registry.local:5000/{}",),
    ("localhost/{}",),
    ("localhost:5000/a/b/{}",),
    ("Registry.Local/{}",),
)  # fmt: skip
_SINGLE = {"single-amd:1": "amd64", "single-arm:1": "arm64", "single-win:1": "windows/amd64"}
_KINDS = {"v3:1": "amd64/v3", "v3arm:1": "amd64/v3 arm64", "wasm-and:1": "wasi/wasm amd64 arm64"}
_CONTROLLERS = ("ReplicaSet", "StatefulSet", "Job")
_ODD_IMAGES = (
    UNLOCKED, "auto", "nginx@sha256:abc", "Team/app:1", "quay.io/team/Both:1", "quay.io/team/both:1:2",
    "ko://example.com/cmd", "{{ image }}", "0123456789abcdef" * 4, "localhost:5000",
    "registry.local:99999/both:1", f"quay.io/team/pinned@sha256:{'A' * 64}",
)  # fmt: skip
_TOLERATIONS = (
    {"key": ARCH, "operator": "Exists", "effect": "NoSchedule"},
    {"key": ARCH, "operator": "Exists", "effect": "NoExecute"},
    {"key": ARCH, "operator": "Equal", "value": "amd64", "effect": "NoSchedule"},
    {"key": ARCH, "value": "arm64"},
    {"operator": "Exists", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "PreferNoSchedule"},
    {"key": "arch", "operator": "Exists"},
    {"key": "arch", "value": "", "effect": "NoSchedule"},
    {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
)
_AFFINITIES: tuple[dict[str, Any], ...] = (
    {},
    {"nodeAffinity": {}},
    {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "none"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    },
)
_ANNOTATIONS = (
    {"archfit.dev/skip": "true"},
    {"archfit.dev/skip": "false"},
    {"archfit.dev/skip": " TRUE"},
    {"archfit.dev/skip": "yes"},
    {"archfit.dev/only": "amd64"},
    {"archfit.dev/only": "s390x, aarch64"},
    {"archfit.dev/only": "z80"},
    {"archfit.dev/onlyy": "amd64"},
    {"archfit.dev/tolerate": "false"},
    {"archfit.dev/image-platforms": "linux/arm64"},
    {"archfit.dev/image-platforms": "linux/x86_64, linux/arm/v7, windows/amd64"},
    {"archfit.dev/image-platforms": "freebsd/amd64 linux/arm64"},
    {"archfit.dev/image-platforms": ""},
    {"inject.istio.io/templates": "gateway"},
    {"team": "shop"},
)


def platforms() -> dict[str, Found]:
    """What the lock file holds, by normalised reference."""
    made = {name: found(" ".join(platforms)) for name, platforms in IMAGES.items()}
    made |= {name: found(platforms) for name, platforms in _KINDS.items()}
    made |= {name: found(platforms, index=False) for name, platforms in _SINGLE.items()}
    made["chart:1"] = Found((), index=False, image=False)
    named = {
        parse(block[0].format(name)).normalised: answer.replace(digest=DIGEST, origin="lock")
        for block in _SPELLINGS
        for name, answer in made.items()
    }
    pinned = parse(f"quay.io/team/pinned@{DIGEST}").normalised
    return {**named, pinned: found("amd64", digest=DIGEST, origin="lock")}


def pod(
    random: Random, architectures: Sequence[str], namespace: str, *, elsewhere: float = 0.1
) -> dict[str, Any]:
    """A pod. architectures: that it may name. elsewhere: the share of pods that archfit may have a reason to skip."""
    spec = pod_spec(random, architectures)
    spec.pop("nodeName", None)
    if spec.get("runtimeClassName") not in RUNTIME_CLASSES:
        spec.pop("runtimeClassName", None)
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        container["image"] = _image(random, container["image"], elsewhere)
        if random.random() < elsewhere / 10:
            container["imagePullPolicy"] = "Never"
    for container in spec.get("initContainers", ()):
        if random.random() < 0.3:
            container["restartPolicy"] = "Always"
    if random.random() < 0.08:
        spec["volumes"] = [
            {"name": "data", "image": {"reference": _image(random, random.choice((*IMAGES, *_SINGLE)), 0)}}
        ]
    if random.random() < 0.05:
        spec.setdefault("affinity", {}).update(random.choice(_AFFINITIES))
    if random.random() < 0.2:
        spec["tolerations"] = [
            *spec.get("tolerations", ()),
            *random.sample(_TOLERATIONS, random.randint(1, 2)),
        ]
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": _metadata(random, namespace), "spec": spec}
    if random.random() < elsewhere:
        _set_apart(random, made)
    return made


def applied_pod(random: Random, name: str) -> dict[str, Any]:
    """A pod that somebody applies: no controller owns it, and some wait at a gate."""
    spec = deepcopy(pod(random, ("amd64", "arm64", "s390x"), "", elsewhere=0)["spec"])
    spec.pop("runtimeClassName", None)
    if random.random() < 0.3:
        spec["schedulingGates"] = [{"name": "example.com/quota"}]
    metadata = {"name": name, "labels": {"app": random.choice(("web", "db"))}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _image(random: Random, name: str, elsewhere: float) -> str:
    if name not in IMAGES and name not in _SINGLE:
        return name if random.random() < elsewhere else "both:1"
    if random.random() < 0.1:
        name = random.choice((*_SINGLE, *_KINDS, "chart:1"))
    chance = random.random()
    if chance < elsewhere / 5:
        return random.choice(_ODD_IMAGES)
    if chance < elsewhere / 5 + 0.03:
        return f"quay.io/team/pinned{random.choice(('', ':any'))}@{DIGEST}"
    return random.choice(_SPELLINGS[0] if random.random() < 0.5 else random.choice(_SPELLINGS)).format(name)


def _metadata(random: Random, namespace: str) -> dict[str, Any]:
    made: dict[str, Any] = {"namespace": namespace}
    made |= {"name": "web"} if random.random() < 0.5 else {"generateName": "web-"}
    if random.random() < 0.5:
        made["labels"] = {"app": random.choice(("web", "db")), "tier": "front"}
    if random.random() < 0.4:
        made["ownerReferences"] = [_owner(random.choice(_CONTROLLERS), controller=random.random() < 0.9)]
    return made


def _owner(kind: str, *, controller: bool) -> dict[str, Any]:
    group = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": group, "kind": kind, "name": "web", "uid": "5d0", "controller": controller}


def _set_apart(random: Random, made: dict[str, Any]) -> None:
    """Makes it one of those that archfit may leave alone."""
    metadata, chance = made["metadata"], random.random()
    if chance < 0.6:
        metadata["annotations"] = dict(random.choice(_ANNOTATIONS))
    elif chance < 0.8:
        metadata["ownerReferences"] = [_owner("DaemonSet", controller=random.random() < 0.8)]
    else:
        made["spec"]["nodeName"] = "n1"
        if random.random() < 0.5:
            metadata["annotations"] = {"kubernetes.io/config.mirror": "5d0"}
