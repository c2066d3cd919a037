"""Which pools an autoscaler tries first: the weights of NodePools, and the priorities of cluster-autoscaler.

Karpenter tries the heaviest NodePool first; spec.weight is 1 to 100, and 0 where it is not set. cluster-autoscaler
reads data.priorities of a ConfigMap: priority -> regular expressions of names of node groups; the highest match wins.

    group                                   its name to cluster-autoscaler
    machines with a largest size            KIND/NAMESPACE/NAME
    eks.amazonaws.com/nodegroup=NAME        eks-NAME-UUID, of the Auto Scaling group
    kubernetes.azure.com/agentpool=NAME     what the names of its nodes begin with: aks-NAME-12345678-vmss

Sources: sigs.k8s.io/karpenter v1.14.0, pkg/utils/nodepool (OrderByWeight); kubernetes/autoscaler, cluster-autoscaler/
expander/priority/readme.md, cloudprovider/clusterapi (ID); aws/containers-roadmap#1304 (names of EKS' groups).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from archfit.base.errors import Problem
from archfit.cluster.nodes import ascii_text, label, mapping
from archfit.cluster.pools.karpenter import KIND as NODE_POOL
from archfit.cluster.pools.pool import Pool
from archfit.options.taints import ARCH_KEYS
from archfit.yaml.config_yaml import parse_config

CONFIG_MAP = "cluster-autoscaler-priority-expander"
_HEAVIEST = 100
_STEP = 10
_EVERY = ".*"
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")
_AKS_NODE = re.compile(r"(aks-.+-[0-9]+-vmss)[0-9a-z]{6}")


def weights(pools: Sequence[Pool], architecture: str) -> tuple[dict[str, int], list[str]]:
    """The weights to change, by NodePool, and what stands in the way."""
    those = [pool for pool in pools if pool.kind == NODE_POOL and not pool.problem and pool.scales]
    wanted = [pool for pool in those if pool.architectures == (architecture,)]
    others = [pool for pool in those if pool not in wanted]
    several = [pool for pool in others if architecture in pool.architectures]
    messages = [
        f"{pool.title} may bring {' and '.join(pool.architectures)}: no weight chooses between them. Narrow it by a "
        f"requirement on kubernetes.io/arch, or state `prefer`"
        for pool in several
    ]
    if those and not wanted:
        advice = f"add one with the requirement kubernetes.io/arch In [{architecture}]"
        return {}, [*messages, f"no NodePool brings {architecture} alone, so no weight decides: {advice}"]
    if not wanted or not others:
        return {}, messages
    heaviest = max(pool.weight for pool in others)
    lightest, largest = min(pool.weight for pool in wanted), max(pool.weight for pool in wanted)
    if lightest > heaviest:
        return {}, messages
    lowest = min(heaviest + _STEP, _HEAVIEST - (largest - lightest))
    if lowest <= heaviest:
        names = ", ".join(pool.title for pool in others if pool.weight == heaviest)
        return {}, [*messages, f"weights end at {_HEAVIEST}, and {names} has {heaviest}: lower it first"]
    return {pool.name: pool.weight + lowest - lightest for pool in wanted}, messages


def node_groups(pools: Iterable[Pool], nodes: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """The architectures of each group that cluster-autoscaler may scale, by a regular expression (RE2) of its name.

    nodes: the objects of nodes.
    """
    groups = {
        f"^{_escaped(pool.group)}$": set(pool.architectures)
        for pool in pools
        if pool.group and not pool.problem
    }
    for node in nodes:
        labels = mapping(node, "metadata", "labels")
        architecture = label(labels, ARCH_KEYS)
        pattern = _pattern(labels, str(mapping(node, "metadata").get("name") or ""))
        if architecture and pattern:
            groups.setdefault(pattern, set()).add(architecture)
    return dict(sorted(groups.items()))


def _pattern(labels: Mapping[str, Any], name: str) -> str:
    """Of the group that a node is of, "" where nothing says it."""
    eks = labels.get("eks.amazonaws.com/nodegroup")
    if eks:
        return f"^eks-{_escaped(str(eks))}-[0-9a-f-]+$"
    aks = _AKS_NODE.fullmatch(name) if labels.get("kubernetes.azure.com/agentpool") else None
    return f"^{_escaped(aks[1])}$" if aks else ""


def _escaped(text: str) -> str:
    """A text as a regular expression of RE2; `re.escape` also escapes what needs none."""
    return _SPECIAL.sub(r"\\\1", text)


def priorities(groups: Mapping[str, set[str]], architecture: str, before: str) -> tuple[str, list[str]]:
    """The text of data.priorities, and messages; the text is `before` where there is nothing to change."""
    wanted = [pattern for pattern, architectures in groups.items() if architectures == {architecture}]
    if not wanted or len(wanted) == len(groups):
        return before, []
    if not before.strip():
        return f"{_STEP}:\n{_entry(_EVERY)}{2 * _STEP}:\n{''.join(map(_entry, wanted))}", []
    try:
        values = parse_config(before).values
    except Problem as problem:
        return before, [f"{CONFIG_MAP}: data.priorities {problem.message}"]
    block = values if isinstance(values, dict) and not before.lstrip().startswith("{") else {}
    levels = {int(key): patterns for key, patterns in block.items() if key.isdecimal()}
    if not levels or len(levels) != len(block):
        return before, [
            f"{CONFIG_MAP}: data.priorities is no block of numbers with lists below them: correct it first"
        ]
    highest = max(levels)
    there = levels[highest] if isinstance(levels[highest], list) else []
    if set(wanted) <= set(there):
        return before, []
    end = "" if before.endswith("\n") else "\n"
    return f"{before}{end}{highest + _STEP}:\n{''.join(map(_entry, wanted))}", []


def _entry(pattern: str) -> str:
    """An item of a list. Single quotes, as a pattern may hold what YAML takes for something else."""
    return "  - '" + ascii_text(pattern).replace("'", "''") + "'\n"
