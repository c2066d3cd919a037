"""Streams by seed and number: objects or real documents, changed as trees, written, framed, changed as text.

frame       documents behind separators | items of a List | items of a ResourceList with a functionConfig
options     one of OPTIONS; every third run records what it adds (`--stamp`)
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from archfit.options.settings import Options, Toleration, TolerationRule
from fuzz import texts, trees
from fuzz.material import ODD
from fuzz.mixed import mixed
from fuzz.objects import objects
from fuzz.writing import Pairs, Raw, as_json, written

_ON = TolerationRule(("amd64",), Toleration("arch", "Equal", "on", "NoSchedule"))
_ANY = Options(on_conflict="leave", on_blank="pass")  # a stream may hold one pod that conflicts, or nothing
_PLACED = {
    "default": _ANY,
    "C=amd64,arm64,s390x": _ANY.replace(cluster_architectures=("amd64", "arm64", "s390x")),
    "prefer": _ANY.replace(immutable="full", prefer=(("arm64", 5), ("amd64", 1))),
    "always": _ANY.replace(affinity="always"),
    "taint": _ANY.replace(tolerate=(_ON,), immutable="full"),
    "full": _ANY.replace(immutable="full"),
}
OPTIONS = {**_PLACED, **{f"{name} --stamp": one.replace(stamp=True) for name, one in _PLACED.items()}}
_PLAIN, _STAMPED = tuple(_PLACED), tuple(f"{name} --stamp" for name in _PLACED)
_HEADS = (
    "", "", "---\n", "# Source: c/t/x.yaml\n", "\ufeff", "--- # c\n", "---\n# Source: c/t/x.yaml\n", "\n",
)  # fmt: skip
_SEPARATORS = (
    "---\n", "---\n", "---\n", "--- # c\n", "---\n# Source: c/t/y.yaml\n", "---# c\n", "...\n---\n",
)  # fmt: skip
MIXED = 20
"""One stream of so many is documents, Lists in YAML and JSON, and what is wrong among them."""
_KEYS = (
    "prefer", "affinity", "immutable", "stamp", "onConflict", "tolerate", "clusterArchitectures", "only",
    "strict", "daemonSets",
)  # fmt: skip


class Stream(NamedTuple):
    """text: what archfit reads. options: a name of OPTIONS."""

    text: bytes
    options: str


def stream(seed: int, number: int, real: Sequence[Any]) -> Stream:
    """Stream number `number` of a seed. real: documents of the corpus, () where there is none."""
    chance = random.Random(seed * 1_000_003 + number)
    draw = chance.random
    if number % MIXED == MIXED - 1:
        return Stream(mixed(chance).encode(errors="replace"), chance.choice((*_PLAIN, *_STAMPED)))
    made = [chance.choice(real)] if real and draw() < 0.45 else objects(chance)
    if real and draw() < 0.1:
        made.append(chance.choice(real))
    frame = draw()
    if frame < 0.2:
        made = [_listed(made, chance)]
    elif frame < 0.3:
        made = [_resource_list(made, chance)]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        number = chance.randrange(len(made))
        made[number] = trees.changed(made[number], chance)
    if draw() < 0.04:
        text = as_json(made[0], chance)
    else:
        text = chance.choice(_HEADS) + written(made[0], chance)
        for one in made[1:]:
            text += chance.choice(_SEPARATORS) + written(one, chance)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 1, 2, 3))):
        text = texts.changed(text, chance)
    return Stream(text.encode(errors="replace"), chance.choice(_STAMPED if draw() < 0.35 else _PLAIN))


def _listed(items: list[Any], chance: random.Random) -> Any:
    made: Any = {"apiVersion": "v1", "kind": "List", "items": items}
    if chance.random() < 0.3:
        made = {"kind": "List", "items": items, "apiVersion": "v1", "metadata": {}}
    if chance.random() < 0.2:
        made["items"] = [*items, chance.choice(({}, None, [], "x", {"a": 1}, items[0]))]
    return made


def _resource_list(items: list[Any], chance: random.Random) -> Any:
    made: Any = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    drawn = chance.random()
    value: Any = chance.choice(
        (
            Raw(chance.choice(ODD)),
            chance.choice(("leave", "full", "true", "arm64=1", "none", "")),
            None,
            [],
            {},
        )
    )
    pairs = Pairs([(chance.choice(_KEYS), value)])
    if drawn < 0.3:
        made["functionConfig"] = {"apiVersion": "v1", "kind": "ConfigMap", "data": pairs}
    elif drawn < 0.6:
        made["functionConfig"] = {"apiVersion": "archfit.dev/v1alpha1", "kind": "ArchFit", "spec": pairs}
    elif drawn < 0.7:
        made["functionConfig"] = chance.choice((None, {}, "x", [], Raw(chance.choice(ODD))))
    if chance.random() < 0.2:
        made["results"] = chance.choice(([], [{"message": "m"}], None))
    if chance.random() < 0.3:
        keys = list(made.items())
        chance.shuffle(keys)
        made = dict(keys)
    return made
