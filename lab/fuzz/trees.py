"""Changes to trees: what an event of the text would become if it were another one.

    changed(tree, chance)     a copy; parts that do not change are shared with the original

A change takes place at a random node, oftener at one that decides a placement: its value becomes null, empty or of
another type, a key stands twice, a node gets an anchor and another becomes its alias, members arrive by `<<`.
"""

import random
from collections.abc import Callable
from typing import Any

from fuzz.material import IMAGES, ODD, SCRIPTS, TEXTS
from fuzz.objects import TOLERATIONS, affinity, metadata
from fuzz.writing import Anchored, Pairs, Raw

_PLACED = (
    "containers", "affinity", "tolerations", "nodeSelector", "template", "spec", "metadata", "annotations",
    "nodeAffinity", "items", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
)  # fmt: skip


def changed(tree: Any, chance: random.Random) -> Any:
    return chance.choice(_CHANGES)(tree, chance)


def _at(tree: Any, chance: random.Random, become: Callable[[Any, random.Random], Any], depth: int = 0) -> Any:
    """The tree with one node on a random way down replaced by what `become` makes of it."""
    members = _members(tree)
    if not members or (depth and chance.random() < 0.22):
        return become(tree, chance)
    wanted = [number for number, (key, _) in enumerate(members) if key in _PLACED]
    number = chance.choice(wanted) if wanted and chance.random() < 0.6 else chance.randrange(len(members))
    key, member = members[number]
    made = _at(member, chance, become, depth + 1)
    if isinstance(tree, Anchored):
        return Anchored(tree.name, made)
    if isinstance(tree, Pairs):
        return Pairs([*tree[:number], (key, made), *tree[number + 1 :]])
    if isinstance(tree, dict):
        return {**tree, key: made}
    return [*tree[:number], made, *tree[number + 1 :]]


def _members(tree: Any) -> list[tuple[Any, Any]]:
    if isinstance(tree, Anchored):
        return [("", tree.tree)]
    if isinstance(tree, Pairs):
        return list(tree)
    if isinstance(tree, dict):
        return list(tree.items())
    return list(enumerate(tree)) if isinstance(tree, list) else []


def _other_value(_node: Any, chance: random.Random) -> Any:
    drawn = chance.random()
    if drawn < 0.5:
        return chance.choice((None, {}, [], "", None, 0, True, "x", [{}], {"a": None}, [None]))
    if drawn < 0.7:
        return chance.choice((*SCRIPTS, *TEXTS))
    if drawn < 0.9:
        return Raw(chance.choice(ODD))
    node: Any = "x"
    for _ in range(chance.choice((3, 40, 260))):
        node = chance.choice(([node], {"k": node}))
    return node


def _dropped(node: Any, chance: random.Random) -> Any:
    if isinstance(node, dict) and node:
        gone = chance.choice(list(node))
        return {key: member for key, member in node.items() if key != gone}
    if isinstance(node, list) and node:
        made = list(node)
        del made[chance.randrange(len(made))]
        return Pairs(made) if isinstance(node, Pairs) else made
    return None


def _twice(node: Any, chance: random.Random) -> Any:
    if isinstance(node, (dict, Pairs)) and node:
        pairs = list(node.items()) if isinstance(node, dict) else list(node)
        key, member = chance.choice(pairs)
        second: Any = chance.choice((member, None, [], {}, "x", Raw("*x"), [Raw("*x")]))
        if chance.random() < 0.5:
            pairs.append((key, second))
        else:
            pairs.insert(0, (key, chance.choice((second, Anchored("x", second)))))
        return Pairs(pairs)
    if isinstance(node, list) and node:
        made = list(node)
        made.insert(chance.randrange(len(made) + 1), chance.choice((made[0], {}, None, [], "x", {"a": 1})))
        return made
    return node


def _alias_overwritten(node: Any, chance: random.Random) -> Any:
    """A key stands twice, and the value that falls holds an alias, or the anchor of one."""
    if not isinstance(node, dict):
        return node
    key = chance.choice(("hostAliases", "tolerations", "zz", *node))
    alias = Raw("*x")
    fallen = chance.choice(
        (alias, [alias], {"c": alias}, [{"c": alias}], {"s": [Anchored("y", None), Raw("*y")]}, [1, alias])
    )
    second = chance.choice((None, [], {}, "x", [alias], {"c": alias}))
    pairs: list[tuple[str, Any]] = [
        ("a", Anchored("x", chance.choice((1, "x", {}, [1], None)))),
        (key, fallen),
    ]
    return Pairs([*pairs, *node.items(), *([(key, second)] if key not in node else [])])


def _shuffled(node: Any, chance: random.Random) -> Any:
    if isinstance(node, dict):
        pairs = list(node.items())
        chance.shuffle(pairs)
        return dict(pairs)
    return node


def _merged(node: Any, chance: random.Random) -> Any:
    if not isinstance(node, dict) or not node:
        return Pairs([("<<", chance.choice((Raw("*x"), [], {}, None)))])
    names = chance.sample(list(node), chance.randint(1, len(node)))
    supplied: Any = {name: node[name] for name in names}
    drawn = chance.random()
    if drawn < 0.2:
        supplied = [supplied, {"zz": 1}]
    elif drawn < 0.3:
        supplied = Anchored("x", supplied)
    elif drawn < 0.45:
        supplied = chance.choice((Raw("*x"), [Raw("*x"), Raw("*y")], [supplied, Raw("*x")]))
    own = [(key, member) for key, member in node.items() if key not in names]
    merge = ("<<", supplied)
    drawn = chance.random()
    if drawn < 0.7:
        return Pairs([merge, *own])
    if drawn < 0.85:
        return Pairs([*own, merge])
    return Pairs([merge, *own, ("<<", chance.choice((supplied, {"a": 1}, Raw("*x"))))])


def _anchored(tree: Any, chance: random.Random) -> Any:
    """One node gets an anchor, and one after it becomes the alias; before it, the alias would stand for nothing."""
    name = chance.choice(("x", "x", "y", "a-1"))
    made = _at(
        tree, chance, lambda node, _: node if isinstance(node, (Raw, Anchored)) else Anchored(name, node)
    )
    for _ in range(chance.choice((0, 1, 1, 1, 2))):
        made = _at(made, chance, lambda node, _: node if _holds(node, name) else Raw(f"*{name}"))
    return made


def _holds(node: Any, name: str) -> bool:
    """Whether the anchor is the node's, or of a node below it."""
    if isinstance(node, Anchored) and node.name == name:
        return True
    return any(_holds(member, name) for _, member in _members(node))


def _same_again(tree: Any, chance: random.Random) -> Any:
    """A value that stands in two places becomes an anchor and its alias; items of a list likewise."""
    if isinstance(tree, dict) and isinstance(tree.get("items"), list) and tree["items"]:
        item = chance.choice(tree["items"])
        if isinstance(item, dict):
            if chance.random() < 0.4:
                items = [Anchored("x", item), *[Raw("*x")] * chance.choice((1, 1, 2))]
                return {**tree, "items": [*items, *tree["items"]] if chance.random() < 0.3 else items}
            key = chance.choice(list(item) or ["spec"])
            named = {**item, "metadata": metadata(chance)}
            first, other = {**named, key: Anchored("x", item.get(key))}, {**named, key: Raw("*x")}
            return {**tree, "items": [first, other]}
    return _anchored(tree, chance)


def _placement(tree: Any, chance: random.Random) -> Any:
    """Members of a pod spec, or the metadata of an object, become what decides."""

    def become(node: Any, _: random.Random) -> Any:
        if not isinstance(node, dict):
            return node
        if "kind" in node:
            return {**node, "metadata": metadata(chance)}
        drawn = chance.random()
        if drawn < 0.3:
            return {**node, "affinity": affinity(chance)}
        if drawn < 0.6:
            return {**node, "tolerations": chance.choice((None, [], [chance.choice(TOLERATIONS)], Raw("~")))}
        if drawn < 0.7 and "image" in node:
            return {**node, "image": chance.choice((*IMAGES, None, 8, Raw("08"), "", "{{ .x }}", "A@b"))}
        return {"affinity": None, **node} if drawn < 0.8 else {**node, "hostname": chance.choice(SCRIPTS)}

    return _at(tree, chance, become)


def _here(become: Callable[[Any, random.Random], Any]) -> Callable[[Any, random.Random], Any]:
    return lambda tree, chance: _at(tree, chance, become)


_CHANGES: tuple[Callable[[Any, random.Random], Any], ...] = (
    _here(_other_value), _here(_other_value), _here(_dropped), _here(_twice), _here(_twice), _here(_shuffled),
    _here(_alias_overwritten), _here(_merged), _anchored, _anchored, _same_again, _placement, _placement,
    _placement,
)  # fmt: skip
