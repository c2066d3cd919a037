"""What `archfit audit` reads: files, standard input, or the cluster at hand.

    FILE, -     lists of kubectl as JSON or YAML, JSON lines, rendered manifests      `cluster.running.list_stream`
    DIR, --helm a folder of such files, what a chart renders                          `manifest_files.input_files`
    FILE        a report of archfit audit --format json: its lists; the images are asked for again
    --live      pods, nodes, replicasets, jobs, page by page                          `cluster_api`

Without pods there is nothing to audit. A user who may not list nodes, ReplicaSets or Jobs still gets the rest, with a
warning. Secrets are never read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from io import BufferedReader, BytesIO
from typing import BinaryIO

from archfit.cluster.audit_facts import AuditFacts
from archfit.cluster.audit_facts_json import from_json
from archfit.cluster.audit_merge import merge
from archfit.cluster.audit_shard import as_listed
from archfit.cluster.running.collect import Collector
from archfit.cluster.running.list_stream import items
from archfit.cluster_api.cluster_connection import connect
from archfit.cluster_api.cluster_error import ClusterError
from archfit.cluster_api.live_objects import JOBS, NODES, PODS, REPLICA_SETS, live_objects
from archfit.commands.audit_flags import AuditFlags
from archfit.errors import InvalidInput, UsageError
from archfit.integrations.renderer_command import Rendering
from archfit.manifest_files.input_files import Inputs, found_files, read_inputs
from archfit.options.settings import Options
from archfit.printable import count, visible
from archfit.record import Record
from archfit.results import Result

GET = "kubectl get pods,nodes,replicasets,jobs -A -o json"
_WITHOUT = {
    "nodes": "which build runs and what nodes have room is not known",
    "replicasets": "the Deployments of pods are told by name",
    "jobs": "the CronJobs of pods are told by name",
}
_MOST_KINDS = 10
_IS_REPORT = re.compile(rb'\s*\{\s*"schema":\s*"archfit\.dev/audit/').match


class Collected(Record):
    """The facts, with every image still to be asked for, and messages about what was read."""

    facts: AuditFacts
    results: tuple[Result, ...] = ()


def from_rendering(read: Inputs, rendering: Rendering, options: Options) -> Collected:
    """The objects that a renderer wrote. Raises InvalidInput."""
    collector = Collector("lists", f"{rendering.name} {' '.join(rendering.words)}", options)
    for one in read.files:
        _add(collector, [], BytesIO(one.data), one.name)
    return _collected(collector)


def from_files(words: Sequence[str], stdin: BinaryIO, options: Options) -> Collected:
    """The objects of files, folders, or of standard input where none is named. Raises UsageError and InvalidInput."""
    names = list(words) or ["-"]
    if names.count("-") > 1:
        raise UsageError("- is standard input, which can be read only once: name it once")
    if "-" in names and stdin.isatty():
        raise UsageError(
            f"standard input is a terminal: add --live, name files, or pipe: {GET} | archfit audit"
        )
    collector = Collector(
        "lists", " ".join("standard input" if name == "-" else name for name in names), options
    )
    reports: list[AuditFacts] = []
    for name in names:
        try:
            if name == "-":
                _add(collector, reports, stdin, "")
                continue
            if os.path.isdir(name):
                for one in read_inputs([name], stdin, "archfit audit").files:
                    _add(collector, reports, BytesIO(one.data), one.name)
                continue
            (found,) = found_files(name, "archfit audit")
            with open(found.path, "rb") as file:
                _add(collector, reports, file, name)
        except OSError as error:
            raise UsageError(f"cannot read {name!r} ({error.strerror}): name a file") from None
    if not reports:
        return _collected(collector)
    collected = _collected(collector) if collector.kinds else Collected(AuditFacts())
    return collected.replace(facts=merge((collected.facts, *reports)))


def from_cluster(flags: AuditFlags, options: Options, environ: Mapping[str, str]) -> Collected:
    """What runs in the cluster. Raises ClusterError where its pods cannot be read."""
    collector = Collector("live", flags.context or "the cluster at hand", options)
    results = []
    connection = connect(environ, context=flags.context, kubeconfig=flags.kubeconfig)
    try:
        for kind in (PODS, NODES, REPLICA_SETS, JOBS):
            try:
                for value in live_objects(connection, (kind,), flags.namespace):
                    collector.add(value)
            except ClusterError as error:
                if kind is PODS or error.reason not in {"forbidden", "not-found"}:
                    raise
                results.append(Result("warning", f"{error}. Without them {_WITHOUT[kind.resource]}"))
    finally:
        connection.close()
    collected = _collected(collector)
    return collected.replace(results=(*results, *collected.results))


def _add(collector: Collector, reports: list[AuditFacts], file: BinaryIO, name: str) -> None:
    """The objects of a file for the collector; a report is one of `reports`."""
    head = (
        file.getvalue()
        if isinstance(file, BytesIO)
        else file.peek()
        if isinstance(file, BufferedReader)
        else b""
    )
    if _IS_REPORT(head):
        reports.append(as_listed(from_json(file.read(), name or "standard input")))
        return
    for value, where in items(file, name):
        collector.add(value, where)


def _collected(collector: Collector) -> Collected:
    facts = collector.facts()
    if not facts.workloads:
        read = ", ".join(count(number, visible(kind)) for kind, number in sorted(collector.kinds.items())[:5])
        raise InvalidInput(f"there are no pods in the input{f', but {read}' if read else ''}: pass {GET}")
    unknown = sorted(collector.unknown.items())
    if not unknown:
        return Collected(facts)
    shown = ", ".join(f"{visible(kind)} ({number})" for kind, number in unknown[:_MOST_KINDS])
    more = f" and {len(unknown) - _MOST_KINDS} more kinds" if len(unknown) > _MOST_KINDS else ""
    message = (
        f"archfit does not know where these kinds hold pods: {shown}{more}; describe them under `workloads:` "
        "(archfit setup workloads)"
    )
    return Collected(facts, (Result("info", message),))
