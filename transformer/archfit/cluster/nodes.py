"""Nodes of a cluster: their system, their architecture, their taints, and the cluster of Cluster API they are of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from archfit.base.errors import InvalidInput
from archfit.images.platforms import ARCHITECTURES, WINDOWS
from archfit.options.taints import ARCH_KEYS
from archfit.startup.record import Record

_ASK = "pass the output of `kubectl get nodes -o json`"
CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
OS_KEYS = ("kubernetes.io/os", "beta.kubernetes.io/os")


class Taint(Record):
    """A taint (core/v1 Taint), as exactly as it is compared."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return ascii_text(f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}")


class Node(Record):
    """What counts of a node. os: "linux" by default; architecture: by the label, else "".

    cluster: of Cluster API, "" where nothing says it.
    """

    name: str
    os: str
    architecture: str
    taints: tuple[Taint, ...]
    cluster: str = ""

    @property
    def entry(self) -> str:
        """Its entry of clusterArchitectures, "" where it has none."""
        if self.os == "linux":
            return self.architecture if self.architecture in ARCHITECTURES else ""
        return f"windows/{self.architecture}" if self.os == "windows" and self.architecture in WINDOWS else ""


def nodes(values: Sequence[dict[str, Any]]) -> list[Node]:
    """The nodes among objects, by name. Raises InvalidInput where there is none."""
    chosen = [_node(value) for value in values if value.get("kind") == "Node"]
    if not chosen:
        kinds = Counter(ascii_text(str(value.get("kind") or "object without a kind")) for value in values)
        others = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        raise InvalidInput(f"the list holds no node{f', but {others}' if others else ''}: {_ASK}")
    return sorted(chosen, key=lambda node: node.name)


def _node(item: dict[str, Any]) -> Node:
    metadata = mapping(item, "metadata")
    labels = mapping(metadata, "labels")
    return Node(
        str(metadata.get("name") or "without a name"),
        label(labels, OS_KEYS) or str(mapping(item, "status", "nodeInfo").get("operatingSystem") or "linux"),
        label(labels, ARCH_KEYS),
        taints_of(sequence(item, "spec", "taints")),
        str(mapping(metadata, "annotations").get(CLUSTER_NAME) or ""),
    )


def label(labels: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first of these labels that says something, else "". What is no text says nothing."""
    return next((text for key in keys if isinstance(text := labels.get(key), str) and text), "")


def mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """The mapping at a path of keys, {} where there is none."""
    for key in path:
        if not isinstance(value, dict):
            return {}
        value = value.get(key)
    return value if isinstance(value, dict) else {}


def sequence(value: Any, *path: str) -> list[Mapping[str, Any]]:
    """The mappings of the list at a path of keys."""
    for key in path:
        if not isinstance(value, dict):
            return []
        value = value.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def taints_of(items: Iterable[Mapping[str, Any]]) -> tuple[Taint, ...]:
    """Taints as Kubernetes writes them, each once, in their order."""
    fields = ("key", "value", "effect")
    return tuple(dict.fromkeys(Taint(*(str(item.get(field) or "") for field in fields)) for item in items))


def ascii_text(text: str) -> str:
    """Text from the cluster as it may stand in a comment or on a terminal: anything odd becomes "?"."""
    return "".join(character if " " <= character <= "~" else "?" for character in text)
