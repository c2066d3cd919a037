"""`archfit audit [FILE|-].. | --live | --merge FILE..`: what runs, on which architectures it could, what keeps it off.

Exit 3: --require, --min-ready or --fail-on-regression found something; what is not known fails the first two, unless
--allow-unknown. Exit 1: images were asked for, and not one was answered: the report is written all the same, and says
so. Else what no flag asks for never fails an audit: a registry that gives no answer is a line in the report.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from time import monotonic
from typing import BinaryIO, TextIO, TypeAlias

from archfit.audit.amount import percent
from archfit.audit.build_lookup import answered, with_programs
from archfit.audit.clusters import check_comparison
from archfit.audit.compare import ArchitectureChange, AuditComparison, compare
from archfit.audit.findings import AuditFindings, findings, in_question
from archfit.audit.flags import AuditFlags, audit_flags
from archfit.audit.groups import check_labels
from archfit.audit.inputs import Collected, as_stated, from_cluster, from_files, merged
from archfit.audit.prices import Prices, parse_prices, with_currency
from archfit.audit.readiness import title
from archfit.audit.report import csv as audit_csv
from archfit.audit.report import json as audit_json
from archfit.audit.report import markdown as audit_markdown
from archfit.audit.report import openmetrics as audit_openmetrics
from archfit.audit.report import rules as audit_rules
from archfit.audit.report import text as audit_text
from archfit.audit.report.open_questions import unknown_reasons
from archfit.audit.report.words import upgrade_counts
from archfit.audit.upgrade_lookup import with_newer_tags
from archfit.audit.upgrades import tag_updates
from archfit.base import packages, standard_streams
from archfit.base.errors import ArchfitError, UsageError
from archfit.base.files import read_file, replace, unwritable
from archfit.base.printable import count, few, visible
from archfit.base.results import Message
from archfit.cli.inputs.command_inputs import stated_date
from archfit.cli.inputs.output_files import check_report
from archfit.cli.invocation import Invocation, read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.facts.facts import AuditFacts
from archfit.facts.merge import missing_shards
from archfit.facts.reports import facts_of_report
from archfit.images.platforms import Platform
from archfit.lookup.lookup import lookup_of
from archfit.options.settings import Given, Layer
from archfit.reports.summary import lines
from archfit.reports.tag_updates import kustomize, renovate

Render: TypeAlias = Callable[[AuditFindings, AuditComparison | None], bytes]
_COMMAND = BY_NAME["audit"]
_DEFAULTS = Layer("defaults of archfit audit (timeout)", {"timeout": Given(600.0, "archfit audit")})
"""A cluster has more images than a chart, and nobody waits at a terminal for a pod to start."""


def audit(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr, fallback=_DEFAULTS)
    flags = audit_flags(invocation.flags, invocation.words, environ)
    check_report("--output", flags.output, invocation.words)
    prices = _prices(invocation.flags)
    if flags.currency is not None:
        prices = with_currency(prices, flags.currency)
    before = facts_of_report(flags.compare, "--compare") if flags.compare else None
    render = _renderer(flags)
    if flags.merge:
        collected = merged((file, facts_of_report(file, "--merge")) for file in flags.merge)
        facts, messages, requests = collected.facts, [*collected.messages], 0
        check_labels(facts, flags.by, merged=True)
        if missing := [f"{shard.index} of {shard.number}" for shard in missing_shards(facts)]:
            text = f"the reports of these shards are missing: {few(missing, 10)}; their images are not known. Name them"
            messages.append(Message("warning", f"{text} with --merge, too"))
    else:
        facts, messages, requests = _audited(invocation, flags, stdin, stderr, environ)
    if before:
        check_comparison(before, facts, flags.compare)
    report = findings(facts, flags.required, prices, flags.assume_cpu, flags.by, flags.own)
    since = None if before is None else compare(before, report)
    _write(render(report, since), flags.output, stdout)
    code, verdict = _judged(report, since, flags)
    if flags.format == "openmetrics":
        messages += (Message("warning", text) for text in audit_openmetrics.left_out(report))
    answers = {image.answer for image in facts.images}
    is_asked = not (flags.merge or flags.shard or invocation.settings.operator.offline)
    if is_asked and "Unknown" in answers and not answers & {"Found", "Absent"}:
        code = 1
        verdict.append(f"error: no image was answered, so nothing is known: {next(unknown_reasons(report))}")
    messages = [*(Message("warning", text) for text in flags.warnings), *messages]
    stderr.writelines(f"{line}\n" for line in (*lines(messages), *verdict))
    stderr.write(f"archfit: {_summary(facts, requests)}\n")
    return code


def _audited(
    invocation: Invocation, flags: AuditFlags, stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> tuple[AuditFacts, list[Message], int]:
    """The facts, messages about them, and the number of requests to registries."""
    settings = invocation.settings
    collected = _collected(invocation, flags, stdin, environ)
    check_labels(collected.facts, flags.by, merged=False)
    # What runs was chosen by the tenants of a cluster: they must not choose which private servers are asked.
    started = monotonic()
    with closing(lookup_of(settings, environ, stderr, named_hosts_only=True)) as lookup:
        lookup.require([Platform("linux", name) for name in in_question(collected.facts, flags.required)])
        facts = answered(collected.facts, lookup, flags.shard)
        if flags.programs:
            facts = with_programs(facts, lookup, in_question(facts, flags.required))
        if flags.newer_tags:
            facts = with_newer_tags(
                facts,
                lookup,
                flags.required,
                assume_cpu=flags.assume_cpu,
                most=flags.newer_tags,
                seconds=max(0.0, settings.operator.timeout_seconds - (monotonic() - started)),
            )
        listed = [Message("info", _by_index(len(lookup.listed)))] if lookup.listed else []
        return facts, [*collected.messages, *lookup.messages, *listed], sum(lookup.requests.values())


def _by_index(images: int) -> str:
    return f"{count(images, 'image')} by the index alone: nobody was asked whether the builds are there that it lists"


def _collected(
    invocation: Invocation, flags: AuditFlags, stdin: BinaryIO, environ: Mapping[str, str]
) -> Collected:
    options = invocation.settings.options
    date = stated_date(environ)
    if flags.live:
        seconds = invocation.settings.operator.timeout_seconds
        collected = from_cluster(flags, options, environ, seconds=seconds)
    else:
        collected = from_files(invocation.words, stdin, options, flags)
    return as_stated(collected, flags.cluster, date)


def _prices(flags: Namespace) -> Prices:
    if not flags.prices:
        return parse_prices(flags.price)
    try:
        table = read_file(flags.prices).decode()
    except UnicodeDecodeError:
        raise UsageError(
            f"--prices: {flags.prices!r} is not UTF-8: write lines instance-type,price"
        ) from None
    except OSError as error:
        raise UsageError(f"--prices: cannot read {flags.prices!r} ({error.strerror}): name a file") from None
    return parse_prices(flags.price, table, flags.prices)


def _kustomize(report: AuditFindings, _since: AuditComparison | None) -> bytes:
    updates, kept = tag_updates(report.architectures[0], report.workloads, report.images)
    return kustomize(updates, kept, report.architectures[0], upgrade_counts(report.upgrades))


def _renovate(report: AuditFindings, _since: AuditComparison | None) -> bytes:
    updates, _ = tag_updates(report.architectures[0], report.workloads, report.images)
    return renovate(updates, report.architectures[0], upgrade_counts(report.upgrades))


_FORMS: Mapping[str, Render] = {
    "json": audit_json.render,
    "csv": audit_csv.render,
    "markdown": audit_markdown.render,
    "openmetrics": audit_openmetrics.render,
    "kustomize": _kustomize,
    "renovate": _renovate,
}


_IMAGE_FORMS: Mapping[str, Render] = {
    "text": audit_text.image_lines,
    "csv": audit_csv.image_rows,
    "json": audit_json.image_objects,
}


def _renderer(flags: AuditFlags) -> Render:
    if flags.images:
        return _IMAGE_FORMS[flags.format]
    if flags.format == "text":
        return partial(audit_text.render, everything=flags.all)
    if flags.format == "rules":
        return partial(audit_rules.render, number=flags.wave)
    if flags.format != "html":
        return _FORMS[flags.format]
    try:
        from archfit.audit.report import page  # noqa: PLC0415 - the extra may be missing, and says so
    except ImportError as error:
        raise ArchfitError(packages.missing("--format html", "audit", error.name)) from None
    return page.render


def _write(report: bytes, path: str, stdout: BinaryIO) -> None:
    if not path:
        standard_streams.write_report(stdout, [report])
        return
    try:
        replace(path, report)
    except OSError as error:
        raise unwritable("--output", path, error) from None


def _judged(report: AuditFindings, since: AuditComparison | None, flags: AuditFlags) -> tuple[int, list[str]]:
    """The exit code, and an error for each thing that the flags ask for and that does not hold."""
    failed: list[str] = []
    for index, architecture in enumerate(report.architectures if report.required else ()):
        required = [workload for workload in report.workloads if workload.is_required(architecture)]
        for state, words in (("blocked", "cannot run there"), ("unknown", "not known to run there")):
            owners = dict.fromkeys(row.owner for row in required if row.states[index] == state)
            names = [title(owner) for owner in owners]
            if names and not (state == "unknown" and flags.allow_unknown):
                workloads = f"{count(len(names), 'workload')} {words} ({visible(few(names, 3))})"
                failed.append(f"--require {architecture}: {workloads}")
    first = report.readiness[0]
    ready, whole = first.share
    unknown = first.counted(first.unknown)
    passed = ready + unknown if flags.allow_unknown else ready
    if flags.min_ready and (not whole or (flags.allow_unknown and not first.is_known)):
        nothing = "no workload that could move is known" if unknown else "no workload could move"
        share = f"{nothing}, so there is no share that is ready for {first.architecture}"
        failed.append(f"--min-ready: {share}, not {flags.min_ready:g} %")
    elif flags.min_ready and 100 * passed < flags.min_ready * whole:
        beside = f" ({percent(unknown, whole)} is not known)" if unknown else ""
        share = f"{percent(ready, whole)} is ready for {first.architecture}{beside}"
        failed.append(f"--min-ready: {share}, not {flags.min_ready:g} %")
    if since and flags.fail_on_regression:
        failed += (
            f"--fail-on-regression: {_regression(change, since)}"
            for change in since.changes
            if change.regressed or not change.compared
        )
    return 3 if failed else 0, [f"error: {line}" for line in failed]


def _regression(change: ArchitectureChange, since: AuditComparison) -> str:
    if not since.stayed:
        return f"no workload is in both audits, so nothing was compared for {change.architecture}"
    if not change.compared:
        return f"of no workload is it known in both audits whether it runs on {change.architecture}"
    verb = "does" if len(change.regressed) == 1 else "do"
    return f"{count(len(change.regressed), 'workload')} that ran on {change.architecture} {verb} not run there now"


def _summary(facts: AuditFacts, requests: int) -> str:
    pods = sum(workload.pods for workload in facts.workloads)
    owners = {(row.snapshot, row.namespace, row.kind, row.name) for row in facts.workloads}
    read = f"{count(len(owners), 'workload')}, {count(pods, 'pod')}, {count(len(facts.images), 'image')}"
    return f"{read}, {count(requests, 'registry request')}"
