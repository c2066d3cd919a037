"""The pools among the objects of a cluster, whatever order they come in.

    NodePool             read with the node class that it names
    MachineDeployment    read with the machine template that it names; those of other clusters are left out
    ComputeClass         by itself

A management cluster of Cluster API holds the machines of many clusters. The nodes say to which one they belong: their
annotation cluster.x-k8s.io/cluster-name. So a MachineDeployment counts where a node names its cluster.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from archfit.base.errors import InvalidInput, UsageError
from archfit.cluster.configuration_file import read_input
from archfit.cluster.nodes import Node, ascii_text, objects
from archfit.cluster.pools import karpenter, node_groups
from archfit.cluster.pools.pool import Pool, group_of, mapping
from archfit.options.config_yaml import read
from archfit.options.text_form import Problem
from archfit.yaml.scan import whole
from archfit.yaml.stream import split

PREFER = """\
Karpenter takes `prefer` as required, the heaviest term first, as long as it can make such a node; with
PREFERENCE_POLICY=Ignore it does not look at it."""
"""Source: karpenter v1.14.0, pkg/controllers/provisioning/scheduling/preferences.go; pkg/operator/options."""


def objects_of(names: Sequence[str], stdin: BinaryIO, source: str) -> list[dict[str, Any]]:
    """The objects of files of kubectl, `-` for standard input; one that several files hold is taken once.

    source: the command to name in messages.

    Raises UsageError and InvalidInput.
    """
    if names.count("-") > 1:
        raise UsageError("- is standard input, which can be read only once: name it once")
    found: list[dict[str, Any]] = []
    for name in names:
        place = f"{name}: " if len(names) > 1 and name != "-" else ""
        try:
            for value in _decoded(read_input(name, stdin, source), source):
                found += objects(value)
        except InvalidInput as error:
            raise InvalidInput(f"{place}{error.message}", line=error.line) from None
    by_identity: dict[object, dict[str, Any]] = {}
    for number, value in enumerate(found):
        metadata = mapping(value, "metadata")
        name = str(metadata.get("name") or number)
        identity = group_of(value), value.get("kind"), str(metadata.get("namespace")), name
        by_identity.setdefault(identity, value)
    return list(by_identity.values())


def _decoded(content: bytes, source: str) -> list[object]:
    """The documents: JSON, else YAML. Raises InvalidInput."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the list of nodes is not UTF-8: pass the output of kubectl unchanged") from None
    if not text.strip():
        raise InvalidInput(f"the list of nodes is empty: check that `{source}` prints the nodes")
    try:
        return [json.loads(text)]
    except RecursionError:
        raise InvalidInput(f"the list of nodes is nested too deeply: pass the output of `{source}`") from None
    except ValueError as error:
        if text.lstrip()[0] in "{[":
            raise InvalidInput(f"the list of nodes is not complete JSON: {error}") from None
    data = text.encode()
    found = []
    for piece in split(data):
        try:
            found.append(read(whole(piece).text(data)).values)
        except Problem as problem:
            message = f"the list of nodes is neither JSON nor YAML as kubectl writes it: {problem.message}"
            raise InvalidInput(message, line=piece.line - 1 + problem.line) from None
    return found


def is_pool(value: Mapping[str, Any]) -> bool:
    """Whether an object is one that `pools` reads."""
    return (
        karpenter.is_node_pool(value) or node_groups.is_machines(value) or node_groups.is_compute_class(value)
    )


def is_beside(value: Mapping[str, Any]) -> bool:
    """Whether an object says more about pools: a node class, a machine template."""
    group, kind = group_of(value), value.get("kind")
    return (group, kind) in karpenter.CLASSES or (
        group == node_groups.INFRASTRUCTURE and str(kind).endswith("Template")
    )


def pools(values: Iterable[Mapping[str, Any]]) -> list[Pool]:
    """Every pool of these objects, by kind and name; other objects are passed over."""
    objects = list(values)
    beside = [value for value in objects if is_beside(value)]
    found: list[Pool] = []
    for value in objects:
        if karpenter.is_node_pool(value):
            found.append(karpenter.node_pool(value, beside))
        elif node_groups.is_machines(value):
            found.append(node_groups.machines(value, beside))
        elif node_groups.is_compute_class(value):
            found += node_groups.compute_class(value)
    return sorted(found, key=lambda one: (one.kind, one.name, one.architectures))


def of_this_cluster(found: Sequence[Pool], nodes: Iterable[Node]) -> list[Pool]:
    """The pools, with a problem for those that belong to another cluster than the nodes."""
    return [_judged(pool, {node.cluster for node in nodes if node.cluster}) for pool in found]


def _judged(pool: Pool, clusters: Collection[str]) -> Pool:
    if not pool.cluster or pool.cluster in clusters:
        return pool
    name = ascii_text(pool.cluster)
    those = ascii_text(", ".join(sorted(clusters)))
    whose = f"the nodes are of {those}" if those else "no node says that it belongs to it"
    return pool.replace(architectures=(), problem=f"it is of the cluster {name}, and {whose}")
