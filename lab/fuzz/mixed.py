"""Documents, Lists in YAML and in JSON of every layout, and what is wrong anywhere among them."""

import json
import random
from collections.abc import Callable
from typing import Any

from fuzz import texts
from fuzz.json_layouts import LAYOUTS, any_layout
from fuzz.objects import objects
from fuzz.writing import as_json, plain, written


def _of(api_version: str, kind: str, metadata: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **members}


_KAFKA = "kafka.strimzi.io/v1beta2"
_CONTAINER = {"name": "a", "image": "nginx:1", "args": ["b"]}
POD = _of("v1", "Pod", {"name": "p", "labels": {"ä": "\u65e5\U0001f600"}}, spec={"containers": [_CONTAINER]})
OWNERS = [{"kind": "ReplicaSet", "name": "r", "controller": True}]
OWNED = {**POD, "metadata": {"name": "o", "ownerReferences": OWNERS}}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True}
CONFIG = _of("v1", "ConfigMap", {"name": "c"}, data={"a": "x: é\n"})
POOL = _of(
    _KAFKA,
    "KafkaNodePool",
    {"name": "n", "labels": {"strimzi.io/cluster": "k"}},
    spec={"template": {"pod": {}}},
)
KAFKA = _of(_KAFKA, "Kafka", {"name": "k"}, spec={"kafka": {"image": "b"}})
_ON_AMD64 = {"nodeSelector": {"kubernetes.io/arch": "amd64"}}
CLASS = _of("node.k8s.io/v1", "RuntimeClass", {"name": "r"}, scheduling=_ON_AMD64)
OF_CLASS = {**POD, "spec": {**POD["spec"], "runtimeClassName": "r"}}
MISPLACED = {**POD, "status": {"archfit.dev/skip": "true"}}
ODD_ITEMS: tuple[Any, ...] = (None, [], "x", 1, {}, {"kind": "Pod"}, {"spec": POD["spec"]}, {"items": [POD]})
WRONG = (
    "apiVersion: v1\nkind: Pod\nspec: {containers: [\n",
    "apiVersion: v1\nkind: Pod\nkind: Pod\nspec:\n  containers:\n  - image: nginx\n",
    "- a\n- b\n",
    "a: b\n",
    'apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: d:3\n    args: ["a\u2028b"]\n',
    "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: No Image\n",
    "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: nginx\n  ? nodeName2\n  : a\n",
)
DAMAGE: tuple[Callable[[str], str], ...] = (
    lambda text: text[:-9],
    lambda text: text + "x\n",
    lambda text: text.replace('"kind"', '"kind": "List", "kind"', 1),
    lambda text: text.replace('"Pod"', "Pod", 1),
    lambda text: text.replace('"Pod"', '"Pod",', 1),
    lambda text: text.replace('"name"', '"name" ', 1),
    lambda text: text.replace('"name"', f'"{"k" * 1100}": 1, "name"', 1),
    lambda text: text.replace('"items"', f'"{"k" * 1100}": 1, "items"', 1),
    lambda text: text.replace('"items"', '"\\u0069tems": [], "items"', 1),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("{", "{ # a\n", 1),
    lambda text: text.replace('"c"', '"\u2028"', 1),
)


def mixed(chance: random.Random) -> str:
    """A stream of up to eight parts, or one large list; sometimes damaged."""
    if chance.random() < 0.4:
        return _large_list(chance)
    parts = [_part(chance) for _ in range(chance.randint(1, 7))]
    if chance.random() < 0.25:
        parts.insert(chance.randint(0, len(parts)), chance.choice(WRONG))
    return "---\n".join(part if part.endswith("\n") else part + "\n" for part in parts)


def _part(chance: random.Random) -> str:
    draw = chance.random()
    if draw < 0.4:
        return written(_item(chance), chance)
    items = [_item(chance) for _ in range(chance.randint(0, 5))]
    if chance.random() < 0.15:
        items.insert(chance.randint(0, len(items)), chance.choice(ODD_ITEMS))
    members = {"apiVersion": "v1", "items": items, "kind": "List"}
    if chance.random() < 0.2:
        pods = [{**item, "kind": "Pod"} for item in items if isinstance(item, dict)]
        members = {"apiVersion": "v1", "kind": "PodList", "items": pods}
    if draw < 0.6:
        return written(members, chance)
    text = LAYOUTS[chance.choice(sorted(LAYOUTS))](json.loads(as_json(members, chance)))
    return chance.choice(DAMAGE)(text) if chance.random() < 0.25 else text


def _item(chance: random.Random) -> Any:
    draw = chance.random()
    if draw < 0.65:
        return chance.choice((POD, POD, OWNED, CONFIG))
    if draw < 0.75:
        return chance.choice((POOL, KAFKA, CLASS, OF_CLASS, MISPLACED))
    return chance.choice(objects(chance))


def _large_list(chance: random.Random) -> str:
    """A list in YAML or JSON, alone or among documents; sometimes damaged."""
    items: list[Any] = [item for _ in range(chance.randint(2, 6)) for item in objects(chance)]
    for item in items:
        if chance.random() < 0.1 and isinstance(item.get("metadata"), dict):
            item["metadata"]["ownerReferences"] = [OWNER]
    if chance.random() < 0.1:
        items.insert(chance.randrange(len(items)), {"apiVersion": "v1", "kind": "List", "items": items[:2]})
    members = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    draw = chance.random()
    if draw < 0.3:
        text = chance.choice(list(LAYOUTS.values()))(plain(members))
    elif draw < 0.5:
        text = any_layout(plain(members), chance)
    else:
        text = written(members, chance)
    if chance.random() < 0.3:
        text = texts.changed(text, chance)
    if chance.random() < 0.3:
        text = (
            f"{written(objects(chance)[0], chance)}\n---\n{text}\n---\n{written(objects(chance)[0], chance)}"
        )
    return text
