"""`archfit setup autoscaler`: Arm nodes first.

On stdout a diff of what would change; with -o a file of manifests, which name only the fields that change, so that a
server-side apply takes only those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any, BinaryIO, TextIO

from ruamel.yaml.scalarstring import LiteralScalarString

from archfit.base import standard_streams
from archfit.base.errors import InvalidInput, UsageError
from archfit.base.files import write_new
from archfit.base.printable import count, encoded, visible
from archfit.cli.setup.yaml_files import mapping, written
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster import nodes as fields
from archfit.cluster.pools.autoscaler import CONFIG_MAP, node_groups, priorities, weights
from archfit.cluster.pools.karpenter import is_node_pool
from archfit.cluster.pools.object_files import objects_of
from archfit.cluster.pools.pool import Pool, name_of
from archfit.cluster.pools.read import pools
from archfit.images.platforms import ALIASES, ARCHITECTURES
from archfit.startup.record import Record

_SOURCE = "kubectl get nodepools -o json"
# RFC 1123, a label.
_IS_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch


class Change(Record):
    """A manifest of the fields that change. before: "" where there is no such object yet."""

    name: str
    before: str
    after: str


def set_up_autoscaler(argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO) -> int:
    """The command, after the words `setup autoscaler`. The exit code; raises UsageError and InvalidInput."""
    flags, words = BY_NAME["setup autoscaler"].parser().parse(argv)
    architecture = ALIASES.get(flags.architecture, flags.architecture)
    if architecture not in ARCHITECTURES:
        raise UsageError(
            f"--architecture: {architecture!r} is not known: write one of {', '.join(ARCHITECTURES)}"
        )
    namespace = flags.namespace
    if not _IS_NAMESPACE(namespace):
        raise UsageError(
            f"--namespace: {namespace!r} is not a name in Kubernetes: write lower-case letters, digits and -"
        )
    values = objects_of(words or ["-"], stdin, _SOURCE)
    those = pools(values)
    changes, messages = changed(values, those, architecture, namespace)
    messages += [f"not used: {pool.title}: {pool.problem}" for pool in those if pool.problem]
    text = "---\n".join(change.after for change in changes) if flags.output else "".join(map(_diff, changes))
    if flags.output and changes:
        write_new(flags.output, text.encode())
        advice = f"look at it, then kubectl apply --server-side -f {flags.output}"
        messages.append(f"written: {flags.output}; {advice}")
    elif changes:
        standard_streams.write(stdout, [encoded(text)])
    done = f"{count(len(changes), 'object')} would change" if changes else "nothing to change"
    stderr.writelines(f"{line}\n" for line in (*messages, *([] if flags.output and changes else [done])))
    return 0


def changed(
    values: Sequence[dict[str, Any]], those: Sequence[Pool], architecture: str, namespace: str
) -> tuple[list[Change], list[str]]:
    """What makes nodes of the architecture first, and messages. Raises InvalidInput without a pool or node group."""
    groups = node_groups(those, [value for value in values if value.get("kind") == "Node"])
    if not those and not groups:
        names = {fields.ascii_text(str(value.get("kind") or "an object without a kind")) for value in values}
        kinds = ", ".join(sorted(names))
        raise InvalidInput(
            f"there is no pool in the input, but {kinds}: pass NodePools, MachineDeployments or nodes of EKS or "
            "AKS, as `kubectl get` prints them"
        )
    heavier, messages = weights(those, architecture)
    changes = [
        _weighed(value, heavier[name_of(value)])
        for value in values
        if is_node_pool(value) and name_of(value) in heavier
    ]
    there = next((value for value in values if _is_config_map(value)), None)
    before = fields.mapping(there, "data").get("priorities") if there else ""
    text, more = priorities(groups, architecture, before if isinstance(before, str) else "")
    if text != before:
        changes.append(_config_map(there, str(before or ""), text, namespace))
    return changes, [*messages, *more]


def _is_config_map(value: Mapping[str, Any]) -> bool:
    return value.get("kind") == "ConfigMap" and fields.mapping(value, "metadata").get("name") == CONFIG_MAP


def _weighed(value: Mapping[str, Any], heavier: int) -> Change:
    name, weight = name_of(value), fields.mapping(value, "spec").get("weight")
    before = _manifest(value, name, spec=mapping(weight=weight)) if weight else _manifest(value, name)
    return Change(f"NodePool/{name}", before, _manifest(value, name, spec=mapping(weight=heavier)))


def _config_map(there: Mapping[str, Any] | None, before: str, after: str, namespace: str) -> Change:
    value = there or {"apiVersion": "v1", "kind": "ConfigMap"}
    metadata = fields.mapping(there, "metadata")
    place = str(metadata.get("namespace") or namespace)

    def manifest(text: str) -> str:
        data = mapping(priorities=LiteralScalarString(text))
        return _manifest(value, CONFIG_MAP, namespace=place, data=data)

    return Change(f"ConfigMap/{place}/{CONFIG_MAP}", manifest(before) if there else "", manifest(after))


def _manifest(value: Mapping[str, Any], name: str, *, namespace: str = "", **parts: Any) -> str:
    metadata = mapping(name=name, **({"namespace": namespace} if namespace else {}))
    return written(mapping(apiVersion=value["apiVersion"], kind=value["kind"], metadata=metadata, **parts))


def _diff(change: Change) -> str:
    """As `diff -u`, with the object in the place of a file."""
    name = visible(change.name)
    lines = unified_diff(
        change.before.splitlines(keepends=True),
        change.after.splitlines(keepends=True),
        f"a/{name}" if change.before else "/dev/null",
        f"b/{name}",
    )
    return "".join(lines)
