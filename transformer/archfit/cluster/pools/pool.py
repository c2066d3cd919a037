"""A pool: one object that tells an autoscaler which nodes it may make.

A pool with a problem counts nowhere: it is named with the problem.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from archfit.cluster.nodes import Taint, ascii_text, mapping
from archfit.images.platforms import ARCHITECTURES, WINDOWS
from archfit.startup.record import Record

LINUX = "linux"
# Written by Kubernetes, Karpenter and the clouds themselves, whatever a pool says.
_OF_OTHERS = re.compile(
    r"(?:.*\.)?(?:kubernetes\.io|k8s\.io|karpenter\.(?:sh|k8s\.\w+|azure\.com)|kubernetes\.azure\.com|cloud\.google\.com)/.*"
    r"|eks\.amazonaws\.com/(?!nodegroup).*"
)


class Pool(Record):
    """kind, name: of its object, `namespace/name` where it stands in a namespace.

    architectures: what it may bring, as entries of clusterArchitectures; () if nothing says it. basis: why these, as
    `its requirements`. problem: why it brings nothing, or nothing is known: a clause. taints: of its nodes, without
    those that something takes off before pods come. weight: of Karpenter: the heavier pool is tried first. limits:
    (what, how much), as (`CPU`, `500`). group: its name to cluster-autoscaler, "" where that makes no nodes of it.
    cluster: of Cluster API. scales: an autoscaler decides on the number of its nodes. labels: conditions that the
    labels of its nodes meet, as (key, operator, values); closed: others of the user's own its nodes do not have.
    """

    kind: str
    name: str
    architectures: tuple[str, ...] = ()
    basis: str = ""
    problem: str = ""
    taints: tuple[Taint, ...] = ()
    weight: int = 0
    limits: tuple[tuple[str, str], ...] = ()
    group: str = ""
    cluster: str = ""
    scales: bool = True
    labels: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    closed: bool = False

    @property
    def title(self) -> str:
        """As messages name it."""
        return ascii_text(f"{self.kind} {self.name}")

    @property
    def detail(self) -> str:
        """What else counts: `, limit 500 CPU, weight 10`."""
        limits = "".join(f", limit {ascii_text(amount)} {ascii_text(what)}" for what, amount in self.limits)
        return limits + (f", weight {self.weight}" if self.weight else "")

    @property
    def text(self) -> str:
        """All of it: `amd64 and arm64 (nothing narrows it), limit 500 CPU, weight 10`, or its problem."""
        return self.problem or f"{' and '.join(self.architectures)} ({self.basis}){self.detail}"

    def conditions_on(self, key: str) -> list[tuple[str, str, tuple[str, ...]]]:
        """What its nodes' label meets; [] where nothing is known of it."""
        stated = [condition for condition in self.labels if condition[0] == key]
        return stated or (
            [(key, "DoesNotExist", ())] if self.closed and not _OF_OTHERS.fullmatch(key) else []
        )


def entries(systems: Collection[str], architectures: Collection[str]) -> tuple[str, ...]:
    """The entries of clusterArchitectures for nodes of these systems and architectures, sorted."""
    names: set[str] = set()
    if LINUX in systems:
        names |= {architecture for architecture in architectures if architecture in ARCHITECTURES}
    if "windows" in systems:
        names |= {f"windows/{architecture}" for architecture in architectures if architecture in WINDOWS}
    return tuple(sorted(names))


def name_of(value: Mapping[str, Any]) -> str:
    """`name`, or `namespace/name`."""
    metadata = mapping(value, "metadata")
    name = str(metadata.get("name") or "without a name")
    return f"{metadata['namespace']}/{name}" if metadata.get("namespace") else name


def kind_of(value: Mapping[str, Any]) -> str:
    """The kind of an object, "" where it is no text."""
    kind = value.get("kind")
    return kind if isinstance(kind, str) else ""


def group_of(value: Mapping[str, Any]) -> str:
    """The API group of an object, "" for core."""
    return str(value.get("apiVersion") or "").rpartition("/")[0]
