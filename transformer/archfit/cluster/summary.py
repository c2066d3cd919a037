"""What the nodes of a cluster, and the pools that bring more of them, say about its configuration.

A taint becomes a rule of `tolerate` when all of these hold:

    key or value        the key is kubernetes.io/arch, beta.kubernetes.io/arch, or named by --arch-taint; or the value
                        spells an architecture, and the key is not Kubernetes' own
    architectures R     the one that its value spells, else those of the nodes that carry it
    nodes               every node with exactly this key, value and effect has one of R's architectures, and every pool
                        whose nodes get it brings no other
    cluster             R is among those of the Linux nodes and pools

Every other taint is listed with its reason: those of spot, GPU, control-plane and autoscaled nodes must never be
tolerated by archfit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from archfit.base.errors import InvalidInput, Problem
from archfit.base.printable import few
from archfit.cluster.nodes import Node, Taint, ascii_text
from archfit.cluster.pools.pool import Pool
from archfit.options.taints import ARCH_KEYS, architecture_of, system_taint, toleration_rule
from archfit.startup.record import Record

SHOWN_POOLS = 2


class Carrier(Record):
    """What has a taint, once for each of its architectures: a node, or a pool whose nodes get it."""

    title: str
    architecture: str
    is_pool: bool = False


class UsedTaint(Record):
    """A taint that is used, the architectures behind it, how many nodes carry it, and the titles of pools that do."""

    taint: Taint
    architectures: tuple[str, ...]
    count: int
    pools: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As --tolerate takes it; `=` without a value keeps it to exactly this taint."""
        return f"{self.taint.key}={self.taint.value}:{self.taint.effect}@{','.join(self.architectures)}"


class NodeSummary(Record):
    """What goes into the file.

    architectures: each entry with its number of nodes. unused: what was not used, as (subject, reason).
    pools: those that count. windows_taint: of all Windows nodes, "" for none.
    """

    architectures: tuple[tuple[str, int], ...]
    rules: tuple[UsedTaint, ...]
    unused: tuple[tuple[str, str], ...]
    pools: tuple[Pool, ...] = ()
    windows_taint: str = ""


def summarised(nodes: Sequence[Node], keys: Sequence[str] = (), pools: Sequence[Pool] = ()) -> NodeSummary:
    """What nodes and pools say. keys: those of --arch-taint. Raises InvalidInput without a labelled Linux node."""
    numbers = Counter(node.entry for node in nodes if node.entry)
    usable = [pool for pool in pools if not pool.problem]
    numbers.update(dict.fromkeys((entry for pool in usable for entry in pool.architectures), 0))
    linux = {entry for entry in numbers if "/" not in entry}
    if not linux:
        raise InvalidInput(
            f"none of the {len(nodes)} nodes is a Linux node with a label kubernetes.io/arch: "
            "look at `kubectl get nodes -L kubernetes.io/os,kubernetes.io/arch`"
        )
    left_out: dict[str, list[Node]] = {}
    for node in nodes:
        if not node.entry:
            left_out.setdefault(_why_not_counted(node), []).append(node)
    unused = [
        (_named([Carrier(node.name, "") for node in those]), reason) for reason, those in left_out.items()
    ]
    unused += [(pool.title, pool.problem) for pool in pools if pool.problem]
    carriers = _carriers(nodes, usable)
    windows_taint = _windows_taint(nodes, usable, (*ARCH_KEYS, *keys))
    rules = []
    for taint in sorted(carriers, key=str):
        named = taint.key in (*ARCH_KEYS, *keys)
        if taint == windows_taint or (taint.key.startswith(_OF_NODE_LIFE) and not named):
            continue
        rule = _rule(taint, carriers[taint], linux, (*ARCH_KEYS, *keys))
        if isinstance(rule, UsedTaint):
            rules.append(rule)
        else:
            unused.append((f"taint {taint}", f"{rule} (on {_named(carriers[taint])})"))
    carried = {taint.key for taint in carriers}
    none = "no node and no pool carries" if usable else "no node carries"
    unused += [(f"--arch-taint {key}", f"{none} such a taint") for key in keys if key not in carried]
    return NodeSummary(
        tuple(sorted(numbers.items())),
        tuple(rules),
        tuple(unused),
        tuple(usable),
        str(windows_taint) if windows_taint else "",
    )


def _windows_taint(nodes: Sequence[Node], pools: Sequence[Pool], keys: Sequence[str]) -> Taint | None:
    """A taint that keeps pods off every Windows node, the one that says so first. keys: of architectures."""
    shared = [set(node.taints) for node in nodes if node.os == "windows"]
    shared += [
        set(pool.taints) for pool in pools if any(name.startswith("windows/") for name in pool.architectures)
    ]
    hard = [
        taint
        for taint in (set.intersection(*shared) if shared else ())
        if taint.key not in keys and not architecture_of(taint.key, taint.value) and not _is_refused(taint)
    ]
    return min(hard, key=lambda taint: ("windows" not in str(taint).lower(), str(taint)), default=None)


def _is_refused(taint: Taint) -> bool:
    try:
        system_taint("windows", str(taint))
    except Problem:
        return True
    return False


def _carriers(nodes: Sequence[Node], pools: Sequence[Pool]) -> dict[Taint, list[Carrier]]:
    carriers: dict[Taint, list[Carrier]] = {}
    for node in nodes:
        for taint in dict.fromkeys(node.taints):
            carriers.setdefault(taint, []).append(Carrier(node.name, node.architecture))
    for pool in pools:
        for taint in pool.taints:
            carriers.setdefault(taint, []).extend(
                Carrier(pool.title, entry.removeprefix("windows/"), is_pool=True)
                for entry in pool.architectures
            )
    return carriers


def _why_not_counted(node: Node) -> str:
    if node.os not in ("linux", "windows"):
        return f"its operating system is {ascii_text(node.os)}"
    if not node.architecture:
        return "it has no label kubernetes.io/arch, so no pod that needs an architecture can go there"
    return f"its architecture {ascii_text(node.architecture)} is not one that Kubernetes runs on"


_OF_NODE_LIFE = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Kubernetes puts these taints on a node for a while, none for its architecture (k8s.io/api, well_known_taints.go)."""


def _rule(taint: Taint, carriers: Sequence[Carrier], linux: set[str], keys: Sequence[str]) -> UsedTaint | str:
    spelled = architecture_of(taint.key, taint.value)
    domain = f".{taint.key.partition('/')[0]}" if "/" in taint.key else ""
    if taint.key not in keys and (not spelled or domain.endswith((".kubernetes.io", ".k8s.io"))):
        return "not a taint of architectures; if it is one, pass --arch-taint with its key"
    behind = {carrier.architecture for carrier in carriers}
    architectures = {spelled} if spelled else behind
    mismatched = [
        carrier
        for carrier in carriers
        if carrier.architecture not in architectures or not carrier.architecture
    ]
    if mismatched:
        first = mismatched[0]
        who, verb = ("pool", "may bring") if first.is_pool else ("node", "is")
        return f"a {who} that carries it " + (
            f"{verb} {ascii_text(first.architecture)}" if first.architecture else "has no architecture"
        )
    if not architectures <= linux:
        return "no Linux node has this architecture"
    rule = UsedTaint(
        taint,
        tuple(sorted(architectures)),
        sum(not carrier.is_pool for carrier in carriers),
        tuple(dict.fromkeys(carrier.title for carrier in carriers if carrier.is_pool)),
    )
    try:
        toleration_rule(rule.text)
    except Problem as problem:
        return f"no toleration can be written for it: {problem.message}"
    return rule


def _named(those: Sequence[Carrier]) -> str:
    """`node a`, `3 nodes, as a`, `node a and NodePool b`."""
    titles = [
        list(dict.fromkeys(ascii_text(carrier.title) for carrier in those if carrier.is_pool is kind))
        for kind in (False, True)
    ]
    nodes = sum(not carrier.is_pool for carrier in those)
    parts = [f"node {titles[0][0]}" if nodes == 1 else f"{nodes} nodes, as {titles[0][0]}"] if nodes else []
    if titles[1]:
        parts.append(few(titles[1], SHOWN_POOLS))
    return " and ".join(parts)
