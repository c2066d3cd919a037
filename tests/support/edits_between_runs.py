"""A person edits a stamped object, and archfit runs again: it takes back what it wrote, and nothing else.

Each edit is made twice: in what archfit wrote (`stamped`), and in what the person has (`own`), which lacks archfit's
part. Then all of `own` is in the output, and without a message the output is what a first run makes of `own`. Where the
second run knows nothing of an image, all that its pods have in `stamped` is in the output, and one more such run gives
the same.
"""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import yaml

from archfit.images.platforms import Unknown
from archfit.options.settings import Options
from stream_edits import IMAGES, Failed, edited

STAMP = Options(stamp=True, on_unknown="leave")
CLUSTERS = (("amd64", "arm64"), ("amd64", "arm64", "windows/amd64"))
LEFT = "it stays as it is"
ARCH = "kubernetes.io/arch"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ONLY_AMD = {"key": ARCH, "operator": "In", "values": ["amd64"]}


def arch_term(*more: Any) -> dict[str, Any]:
    return {"matchExpressions": [*more, copy.deepcopy(ONLY_AMD)]}


def affinity(*terms: Any) -> dict[str, Any]:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def zone(name: str) -> dict[str, Any]:
    return {"key": "zone", "operator": "In", "values": [name]}


def pod(image: str, **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": image}], **more}


def ray(*groups: Any) -> dict[str, Any]:
    spec = {"headGroupSpec": {"template": {"spec": pod("both:1")}}, "workerGroupSpecs": list(groups)}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": spec}


def group(name: str, image: str, **more: Any) -> dict[str, Any]:
    return {"groupName": name, "template": {"spec": pod(image, **more)}}


def workflow(*templates: Any) -> dict[str, Any]:
    spec = {"entrypoint": "a", "templates": list(templates)}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "WorkflowTemplate",
        "metadata": {"name": "w"},
        "spec": spec,
    }


def template(name: str, image: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "container": {"image": image}, **more}


def deployment(*terms: Any, **more: Any) -> dict[str, Any]:
    spec = {"template": {"spec": pod("moves", affinity=affinity(*terms), **more)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def terms_of(value: dict[str, Any]) -> list[Any]:
    required = value["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][REQUIRED]
    terms: list[Any] = required["nodeSelectorTerms"]
    return terms


def pinned(item: dict[str, Any]) -> list[Any]:
    """The expressions of the first required term of an item; made where they are missing."""
    if "containers" not in item and "container" not in item and "template" not in item:
        expressions: list[Any] = item.setdefault("matchExpressions", [])
        return expressions
    holder = item["template"]["spec"] if "template" in item else item
    node = holder.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = node.setdefault(REQUIRED, {}).setdefault("nodeSelectorTerms", [])
    if not terms:
        terms.append({})
    return pinned(terms[0])


def expressions_there(item: Any) -> list[Any]:
    """All lists of expressions in an item."""
    members = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    below = [lists for member in members for lists in expressions_there(member)]
    return (
        [item["matchExpressions"], *below] if isinstance(item, dict) and "matchExpressions" in item else below
    )


SHAPES: dict[str, tuple[dict[str, Any], Callable[[Any], list[Any]], Callable[[str], Any]]] = {
    "groups": (
        ray(group("a", "moves"), group("b", "amd:1"), group("c", "both:1", affinity=affinity({"matchExpressions": [zone("x")]}))),
        lambda value: value["spec"]["workerGroupSpecs"],
        lambda name: group(name, "both:1", affinity=affinity(arch_term())),
    ),
    "templates": (
        workflow(template("a", "moves"), template("b", "amd:1"), template("c", "both:1")),
        lambda value: value["spec"]["templates"],
        lambda name: template(name, "both:1", affinity=affinity(arch_term())),
    ),
    "terms": (
        deployment({"matchExpressions": [zone("a")]}, {"matchExpressions": [zone("b")]}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}),
        terms_of,
        lambda name: arch_term(zone(name)),
    ),
}  # fmt: skip


def edit(draw: random.Random, stamped: list[Any], own: list[Any], new: Callable[[str], Any]) -> str:
    """Makes one edit in both lists, and names it."""
    at, to = draw.randrange(len(own)), draw.randrange(len(own))
    kind = draw.choice(
        ("insert", "insert plain", "delete", "move", "rename", "copy", "copy renamed", "pin", "unpin", "repin", "zone", "nothing")
    )  # fmt: skip
    if kind.startswith("insert"):
        item = new("new")
        for one in expressions_there(item) if kind == "insert plain" else ():
            one[:] = [zone("new")]
        for items in (stamped, own):
            items.insert(to, copy.deepcopy(item))
    elif kind == "delete":
        for items in (stamped, own):
            del items[at]
    elif kind == "move":
        for items in (stamped, own):
            items.insert(to, items.pop(at))
    elif kind == "rename":
        for items in (stamped, own):
            for key in ("name", "groupName"):
                if key in items[at]:
                    items[at][key] = "renamed"
    elif kind.startswith("copy"):
        # What a person repeats is the person's, archfit's part of it included.
        item = copy.deepcopy(stamped[at])
        for key in ("name", "groupName"):
            if key in item and kind == "copy renamed":
                item[key] = "copied"
        for items in (stamped, own):
            items.insert(to, copy.deepcopy(item))
    elif kind == "pin":
        for items in (stamped, own):
            pinned(items[at]).append(dict(ONLY_AMD))
    elif kind == "unpin":
        for one in expressions_there(stamped[at]):
            one[:] = [expression for expression in one if expression["key"] != ARCH]
    elif kind == "repin":
        for one in expressions_there(stamped[at])[:1]:
            for expression in one:
                if expression["key"] == ARCH:
                    expression["values"] = ["s390x"]
                    pinned(own[at]).append(copy.deepcopy(expression))
    elif kind == "zone":
        for items in (stamped, own):
            pinned(items[at]).append(zone("added"))
    return kind


def holds(there: Any, wanted: Any) -> bool:
    """Whether all of `wanted` is in `there`: members by key, items of a list each in an item of its own."""
    if isinstance(wanted, dict) and isinstance(there, dict):
        return all(key in there and holds(there[key], member) for key, member in wanted.items())
    if isinstance(wanted, list) and isinstance(there, list):
        left = list(there)
        # What has more to hold first, so that it does not find its place taken.
        for item in sorted(wanted, key=lambda one: -len(json.dumps(one))):
            place = next((number for number, one in enumerate(left) if holds(one, item)), None)
            if place is None:
                return False
            del left[place]
        return True
    return bool(there == wanted)


def unknown(value: Any) -> list[Any]:
    """The pod specs of the object whose image is `moves`."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    image = {"image": "moves"}
    if isinstance(value, dict) and (
        holds(value, {"containers": [image]}) or holds(value, {"container": image})
    ):
        return [value]
    return [pod for member in members for pod in unknown(member)]


def plain(value: Any) -> Any:
    """The value without a stamp, lists in one order."""
    if isinstance(value, dict):
        members = {key: plain(member) for key, member in value.items() if key != "archfit.dev/added"}
        return {key: member for key, member in members.items() if member not in ({}, [])}
    return sorted(map(plain, value), key=json.dumps) if isinstance(value, list) else value


def run(value: Any, cluster: tuple[str, ...] = CLUSTERS[0]) -> tuple[Any, bool]:
    """What archfit makes of it, and whether it says that it left something."""
    data = yaml.safe_dump(value, sort_keys=False).encode()
    output = edited(data, STAMP.replace(cluster_architectures=cluster))
    return yaml.safe_load(output.data), any(LEFT in result.text for result in output.edits.messages)


def between_runs(shape: str, seed: int) -> str:
    """One edit between two runs; the image `moves` may gain an architecture. Gives the name of the edit."""
    draw = random.Random(seed)
    cluster, outage, before = draw.choice(CLUSTERS), draw.random() < 0.5, draw.choice(("amd:1", "both:1"))
    source, items_of, new = SHAPES[shape]
    own = copy.deepcopy(source)
    IMAGES["moves"] = IMAGES[before]
    stamped, _ = run(own, cluster)
    kind = edit(draw, items_of(stamped), items_of(own), new)
    moved = IMAGES[draw.choice(("amd:1", "both:1", "all:1"))]
    said = False
    try:
        if outage:
            IMAGES["moves"] = Unknown("no network")  # type: ignore[assignment]
            output, said = run(stamped, cluster)
            assert holds(unknown(output), unknown(stamped)), (shape, seed, kind)
            again, _ = run(output, cluster)
            assert again == output, (shape, seed, kind)
            stamped = output
        IMAGES["moves"] = moved
        output, left = run(stamped, cluster)
    except Failed:  # nothing is written
        return kind
    assert holds(output, own), (shape, seed, kind)
    if not (left or said):
        try:
            fresh, _ = run(own, cluster)
        except Failed:
            return kind
        assert plain(output) == plain(fresh), (shape, seed, kind)
    return kind
