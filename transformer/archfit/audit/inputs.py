"""What `archfit audit` reads: files, standard input, or the cluster at hand.

A file holds lists of kubectl as JSON or YAML, JSON lines, rendered manifests, or a report of archfit audit --format
json, whose images are asked for again. --live reads `_READ`, and what makes nodes as far as the user may list it. A
user who may list pods alone still gets what they show, with a warning. Secrets are never read.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BufferedReader, BytesIO
from typing import BinaryIO
from urllib.parse import urlencode

from archfit.audit.clusters import check_moments, check_whole
from archfit.audit.flags import AuditFlags
from archfit.audit.groups import keys_of
from archfit.audit.running.collect import KUBE_SYSTEM, Collector
from archfit.base import standard_streams
from archfit.base.errors import UsageError
from archfit.base.printable import count, few, visible
from archfit.base.results import Message
from archfit.cli.inputs.command_inputs import moment_text
from archfit.cli.inputs.input_files import found_files, read_inputs
from archfit.cluster import live_objects as live
from archfit.cluster.cluster_connection import ClusterConnection, connect, get_if_there
from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.list_stream import items
from archfit.cluster.nodes import mapping
from archfit.cluster.pools.live import NOT_READ, pool_objects
from archfit.facts.facts import AuditFacts
from archfit.facts.merge import as_listed, merge
from archfit.facts.reports import from_json
from archfit.options.settings import Options
from archfit.startup.record import Record

_READ = {
    live.PODS: "nothing is known",
    live.NODES: "which build runs and what nodes have room is not known",
    live.DEPLOYMENTS: "Deployments without pods are not known",
    live.STATEFUL_SETS: "StatefulSets without pods are not known",
    live.DAEMON_SETS: "DaemonSets without pods are not known",
    live.REPLICA_SETS: "the Deployments of pods are told by name",
    live.JOBS: "the CronJobs of pods are told by name",
    live.CRON_JOBS: "CronJobs without pods are not known",
    live.SERVICES: "the workloads that serve webhooks are not known",
    live.MUTATING_WEBHOOKS: "workloads that serve mutating webhooks are not known",
    live.VALIDATING_WEBHOOKS: "workloads that serve validating webhooks are not known",
}
"""What of a live cluster is read, in this order, and what follows where a user may not."""
GET = "kubectl get po,no,deploy,sts,ds,rs,jobs,cj -A -o json"
_MOST_KINDS = 10
_MOST_LOGS = 50
_IS_REPORT = re.compile(rb'\s*\{\s*"schema":\s*"archfit\.dev/audit/').match


class Collected(Record):
    """The facts, with every image still to be asked for, and messages about what was read."""

    facts: AuditFacts
    messages: tuple[Message, ...] = ()


def from_files(words: Sequence[str], stdin: BinaryIO, options: Options, flags: AuditFlags) -> Collected:
    """The objects of files, folders, or of standard input where none is named. Raises UsageError and InvalidInput."""
    names = list(words) or ["-"]
    standard_streams.check_named_once(names)
    if "-" in names and stdin.isatty():
        raise UsageError(
            f"standard input is a terminal: add --live, name files, or pipe: {GET} | archfit audit"
        )
    title = " ".join("standard input" if name == "-" else name for name in names)
    collector = Collector("lists", title, options, keys_of(flags.by), programs=flags.programs)
    reports: dict[str, AuditFacts] = {}
    warnings: list[Message] = []
    for name in names:
        try:
            if name == "-":
                _add(collector, reports, stdin, "")
                continue
            if os.path.isdir(name):
                read = read_inputs([name], stdin, "archfit audit")
                for member in read.files:
                    _add(collector, reports, BytesIO(member.data), member.name)
                if read.warning:
                    warnings.append(Message("warning", read.warning))
                continue
            (input_file,) = found_files(name, "archfit audit")
            standard_streams.check_apart(os.stat(input_file.path), repr(name))
            with open(input_file.path, "rb") as file:
                _add(collector, reports, file, name)
        except OSError as error:
            raise UsageError(f"cannot read {name!r} ({error.strerror}): name a file") from None
    collected = _collected(collector) if collector.kinds or not reports else Collected(AuditFacts())
    whole = merged([(collector.name, collected.facts), *reports.items()])
    if flags.cluster and len(whole.facts.snapshots) > 1:
        raise UsageError(f"--cluster: the input is of {len(whole.facts.snapshots)} clusters: leave it out")
    return whole.replace(messages=(*collected.messages, *warnings, *whole.messages))


def merged(reports: Iterable[tuple[str, AuditFacts]]) -> Collected:
    """The facts of all reports, each with the name of its file. Raises InvalidInput for two moments of a cluster."""
    files: dict[str, list[str]] = {}

    def parts() -> Iterator[AuditFacts]:
        for file, facts in reports:
            check_whole(facts, file)
            for snapshot in facts.snapshots:
                files.setdefault(snapshot.id, []).append(file)
            yield facts

    facts = merge(parts())
    check_moments(facts, files)
    nameless = [
        snapshot
        for snapshot in facts.snapshots
        if snapshot.source != "manifests" and not (snapshot.uid or snapshot.name_by == "flag")
    ]
    if len(nameless) < 2:
        return Collected(facts)
    names = ", ".join(files[snapshot.id][0] for snapshot in nameless[:_MOST_KINDS])
    warning = (
        f"nothing says of which clusters these are: {names}. Two moments of one cluster would count twice: name the "
        "cluster with --cluster when you make a report"
    )
    return Collected(facts, (Message("warning", warning),))


def from_cluster(
    flags: AuditFlags, options: Options, environ: Mapping[str, str], *, seconds: float
) -> Collected:
    """What runs in the cluster. seconds: for all of its lists. Raises ClusterError where its pods cannot be read."""
    connection = connect(environ, context=flags.context, kubeconfig=flags.kubeconfig, seconds=seconds)
    try:
        collected = live.anew_once(lambda: _live(connection, flags, options))
        context = connection.context()
    except ClusterError as error:
        if error.reason != "timeout":
            raise
        raise ClusterError(f"{error}, or allow more with --timeout") from None
    finally:
        connection.close()
    (snapshot,) = collected.facts.snapshots
    snapshot = snapshot.replace(
        name=context or snapshot.uid,
        name_by="context" if context else "uid" if snapshot.uid else "",
        date=moment_text(datetime.now(UTC)),
        date_by="read",
    )
    collected = collected.replace(facts=collected.facts.replace(snapshots=(snapshot,)))
    if flags.cluster or snapshot.name:
        return collected
    nameless = "the cluster has no name, so no later report can be compared with this one: add --cluster NAME"
    return collected.replace(messages=(*collected.messages, Message("warning", nameless)))


def as_stated(collected: Collected, cluster: str, date: str) -> Collected:
    """With the name of --cluster and the date of SOURCE_DATE_EPOCH, "" where none is stated."""
    changes: dict[str, str] = {"name": cluster, "name_by": "flag"} if cluster else {}
    changes |= {"date": date, "date_by": "stated"} if date else {}
    snapshots = tuple(snapshot.replace(**changes) for snapshot in collected.facts.snapshots)
    return collected.replace(facts=collected.facts.replace(snapshots=snapshots))


class _Logs:
    """Last lines of containers that end at once. unread: why some of them were not read."""

    def __init__(self, connection: ClusterConnection) -> None:
        self._connection = connection
        self._number = 0
        self.unread: list[str] = []

    def last_lines(self, namespace: str, pod: str, container: str) -> str | None:
        """Of the container's last run; None where they are not read. Only words of evidence are kept of them."""
        self._number += 1
        if self.unread or self._number > _MOST_LOGS:
            self.unread = self.unread or [f"--logs: no more than {_MOST_LOGS} logs are read"]
            return None
        query = urlencode({"container": container, "previous": "true", "tailLines": 20, "limitBytes": 16384})
        try:
            return self._connection.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log?{query}")
        except ClusterError as error:
            if error.reason == "timeout":
                raise
            if error.reason == "forbidden":
                self.unread = [f"--logs: {error}. It needs the right to get pods/log"]
            return None


def _live(connection: ClusterConnection, flags: AuditFlags, options: Options) -> Collected:
    logs = _Logs(connection)
    log = [logs.last_lines] if flags.logs else []
    collector = Collector("live", "", options, keys_of(flags.by), *log, programs=flags.programs)
    messages = []
    for kind, consequence in _READ.items():
        try:
            for value in live.live_objects(connection, (kind,), flags.namespace):
                collector.add(value)
        except ClusterError as error:
            if kind is live.PODS or error.reason not in {"forbidden", "not-found"}:
                raise
            messages.append(Message("warning", f"{error}. Without them {consequence}"))
    makers = pool_objects(connection)
    for value in makers.values:
        collector.add(value)
    messages += [Message("warning", f"{why}. Without them {NOT_READ}") for _what, why in makers.unread]
    try:
        namespace = get_if_there(connection, f"/api/v1/namespaces/{KUBE_SYSTEM}")
    except ClusterError as error:
        if error.reason != "forbidden":
            raise
    else:
        collector.add({"apiVersion": "v1", "kind": "Namespace", **mapping(namespace)})
    collected = _collected(collector, flags)
    (snapshot,) = collected.facts.snapshots
    snapshot = snapshot.replace(unread_pools=tuple(what for what, _why in makers.unread))
    messages += [Message("warning", text) for text in logs.unread]
    facts = collected.facts.replace(snapshots=(snapshot,))
    return Collected(facts, (*messages, *collected.messages))


def _add(collector: Collector, reports: dict[str, AuditFacts], file: BinaryIO, name: str) -> None:
    """The objects of a file for the collector; a report is one of `reports`."""
    head = b""
    if isinstance(file, BytesIO):
        head = file.getvalue()
    elif isinstance(file, BufferedReader):
        head = file.peek()
    if _IS_REPORT(head):
        name = name or "standard input"
        reports[name] = as_listed(from_json(file.read(), name))
        return
    for value, where in items(file, name):
        collector.add(value, where)


def _collected(collector: Collector, live: AuditFlags | None = None) -> Collected:
    facts = collector.facts()
    if live and not facts.workloads:
        there = f"the namespace {live.namespace!r}" if live.namespace else "the cluster"
        which = [f"--{name}={of}" for name in ("context", "kubeconfig") if (of := getattr(live, name))]
        names = shlex.join(["kubectl", "get", "namespaces", *which])
        raise UsageError(f"--live: there are no pods in {there}: {names} shows which there are")
    if not facts.workloads:
        read = ", ".join(count(number, visible(kind)) for kind, number in sorted(collector.kinds.items())[:5])
        rendered = "".join(f". {kind}: {reason}" for kind, reason in sorted(collector.rendered.items()))
        raise UsageError(
            f"there are no pods in the input{f', but {read}' if read else ''}: pass {GET}{rendered}"
        )
    unknown = sorted(collector.unknown.items())
    if not unknown:
        return Collected(facts)
    shown = few([f"{visible(kind)} ({number})" for kind, number in unknown], _MOST_KINDS)
    more = " kinds" if len(unknown) > _MOST_KINDS else ""
    message = (
        f"archfit does not know where these kinds hold pods: {shown}{more}; describe them under `workloads:` "
        "(archfit setup workloads)"
    )
    return Collected(facts, (Message("info", message),))
