"""Good tenants: their pods, what each must become, and how the answers are judged.

The judge knows nothing of archfit. A pod reaches three nodes, or some of them:

    amd64           a node of that architecture
    arm64           the same
    arm64 tainted   one with the taint kubernetes.io/arch=arm64:NoSchedule, as GKE sets it

    a pod whose images all offer what a node has reaches that node, unless it kept itself off      right
    archfit did not decide, and said why: the pod reaches what it reached before, without a trace    left
    anything else                                                                                     wrong
"""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import jsonpatch

from admission_reviews import Answered, body, pod, review
from campaign.webhook.registries import OFFERS

ARCH = "kubernetes.io/arch"
ADDED = "archfit.dev/added"
SECRET = "hush-4711"
"""A value of every pod (`admission_reviews.pod`) and the registry's password: neither may be seen anywhere."""
NODES = (("amd64", False), ("arm64", False), ("arm64", True))
_TAINT = {"key": ARCH, "value": "arm64", "effect": "NoSchedule"}

Judged: TypeAlias = Literal["right", "left", "wrong"]


class Wanted(NamedTuple):
    """A pod, and what its images offer; nodes: what it must reach. known: an answer for each image is at hand."""

    value: dict[str, Any]
    namespace: str
    nodes: frozenset[tuple[str, bool]]
    known: bool = True


def reach(value: dict[str, Any]) -> frozenset[tuple[str, bool]]:
    """The nodes that a pod can run on."""
    return frozenset(
        node for node in NODES if _selected(value, node[0]) and (not node[1] or _tolerates(value))
    )


def _selected(value: dict[str, Any], architecture: str) -> bool:
    required = value["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = required.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms")
    return terms is None or any(
        term.get("matchExpressions")
        and all(_matches(expression, architecture) for expression in term["matchExpressions"])
        for term in terms
    )


def _matches(expression: dict[str, Any], architecture: str) -> bool:
    if expression["key"] != ARCH:
        return True
    is_named, is_in = architecture in expression["values"], expression["operator"] == "In"
    return bool(is_named == is_in)


def _tolerates(value: dict[str, Any]) -> bool:
    return any(
        one.get("effect", _TAINT["effect"]) == _TAINT["effect"]
        and one.get("key", ARCH) == ARCH
        and (one.get("operator") == "Exists" or (one.get("key"), one.get("value")) == (ARCH, _TAINT["value"]))
        for one in value["spec"].get("tolerations", [])
    )


def patched(value: dict[str, Any], answered: Answered) -> dict[str, Any]:
    """The pod as the API server stores it, by python-jsonpatch. Raises what that raises."""
    steps = [
        step for step in answered.patch or () if step["op"] != "test" or step.get("value") is not None
    ]  # a `test` of a missing member has the value null, which the API server's library takes
    made: dict[str, Any] = jsonpatch.apply_patch(copy.deepcopy(value), steps)
    return made


def offered(images: list[str]) -> frozenset[str]:
    """The architectures that every image offers."""
    sets = [
        {text.partition("/")[2] for text in OFFERS.get(image.partition(":")[0].rpartition("/")[2], ())}
        for image in images
    ]
    return frozenset(set.intersection(*sets))


def images_of(value: dict[str, Any]) -> list[str]:
    return [one["image"] for one in value["spec"]["containers"]]


def wanted_nodes(value: dict[str, Any], before: dict[str, Any]) -> frozenset[tuple[str, bool]]:
    """What a pod of these images must reach. before: the pod as its tenant wrote it."""
    architectures = offered(images_of(value))
    return frozenset(node for node in NODES if node[0] in architectures and _selected(before, node[0]))


def judged(answered: Answered, stored: dict[str, Any], written: dict[str, Any]) -> tuple[Judged, str]:
    """stored: what became of the pod; written: as its tenant wrote it. The judgement, and what is wrong."""
    after, before = reach(stored), reach(written)
    wanted = wanted_nodes(stored, written)
    if not answered.allowed:
        return "wrong", f"it was refused: {answered.status}"
    if wanted and after == wanted:
        return "right", ""
    traces = ADDED in stored["metadata"].get("annotations", {}) and ADDED not in written["metadata"].get(
        "annotations", {}
    )
    if after == before and not traces and (answered.warnings or not wanted):
        return ("left", "") if wanted else ("right", "")
    # What the images that are known lack is closed, whatever the others are.
    closed, everywhere = before - after, offered(images_of(stored))
    if closed and after <= before and answered.warnings and not any(node[0] in everywhere for node in closed):
        return "left", ""
    return "wrong", f"it reaches {sorted(after)}, not {sorted(wanted)}; warnings {answered.warnings}"


def narrowed(value: dict[str, Any], stored: dict[str, Any]) -> bool:
    """Whether a pod reaches nothing that it did not reach before, but what every image offers."""
    return not (reach(stored) - reach(value) - wanted_nodes(stored, value))


def _expression(arch: str) -> dict[str, Any]:
    return {"key": ARCH, "operator": "In", "values": [arch]}


def _kept_to(arch: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [_expression(arch)]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


def drawn_pod(drawn: random.Random, number: int, *, known: bool) -> Wanted:
    """A pod of one to three images of the good registry. known: of the few that every storm asks for first."""
    tag = drawn.randrange(3) if known else f"n{number}"
    names = [
        f"good.invalid/team/{drawn.choice(list(OFFERS))}:{tag}" for _ in range(drawn.choice([1, 1, 2, 3]))
    ]
    spec: dict[str, Any] = {}
    if drawn.random() < 0.2:
        spec["affinity"] = _kept_to(drawn.choice(["amd64", "arm64"]))
    if drawn.random() < 0.2:
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
    value = pod(*names, spec=spec, name=f"web-{number}", namespace="shop")
    return Wanted(value, "shop", wanted_nodes(value, value), known)


def known_pods() -> Iterator[Wanted]:
    """A pod for each image that `drawn_pod(.., known=True)` can name."""
    for name in OFFERS:
        for tag in range(3):
            value = pod(f"good.invalid/team/{name}:{tag}", name=f"warm-{name}-{tag}", namespace="shop")
            yield Wanted(value, "shop", wanted_nodes(value, value))


SIDECARS = (
    "good.invalid/team/both:0",
    "good.invalid/team/amd:1",
    "good.invalid/team/arm:2",
    "good.invalid/team/none:1",
)


def injected(value: dict[str, Any], image: str) -> dict[str, Any]:
    """The pod with one more container, as another webhook leaves it."""
    made = copy.deepcopy(value)
    made["spec"]["containers"].append({"name": "side", "image": image})
    return made


def request(value: dict[str, Any] | None, namespace: str, uid: str, **members: Any) -> bytes:
    return body(review(value, namespace=namespace, uid=uid, **members))


def forged(drawn: random.Random, number: int) -> dict[str, Any]:
    """A pod of a known image for one architecture, kept to it by its tenant, with a record that archfit never wrote."""
    arch = drawn.choice(["amd64", "arm64"])
    value = pod(
        f"good.invalid/team/{arch[:3]}:{drawn.randrange(3)}", name=f"forged-{number}", namespace="shop"
    )
    expression = _expression(arch)
    value["spec"]["affinity"] = _kept_to(arch)
    path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
    lines = [
        {
            "by": drawn.choice(["webhook", "policy"]),
            "images": drawn.choice([0, 1, 9]),
            "path": place,
            "value": one,
        }
        for place, one in (
            ("/spec/affinity", {}),
            ("/spec/affinity/nodeAffinity", {}),
            (path.rpartition("/")[0], {}),
            (f"{path}/0/matchExpressions/-", expression),
            ("/spec/tolerations/-", drawn.choice([{**_TAINT, "operator": "Equal"}, {"operator": "Exists"}])),
        )
        if drawn.random() < 0.8
    ]
    texts = [json.dumps(line, sort_keys=True, separators=(",", ":")) for line in lines]
    value["metadata"]["annotations"] = {ADDED: "[" + ",\n".join(texts) + "]"}
    return value
