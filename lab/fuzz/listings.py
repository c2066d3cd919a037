"""Streams in which readers may find other objects than archfit does: `items`, `<<`, keys that stand twice, odd frames.

    listing(seed, number)     stream number `number` of a seed

Most are objects of a few lines, so that many can be judged; every fourth is one of `streams`.
"""

import random
from collections.abc import Callable
from typing import Any

from fuzz import texts
from fuzz.json_layouts import any_layout
from fuzz.streams import stream
from fuzz.writing import Anchored, Pairs, Raw, written

_CONTAINERS = {"containers": [{"image": "nginx"}]}
_TEMPLATE = {"template": {"spec": _CONTAINERS}}
# fmt: off
_WITH_PODS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("v1", "Pod", {"spec": _CONTAINERS}),
    ("v1", "Pod", {"spec": {"initContainers": [{"image": "a"}], **_CONTAINERS}}),
    ("v1", "Pod", {"spec": {**_CONTAINERS, "volumes": [{"name": "v", "image": {"reference": "d:3"}}]}}),
    ("v1", "PodTemplate", _TEMPLATE),
    ("v1", "ReplicationController", {"spec": _TEMPLATE}),
    ("apps/v1", "Deployment", {"spec": _TEMPLATE}),
    ("apps/v1", "DaemonSet", {"spec": _TEMPLATE}),
    ("batch/v1", "Job", {"spec": _TEMPLATE}),
    ("batch/v1", "CronJob", {"spec": {"jobTemplate": {"spec": _TEMPLATE}}}),
    ("argoproj.io/v1alpha1", "Rollout", {"spec": _TEMPLATE}),
    ("example.com/v1", "Unknown", {"spec": _TEMPLATE}),
    ("apps/v1", "Unknown", {"spec": _TEMPLATE}),
)
_OTHERS = (
    ("v1", "ConfigMap"), ("v1", "ConfigMap"), ("v1", "Secret"), ("v1", "Service"), ("v1", "Namespace"),
    ("rbac.authorization.k8s.io/v1", "Role"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("example.com/v1", "Unknown"), ("apps/v1", "Unknown"), ("v1", "Unknown"),
    ("argoproj.io/v1alpha1", "Workflow"), ("monitoring.coreos.com/v1", "Prometheus"),
    ("policy.open-cluster-management.io/v1", "Policy"), ("work.open-cluster-management.io/v1", "ManifestWork"),
    ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
)
_LISTS = (
    ("v1", "List"), ("v1", "List"), ("v1", "List"), ("v1", "PodList"), ("apps/v1", "DeploymentList"),
    ("batch/v1", "CronJobList"), ("v1", "ConfigMapList"), ("v1", "SecretList"), ("v1", "FooList"),
    ("example.com/v1", "FooList"), ("example.com/v1", "UnknownList"), ("argoproj.io/v1alpha1", "RolloutList"),
    ("config.kubernetes.io/v1", "ResourceList"), ("config.kubernetes.io/v1alpha1", "ResourceList"),
    ("v1", "ResourceList"), ("apps/v1", "List"), ("v2", "List"), ("", "List"), ("v1", "ListList"),
    ("v1", "list"), ("v1", "Listing"), ("rbac.authorization.k8s.io/v1", "RoleList"),
)
_NOTHING: tuple[Any, ...] = (None, {}, [], "x", 1, True, "", {"a": 1}, [[]], Raw("*x"), [None], {"kind": None})
_ITEMS: tuple[Any, ...] = (
    None, None, {}, {}, "", "x", 0, [], [], [[]],
    Raw("*x"), Raw("!!seq []"), Raw("[ ]"), Raw("!!null ''"),
)
_CASED = {
    "kind": ("Kind", "KIND", "kinD"),
    "apiVersion": ("apiversion", "ApiVersion", "APIVERSION"),
    "items": ("Items", "ITEMS", "iteMs"),
    "spec": ("Spec",),
}
_ESCAPED = {
    "kind": ('"\\u006bind"', '"k\\x69nd"', "'kind'", '"kind"', "!!str kind", "&k kind", "? kind\n"),
    "apiVersion": ('"\\x61piVersion"', "'apiVersion'", "!!str apiVersion"),
    "items": ('"\\u0069tems"', '"item\\x73"', "'items'", '"items"', "!!str items", "&i items"),
    "spec": ('"sp\\x65c"', "'spec'"),
    "<<": ('"<<"', "'<<'", "!!str <<", "!!merge <<", '"\\x3c<"', "&m <<"),
}
_ODD_SEPARATORS = (
    "---\n", "---\n", "---\n", "---\n", "--- # c\n", "---# c\n", "---foo\n", "--- foo\n", "--- {}\n", "---\t\n",
    "---\r\n", "...\n---\n", "...\n", "---\n---\n", "---\n# Source: c/templates/y.yaml\n", " ---\n", "---\n\ufeff",
    "---\nnull\n---\n", "---\n# ---\n", "# ---\n---\n", "--- |\n", "--- !!map\n", "--- &d\n", "---\n%YAML 1.1\n---\n",
    "\n\n---\n\n", "---  \n", "----\n", "--- ---\n", "---\n---\n---\n", "---\u2028\n", "---\r",
)
_ODD_HEADS = (
    "", "", "", "", "", "", "---\n", "# Source: c/templates/x.yaml\n", "---\n# Source: c/templates/x.yaml\n", "\ufeff",
    "\ufeff---\n", "%YAML 1.1\n---\n", "# ---\n", "# c\n\n", "--- # c\n", "\n", "---\n---\n", "...\n", "---\n\ufeff",
    "%YAML 1.2\n# c\n---\n", "# kind: Pod\n---\n", "\t\n", " \n", "--- {}\n---\n", "null\n---\n", "\r\n", "{}\n---\n",
)
# fmt: on
_SCRIPT = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: hidden\n---\nkind: Pod\n"


def listing(seed: int, number: int) -> bytes:
    if number % 4 == 3:
        return stream(seed, number, ()).text
    chance = random.Random(f"{seed}/{number}")
    draw = chance.random
    trees = [_document(chance) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))]
    if draw() < 0.16:
        return _json_stream(trees, chance).encode(errors="replace")
    text = (chance.choice(_ODD_HEADS) if draw() < 0.4 else "") + written(trees[0], chance)
    for tree in trees[1:]:
        text += (chance.choice(_ODD_SEPARATORS) if draw() < 0.25 else "---\n") + (
            any_layout(tree, chance) + "\n" if draw() < 0.1 else written(tree, chance)
        )
    for _ in range(chance.choice((0, 0, 0, 0, 0, 0, 0, 1, 1, 2))):
        text = texts.changed(text, chance)
    return text.encode(errors="replace")


def _document(chance: random.Random) -> Any:
    drawn = chance.random()
    if drawn < 0.62:
        made = _holder(chance, 0)
    elif drawn < 0.97:
        made = _object(chance)
    else:
        return chance.choice(_NOTHING)
    if chance.random() < 0.06:
        made = chance.choice(
            (
                Anchored("x", made),
                [made],
                Pairs([("a", made)]),
                Pairs([("a", Anchored("x", made)), ("<<", Raw("*x"))]),
            )
        )
    return made


def _object(chance: random.Random) -> Any:
    """An object without `items`: most hold a pod."""
    if chance.random() < 0.3:
        api_version, kind = chance.choice(_OTHERS)
        more: dict[str, Any] = chance.choice(
            ({}, {"data": {"m": _SCRIPT}}, {"spec": _CONTAINERS}, {"data": {"kind": "Pod"}})
        )
    else:
        api_version, kind, more = chance.choice(_WITH_PODS)
    return _changed([*_identity(api_version, kind, chance), *more.items()], chance)


def _holder(chance: random.Random, depth: int) -> Any:
    """An object of any kind with `items`."""
    drawn = chance.random()
    more: dict[str, Any] = {}
    if drawn < 0.5:
        api_version, kind = chance.choice(_LISTS)
    elif drawn < 0.8:
        api_version, kind = chance.choice(_OTHERS)
    else:
        api_version, kind, more = chance.choice(_WITH_PODS)
    items: Any = [_item(chance, depth) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    if chance.random() < 0.12:
        items = chance.choice((*_ITEMS, Pairs([("a", items)])))
    if chance.random() < 0.05:
        items = Anchored("x", items)
    return _changed([*_identity(api_version, kind, chance), *more.items(), ("items", items)], chance)


def _item(chance: random.Random, depth: int) -> Any:
    drawn = chance.random()
    if drawn < 0.04:
        return chance.choice(_NOTHING)
    if drawn < 0.22 and depth < 3:
        return _holder(chance, depth + 1)
    return _object(chance)


def _identity(api_version: str, kind: str, chance: random.Random) -> list[tuple[str, Any]]:
    """apiVersion, kind and metadata, some of them missing."""
    drawn = chance.random()
    made: list[tuple[str, Any]] = [("apiVersion", api_version), ("kind", kind)]
    if drawn < 0.02:
        made = made[1:]
    elif drawn < 0.04:
        made = made[:1]
    elif drawn < 0.1 or (not api_version and drawn < 0.5):
        made = []
    elif drawn < 0.15:
        made[1] = ("kind", _spelt(kind, chance))
    elif drawn < 0.17:
        made[0] = ("apiVersion", chance.choice((Raw(f"'{api_version}'"), None, "", 1, f"{api_version}x", [])))
    drawn = chance.random()
    if drawn < 0.88:
        metadata: dict[str, Any] = {"name": chance.choice("abc")}
        if drawn < 0.05:
            metadata["namespace"] = "ns"
        elif drawn < 0.1:
            metadata["annotations"] = {"helm.sh/hook": chance.choice(("pre-install", "test", "none"))}
        elif drawn < 0.11:
            metadata["annotations"] = {"config.kubernetes.io/local-config": "true"}
        elif drawn < 0.13:
            metadata = {"generateName": "g-"}
        made.append(("metadata", metadata))
    elif drawn < 0.92:
        made.append(("metadata", chance.choice((None, {}, [], "x", {"name": 1}, {"name": None}))))
    return made


def _spelt(kind: str, chance: random.Random) -> Any:
    """The kind, written as few people write it, or none."""
    return chance.choice(
        (
            Raw(f"!!str {kind}"), Raw(f"&k {kind}"), Raw(f'"\\x{ord(kind[0]):02x}{kind[1:]}"'), Raw(f"'{kind}'"),
            Raw(f"{kind} # c"), Raw(f"! {kind}"), f" {kind}", f"{kind} ", Raw(f"\t{kind}"), Raw("*k"), None, 1, [kind],
            {}, "", f"{kind}\n", kind.lower(), Raw(f'"{kind[0]}\\\n  {kind[1:]}"'), Raw("!!binary UG9k"), True,
        )
    )  # fmt: skip


def _changed(pairs: list[tuple[str, Any]], chance: random.Random) -> Any:
    """The mapping: its keys in another order, twice, by `<<`, in other letters, escaped."""
    draw = chance.random
    if draw() < 0.3:
        chance.shuffle(pairs)
    if draw() < 0.25:
        for change in chance.choices(_CHANGES, k=chance.choice((1, 1, 2))):
            pairs = change(pairs, chance)
    return Pairs(pairs) if pairs else {}


_Members = list[tuple[str, Any]]


def _twice(pairs: _Members, chance: random.Random) -> _Members:
    key = chance.choice(("kind", "apiVersion", "items", "spec"))
    value: Any = {
        "kind": chance.choice(("Pod", "ConfigMap", "List", "Deployment", None, "PodList")),
        "apiVersion": chance.choice(("v1", "apps/v1", None)),
        "items": chance.choice((None, [], {}, [{"apiVersion": "v1", "kind": "Pod", "spec": _CONTAINERS}])),
        "spec": chance.choice((None, _CONTAINERS, _TEMPLATE)),
    }[key]
    at = chance.randrange(len(pairs) + 1)
    return [*pairs[:at], (key, value), *pairs[at:]]


def _cased(pairs: _Members, chance: random.Random) -> _Members:
    """A key in other letters, in place of the right one or beside it."""
    at = chance.randrange(len(pairs)) if pairs else 0
    if not pairs or pairs[at][0] not in _CASED:
        return [*pairs, (chance.choice(("Kind", "KIND", "ITEMS", "Items")), chance.choice(("Pod", [], None)))]
    key, value = pairs[at]
    other = (chance.choice(_CASED[key]), value)
    if chance.random() < 0.5:
        return [*pairs[:at], other, *pairs[at + 1 :]]
    return [*pairs[:at], other, *pairs[at:]] if chance.random() < 0.5 else [*pairs, other]


def _escaped(pairs: _Members, chance: random.Random) -> _Members:
    """A key in quotes, with escapes, with a tag."""
    return [
        (Raw(chance.choice(_ESCAPED[key])), value)
        if key in _ESCAPED and chance.random() < 0.5
        else (key, value)
        for key, value in pairs
    ]


def _merged(pairs: _Members, chance: random.Random) -> _Members:
    """Some members arrive by `<<`, others are overruled by it."""
    draw = chance.random
    supplied: Any = {"kind": chance.choice(("Pod", "Pod", "ConfigMap", "List", "Deployment"))}
    if draw() < 0.3:
        supplied["apiVersion"] = chance.choice(("v1", "apps/v1"))
    if draw() < 0.4:
        supplied["spec"] = chance.choice((_CONTAINERS, _TEMPLATE))
    if draw() < 0.3:
        supplied["items"] = [{"apiVersion": "v1", "kind": "Pod", "spec": _CONTAINERS}]
    if pairs and draw() < 0.6:
        moved = chance.sample(range(len(pairs)), chance.randint(1, len(pairs)))
        supplied = {pairs[number][0]: pairs[number][1] for number in moved}
        pairs = [pair for number, pair in enumerate(pairs) if number not in moved]
    before: _Members = []
    drawn = draw()
    if drawn < 0.15:
        supplied = [supplied, {"zz": 1}]
    elif drawn < 0.35:
        before, supplied = [("a", Anchored("m", supplied))], Raw("*m")
    elif drawn < 0.45:
        before, supplied = [("a", Anchored("m", supplied))], [Raw("*m"), {"kind": "Pod"}]
    elif drawn < 0.5:
        supplied = chance.choice((None, [], {}, "x", [[]], Raw("*x")))
    elif drawn < 0.55:
        supplied = Pairs([("<<", supplied)])
    at = chance.randrange(len(pairs) + 1)
    key = Raw(chance.choice(_ESCAPED["<<"])) if draw() < 0.15 else "<<"
    return [*before, *pairs[:at], (key, supplied), *pairs[at:]]


def _shared(pairs: _Members, chance: random.Random) -> _Members:
    """A value has an anchor, and another is its alias."""
    if len(pairs) < 2:
        return pairs
    one, other = sorted(chance.sample(range(len(pairs)), 2))
    made = list(pairs)
    made[one] = (made[one][0], Anchored("x", made[one][1]))
    if chance.random() < 0.7:
        made[other] = (made[other][0], Raw("*x"))
    return made


def _beside(pairs: _Members, chance: random.Random) -> _Members:
    """A member that looks like another thing."""
    value = chance.choice(
        (_SCRIPT, "kind: Pod\n", "---\nkind: Pod\n", {"kind": "Pod"}, [{"kind": "Pod"}], "'", '"', "{")
    )
    at = chance.randrange(len(pairs) + 1)
    return [
        *pairs[:at],
        (chance.choice(("data", "a", "zz", "itemz", "kinds", "-", "---")), value),
        *pairs[at:],
    ]


_CHANGES: tuple[Callable[[_Members, random.Random], _Members], ...] = (
    _twice, _cased, _escaped, _merged, _merged, _merged, _shared, _beside,
)  # fmt: skip


def _json_stream(trees: list[Any], chance: random.Random) -> str:
    """Documents in JSON, one behind the other or behind separators."""
    between = chance.choice(("", "\n", "\n", " ", "\n---\n", "\n---\n", ",\n", "\n\n"))
    text = between.join(any_layout(tree, chance) for tree in trees)
    return (
        chance.choice(("", "", "", "\n", " ", "\ufeff", "---\n", "# c\n", "\t"))
        + text
        + chance.choice(("\n", "", "\n...\n", "}"))
    )
