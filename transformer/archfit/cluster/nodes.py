"""What the nodes of a cluster say about its configuration.

    clusterArchitectures    the architectures of the Linux nodes, by their label; of Windows nodes as windows/amd64
    tolerate                a taint becomes a rule when all of these hold
      key or value          the key is kubernetes.io/arch, beta.kubernetes.io/arch, or named by --arch-taint; or the
                            value spells an architecture, and the key is not Kubernetes' own (arch=arm64, but not
                            node-role.kubernetes.io/control-plane=..)
      architectures R       the one that its value spells, else those of the nodes that carry it
      nodes                 every node with exactly this key, value and effect has one of R's architectures
      cluster               R is among those of the Linux nodes

Every other taint is listed with its reason: those of spot, GPU, control-plane and autoscaled nodes must
never be tolerated by archfit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from archfit.base.errors import InvalidInput
from archfit.base.record import Record
from archfit.images.platforms import ARCHITECTURES, WINDOWS
from archfit.options.text_form import ARCH_KEYS, Problem, architecture_of, toleration_rule

_OS_KEYS = ("kubernetes.io/os", "beta.kubernetes.io/os")


class Taint(Record):
    """A taint (core/v1 Taint), as exactly as it is compared."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return ascii_text(f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}")


class Node(Record):
    """What counts of a node. os: "linux" by default; architecture: by the label, else ""."""

    name: str
    os: str
    architecture: str
    taints: tuple[Taint, ...]

    @property
    def entry(self) -> str:
        """Its entry of clusterArchitectures, "" where it has none."""
        if self.os == "linux":
            return self.architecture if self.architecture in ARCHITECTURES else ""
        return f"windows/{self.architecture}" if self.os == "windows" and self.architecture in WINDOWS else ""


class UsedTaint(Record):
    """A taint that is used, the architectures behind it, and how many nodes carry it."""

    taint: Taint
    architectures: tuple[str, ...]
    count: int

    @property
    def text(self) -> str:
        """As --tolerate takes it; `=` without a value keeps it to exactly this taint."""
        return f"{self.taint.key}={self.taint.value}:{self.taint.effect}@{','.join(self.architectures)}"


class NodeSummary(Record):
    """What goes into the file.

    architectures: each entry with its number of nodes. unused: what was not used, as (subject, reason).
    """

    architectures: tuple[tuple[str, int], ...]
    rules: tuple[UsedTaint, ...]
    unused: tuple[tuple[str, str], ...]


def nodes(value: object) -> list[Node]:
    """The nodes of a `kubectl get nodes` list, or of a single one; other kinds are passed over.

    Raises InvalidInput.
    """
    ask = "pass the output of `kubectl get nodes -o json`"
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise InvalidInput(f"this is not a list of nodes: {ask}")
    kind = value["kind"]
    if kind == "Node":
        items: Any = [value]
    elif kind in {"List", "NodeList"}:
        items = value.get("items")
    else:
        raise InvalidInput(f"this is a {ascii_text(kind)}, not a list of nodes: {ask}")
    if not isinstance(items, list):
        raise InvalidInput(f"the list has no items: {ask}")
    objects = [item if isinstance(item, dict) else {} for item in items]
    kinds = [
        str(item.get("kind") or ("Node" if kind == "NodeList" else "object without a kind"))
        for item in objects
    ]
    chosen = [_node(item) for item, what in zip(objects, kinds, strict=True) if what == "Node"]
    if not chosen:
        others = ", ".join(f"{count} {ascii_text(what)}" for what, count in sorted(Counter(kinds).items()))
        raise InvalidInput(f"the list holds no node{f', but {others}' if others else ''}: {ask}")
    return sorted(chosen, key=lambda node: node.name)


def _node(item: dict[str, Any]) -> Node:
    metadata, spec = _mapping(item, "metadata"), _mapping(item, "spec")
    info = _mapping(_mapping(item, "status"), "nodeInfo")
    labels = _mapping(metadata, "labels")
    taints = spec.get("taints")
    return Node(
        str(metadata.get("name") or "without a name"),
        str(_first(labels, _OS_KEYS) or info.get("operatingSystem") or "linux"),
        str(_first(labels, ARCH_KEYS) or ""),
        tuple(
            Taint(*(str(taint.get(field) or "") for field in ("key", "value", "effect")))
            for taint in (taints if isinstance(taints, list) else ())
            if isinstance(taint, dict)
        ),
    )


def _mapping(parent: dict[str, Any], key: str) -> dict[str, Any]:
    found = parent.get(key)
    return found if isinstance(found, dict) else {}


def _first(labels: dict[str, Any], keys: Iterable[str]) -> object:
    return next((labels[key] for key in keys if labels.get(key)), None)


def summarised(found: Sequence[Node], keys: Sequence[str] = ()) -> NodeSummary:
    """What the nodes say. keys: those of --arch-taint. Raises InvalidInput without a labelled Linux node."""
    numbers = Counter(node.entry for node in found if node.entry)
    linux = {entry for entry in numbers if "/" not in entry}
    if not linux:
        raise InvalidInput(
            f"none of the {len(found)} nodes is a Linux node with a label kubernetes.io/arch: "
            "look at `kubectl get nodes -L kubernetes.io/os,kubernetes.io/arch`"
        )
    left_out: dict[str, list[Node]] = {}
    for node in found:
        if not node.entry:
            left_out.setdefault(_why_not_counted(node), []).append(node)
    unused = [(_named(those), reason) for reason, those in left_out.items()]
    carriers: dict[Taint, list[Node]] = {}
    for node in found:
        for taint in dict.fromkeys(node.taints):
            carriers.setdefault(taint, []).append(node)
    rules = []
    for taint in sorted(carriers, key=str):
        rule = _rule(taint, carriers[taint], linux, (*ARCH_KEYS, *keys))
        if isinstance(rule, UsedTaint):
            rules.append(rule)
        else:
            unused.append((f"taint {taint}", f"{rule} (on {_named(carriers[taint])})"))
    carried = {taint.key for taint in carriers}
    unused += [(f"--arch-taint {key}", "no node carries such a taint") for key in keys if key not in carried]
    return NodeSummary(tuple(sorted(numbers.items())), tuple(rules), tuple(unused))


def _why_not_counted(node: Node) -> str:
    if node.os not in ("linux", "windows"):
        return f"its operating system is {ascii_text(node.os)}"
    if not node.architecture:
        return "it has no label kubernetes.io/arch, so no pod that needs an architecture can go there"
    return f"its architecture {ascii_text(node.architecture)} is not one that Kubernetes runs on"


def _rule(taint: Taint, carriers: Sequence[Node], linux: set[str], keys: Sequence[str]) -> UsedTaint | str:
    """The rule, or why there is none."""
    spelled = architecture_of(taint.key, taint.value)
    if taint.key not in keys and (not spelled or _is_kubernetes(taint.key)):
        return "not a taint of architectures; if it is one, pass --arch-taint with its key"
    behind = {node.architecture for node in carriers}
    architectures = {spelled} if spelled else behind
    mismatched = [
        node for node in carriers if node.architecture not in architectures or not node.architecture
    ]
    if mismatched:
        what = mismatched[0].architecture
        return (
            f"a node that carries it is {ascii_text(what)}"
            if what
            else "a node that carries it has no architecture"
        )
    if not architectures <= linux:
        return "no Linux node has this architecture"
    rule = UsedTaint(taint, tuple(sorted(architectures)), len(carriers))
    try:
        toleration_rule(rule.text)
    except Problem as problem:
        return f"no toleration can be written for it: {problem.message}"
    return rule


def _is_kubernetes(key: str) -> bool:
    domain = f".{key.partition('/')[0]}" if "/" in key else ""
    return domain.endswith((".kubernetes.io", ".k8s.io"))


def ascii_text(text: str) -> str:
    """Text from the cluster as it may stand in a comment or on a terminal: anything odd becomes "?"."""
    return "".join(character if " " <= character <= "~" else "?" for character in text)


def _named(those: Sequence[Node]) -> str:
    """`node a`, or `3 nodes, as a`."""
    name = ascii_text(those[0].name)
    return f"node {name}" if len(those) == 1 else f"{len(those)} nodes, as {name}"
