"""`archfit audit [FILE|-].. | --live | --merge FILE..`: what runs, on which architectures it could, what keeps it off.

    lists, manifests ─┐
    --live ───────────┼─ facts ── images and builds looked up ──┬─ findings ── one report
    --merge ──────────┴─ facts of earlier reports ──────────────┘       └─ --compare: what changed

stdout    the report, or the file that -o names        stderr    warnings, progress on a terminal, a summary

Exit 3: --require, --min-ready or --fail-on-regression found something; what is not known fails the first two, unless
--allow-unknown. Exit 1: images were asked for, and not one was answered: the report is written all the same, and says
so. Else what no flag asks for never fails an audit: a registry that gives no answer is a line in the report.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import BinaryIO, TextIO, TypeAlias

from archfit.audit.amount import percent
from archfit.audit.build_lookup import answered
from archfit.audit.clusters import check_comparison
from archfit.audit.compare import ArchitectureChange, AuditComparison, compare
from archfit.audit.facts import AuditFacts
from archfit.audit.findings import AuditFindings, findings
from archfit.audit.flags import AuditFlags, audit_flags
from archfit.audit.inputs import Collected, from_cluster, from_files, from_rendering, merged, stated
from archfit.audit.merge import missing_shards
from archfit.audit.prices import Prices, parse_prices, with_currency
from archfit.audit.readiness import check_labels
from archfit.audit.report import csv as audit_csv
from archfit.audit.report import json as audit_json
from archfit.audit.report import markdown as audit_markdown
from archfit.audit.report import openmetrics as audit_openmetrics
from archfit.audit.report import rules as audit_rules
from archfit.audit.report import text as audit_text
from archfit.audit.report.words import title, unknown_reasons, upgrade_counts
from archfit.audit.reports import facts_of_report
from archfit.audit.upgrades.upgrade_lookup import with_newer_tags
from archfit.audit.upgrades.upgrades import tag_updates
from archfit.base import packages, standard_streams
from archfit.base.errors import ArchfitError, UsageError
from archfit.base.files import read_file, replace, unwritable
from archfit.base.printable import count, visible
from archfit.base.results import Result
from archfit.cli.inputs.output_files import check_report
from archfit.cli.inputs.renderer_command import rendered_inputs
from archfit.cli.invocation import Invocation, read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.lookup.lookup import lookup_of
from archfit.options.layers import Given, Layer
from archfit.reports.summary import lines
from archfit.reports.tag_updates import kustomize, renovate

Render: TypeAlias = Callable[[AuditFindings, AuditComparison | None], bytes]
_COMMAND = BY_NAME["audit"]
_DEFAULTS = Layer("defaults of archfit audit (timeout)", {"timeout": Given(600.0, "archfit audit")})
"""A cluster has more images than a chart, and nobody waits at a terminal for a pod to start."""


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr, fallback=_DEFAULTS)
    flags = audit_flags(invocation.flags, _named(invocation), environ)
    check_report("--output", flags.output, invocation.words)
    prices = _prices(invocation.flags)
    if flags.currency is not None:
        prices = with_currency(prices, flags.currency)
    before = facts_of_report(flags.compare, "--compare") if flags.compare else None
    render = _renderer(flags)
    if flags.merge:
        joined = merged((file, facts_of_report(file, "--merge")) for file in flags.merge)
        facts, requests = joined.facts, 0
        check_labels(facts, flags.by, merged=True)
        results = [*joined.results, *_missing(facts)]
    else:
        facts, results, requests = _audited(invocation, flags, stdin, stderr, environ)
    if before:
        check_comparison(before, facts, flags.compare)
    found = findings(facts, flags.required, prices, flags.assume_cpu, flags.by, flags.own)
    since = None if before is None else compare(before, found)
    _write(render(found, since), flags.output, stdout)
    code, verdict = _judged(found, since, flags)
    if flags.format == "openmetrics":
        results = [*results, *(Result("warning", text) for text in audit_openmetrics.left_out(found))]
    asked = not (flags.merge or flags.shard or invocation.settings.operator.offline)
    if asked and _is_silent(facts):
        code = 1
        verdict.append(f"error: no image was answered, so nothing is known: {next(unknown_reasons(found))}")
    results = [*(Result("warning", text) for text in flags.warnings), *results]
    stderr.writelines(f"{line}\n" for line in (*lines(results), *verdict))
    stderr.write(f"archfit: {_summary(found, requests)}\n")
    return code


def _named(invocation: Invocation) -> list[str]:
    """The files, or the flag of a renderer, which stands for one."""
    return [*invocation.words, *([invocation.rendering.flag] if invocation.rendering else [])]


def _audited(
    invocation: Invocation, flags: AuditFlags, stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> tuple[AuditFacts, list[Result], int]:
    """The facts, messages about them, and the number of requests to registries."""
    settings = invocation.settings
    collected = _collected(invocation, flags, stdin, stderr, environ)
    check_labels(collected.facts, flags.by, merged=False)
    # What runs was chosen by the tenants of a cluster: they must not choose which private servers are asked.
    strangers = not invocation.rendering
    lookup, started = lookup_of(settings, environ, stderr, named_hosts_only=strangers), monotonic()
    try:
        facts = answered(collected.facts, settings, environ, stderr, flags.shard, lookup=lookup)
        if flags.newer_tags:
            facts = with_newer_tags(
                facts,
                lookup,
                flags.required,
                assume_cpu=flags.assume_cpu,
                most=flags.newer_tags,
                seconds=max(0.0, settings.operator.timeout_seconds - (monotonic() - started)),
            )
        return facts, [*collected.results, *lookup.results], sum(lookup.requests.values())
    finally:
        lookup.close()


def _collected(
    invocation: Invocation, flags: AuditFlags, stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> Collected:
    options = invocation.settings.options
    said = stated(flags, environ)
    if flags.live:
        seconds = invocation.settings.operator.timeout_seconds
        return from_cluster(flags, options, environ, said, seconds=seconds)
    if invocation.rendering:
        read = rendered_inputs(invocation.rendering, invocation.words, stdin, stderr, environ)
        return from_rendering(read, invocation.rendering, options, said)
    return from_files(invocation.words, stdin, options, said)


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


def _missing(facts: AuditFacts) -> list[Result]:
    missing = missing_shards(facts)
    if not missing:
        return []
    names = ", ".join(f"{shard.index} of {shard.number}" for shard in missing[:10])
    more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
    return [
        Result(
            "warning",
            f"the reports of these shards are missing: {names}{more}; their images are not known. Name them with "
            "--merge, too",
        )
    ]


def _kustomize(found: AuditFindings, _since: AuditComparison | None) -> bytes:
    updates, kept = tag_updates(found.architectures[0], 0, found.workloads, found.images)
    return kustomize(updates, kept, found.architectures[0], upgrade_counts(found.upgrades))


def _renovate(found: AuditFindings, _since: AuditComparison | None) -> bytes:
    updates, _ = tag_updates(found.architectures[0], 0, found.workloads, found.images)
    return renovate(updates, found.architectures[0], upgrade_counts(found.upgrades))


_FORMS: Mapping[str, Render] = {
    "json": audit_json.render,
    "csv": audit_csv.render,
    "markdown": audit_markdown.render,
    "openmetrics": audit_openmetrics.render,
    "kustomize": _kustomize,
    "renovate": _renovate,
}


def _renderer(flags: AuditFlags) -> Render:
    if flags.format == "text":
        return partial(audit_text.render, everything=flags.everything)
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


def _judged(found: AuditFindings, since: AuditComparison | None, flags: AuditFlags) -> tuple[int, list[str]]:
    """The exit code, and an error for each thing that the flags ask for and that does not hold."""
    failed: list[str] = []
    for index, architecture in enumerate(found.architectures if found.required else ()):
        required = [workload for workload in found.workloads if workload.is_required(architecture)]
        for state, words in (("blocked", "cannot run there"), ("unknown", "not known to run there")):
            names = [title(one) for one in required if one.states[index] == state]
            if names and not (state == "unknown" and flags.allow_unknown):
                failed.append(
                    f"--require {architecture}: {count(len(names), 'workload')} {words} ({_few(names)})"
                )
    first = found.readiness[0]
    ready, known = first.share
    unknown = first.counted(first.unknown)
    whole = known if flags.allow_unknown else known + unknown
    if flags.min_ready and not whole:
        nothing = "no workload that could move is known" if unknown else "no workload could move"
        failed.append(
            f"--min-ready: {nothing}, so there is no share that is ready for {first.architecture}, "
            f"not {flags.min_ready:g} %"
        )
    elif flags.min_ready and 100 * ready < flags.min_ready * whole:
        beside = f" ({percent(unknown, whole)} is not known)" if unknown and not flags.allow_unknown else ""
        failed.append(
            f"--min-ready: {percent(ready, whole)} is ready for {first.architecture}{beside}, "
            f"not {flags.min_ready:g} %"
        )
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


def _few(names: Sequence[str]) -> str:
    """The first three, as the text goes into a message."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return visible(", ".join(names[:3])) + more


def _is_silent(facts: AuditFacts) -> bool:
    """Whether images were asked for, and not one was answered."""
    answers = {image.answer for image in facts.images}
    return "Unknown" in answers and not answers & {"Found", "Absent"}


def _summary(found: AuditFindings, requests: int) -> str:
    pods = sum(workload.pods for workload in found.facts.workloads)
    parts = (
        count(len(found.facts.workloads), "workload"),
        count(pods, "pod"),
        count(len(found.facts.images), "image"),
        count(requests, "registry request"),
    )
    return ", ".join(parts)
