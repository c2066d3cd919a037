"""`archfit check [FILE|-].. [--require PLATFORM,..] [--format FORMAT[=FILE]]..`: the analysis, and no YAML.

manifests ── inventory ── lookup ─┬─ decisions ─────── what archfit would change       exit 3
                               └─ --require ─────── images that do not run there    exit 3
                                                    images that are not known,
                                                    objects that no row reads       exit 3, but with --allow-unknown
                                                    what could not be read          exit 1

stdout    the report, others to files            stderr    messages: problems, warnings, infos
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base.errors import UsageError
from archfit.base.patch import dotted
from archfit.base.results import Decision, Result, has_error
from archfit.check.findings import Check, Finding, from_result, of_decisions, of_objects, of_verdicts, placed
from archfit.check.junit import LEFT_ALONE, placement_cases, problems, required_cases
from archfit.check.newer_tags import newer_of, with_newer
from archfit.check.reports import UPDATES, report_places, write_reports
from archfit.check.source_roots import SourceRoots
from archfit.cli.inputs.command_inputs import check_objects, in_file, manifests_of, questions
from archfit.cli.inputs.manifests import Manifests
from archfit.cli.inputs.output_files import check_report
from archfit.cli.invocation import read_invocation, required_platforms
from archfit.cli.usage.command_table import BY_NAME
from archfit.explain.verbose import verbose_lines
from archfit.images.platforms import Answer, Found, Platform, Unasked, Unknown, meant_arm64
from archfit.options.layers import STAMPS_PRESENT
from archfit.options.settings import Options
from archfit.pipeline import StreamInventory, decided
from archfit.placement.requirement import judge, not_known
from archfit.placement.selection import answers_for
from archfit.pod_stages import located
from archfit.reports.outcome_page import after_failure
from archfit.reports.summary import lines
from archfit.run import ReportedInput, Run
from archfit.startup.record import Record
from archfit.workloads.documents import Lines
from archfit.workloads.pods import Pod

_COMMAND = BY_NAME["check"]


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr, fallback=STAMPS_PRESENT)
    flags, settings = invocation.flags, invocation.settings
    required, places, roots = (
        required_platforms(flags.require),
        report_places(flags.format),
        SourceRoots(flags.source_root),
    )
    if flags.allow_unknown and not required:
        raise UsageError("--allow-unknown belongs to --require, as in --require arm64 --allow-unknown")
    if flags.newer_tags and not required:
        raise UsageError("--newer-tags belongs to --require, as in --require arm64 --newer-tags")
    for form in places.values():
        if form in UPDATES and not flags.newer_tags:
            raise UsageError(
                f"--format {form}: writes newer tags, and nobody asks for them: add --newer-tags"
            )
    inputs = manifests_of(invocation, (stdin, stderr, environ), settings.options)
    if invocation.rendering:
        roots.add_rendered(invocation.rendering.words)
    check_objects(inputs)
    asked = _Question(required, flags.allow_unknown, "junit" in places.values())
    for flag, file in (("--report", settings.operator.report), *(("--format", file) for file in places)):
        check_report(flag, file, [manifests.name for manifests in inputs])
    one = Run(_COMMAND.program, settings, environ, stderr, explain=verbose_lines)
    try:
        texts = questions(inputs, left_alone=bool(required))
        answers = one.answers([(manifests.data, manifests.pieces) for manifests in inputs], texts)
        checked = [_checked(manifests, answers, settings.options, asked, roots) for manifests in inputs]
        if flags.newer_tags:
            found = newer_of((each for part in checked for each in part.findings), answers, required, one)
            checked = [
                part.replace(
                    findings=with_newer(part.findings, found, manifests.name, manifests.data),
                    cases=with_newer(part.cases, found, manifests.name, manifests.data),
                )
                for manifests, part in zip(inputs, checked, strict=True)
            ]
        pods, inventories = [pod for of in inputs for pod in of.pods], [of.inventory for of in inputs]
        about = [*one.messages, *one.unmatched_filters(pods, inventories)]
        named = meant_arm64([platform.architecture for platform in required], answers.values())
        about += [Result("warning", f"--require: {named}")] if named else []
        results = [*about, *(result for part in checked for result in part.results)]
        check = _check([from_result(result, "") for result in about], checked, asked)
        decisions = tuple(pair for part in checked for pair in part.decisions)
        report = one.prepare_report(check.exit_code, results, decisions, answers)
        why = one.explanations(_with_decisions(inputs, checked), answers)
    finally:
        one.close()
    files = {manifests.name for manifests in inputs}.union(*(part.sources for part in checked))
    report.commit_after(lambda: write_reports(places, check, files, stdout))
    read_on = after_failure(results, decisions, answers) if check.exit_code == 1 else ""
    one.write_messages([*why, read_on, *lines(results)])
    return check.exit_code


def _with_decisions(inputs: Iterable[Manifests], checked: Iterable[_Checked]) -> Iterator[ReportedInput]:
    """What `Run.explanations` takes; nothing where placement was not the question."""
    for manifests, part in zip(inputs, checked, strict=True):
        if part.decisions:
            yield manifests.name, manifests.data, manifests.inventory, part.decisions


class _Question(Record):
    """required: the platforms, () where placement is the question. allow_unknown: as the flag.

    cases: a format that is a list of tests is asked for.
    """

    required: tuple[Platform, ...]
    allow_unknown: bool
    cases: bool


class _Seen(Record):
    """What the pods of an input name.

    images: texts of those that were looked at. stated: those whose platforms nobody was asked for. unknown: why an
    image is not known, in a word or two, by its text, or its place where it has none.
    """

    images: frozenset[str] = frozenset()
    stated: frozenset[str] = frozenset()
    unknown: Mapping[str, str] = {}


class _Checked(Record):
    """What became of one input.

    results: for standard error, with the name of its file. pods: how many were looked at; left_alone: how many of
    them archfit leaves as they are, by_annotation: because of archfit.dev/skip. objects: as in `Check`.
    decisions: where placement was the question. sources: files that --source-root found. cases: as in `Check`.
    """

    findings: tuple[Finding, ...]
    results: tuple[Result, ...]
    seen: _Seen
    pods: int
    left_alone: int
    by_annotation: int
    objects: int
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    sources: frozenset[str] = frozenset()
    cases: tuple[Finding, ...] = ()


def _checked(
    manifests: Manifests,
    answers: Mapping[str, Answer],
    options: Options,
    asked: _Question,
    roots: SourceRoots,
) -> _Checked:
    found, name = manifests.inventory, manifests.name
    line = Lines(manifests.data, found.documents).line
    results = [*manifests.results, *found.results]
    findings = [from_result(result, name) for result in results]
    cases = [*problems(findings)] if asked.cases else []
    pods, left_alone, by_annotation = len(manifests.pods), 0, 0
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    if asked.required:
        verdicts = [(pod, judge(pod, own, answers, options, asked.required)) for pod, own in found.pods()]
        findings += of_verdicts(verdicts, name, line, allowed=asked.allow_unknown)
        results += dict.fromkeys(result for _, verdict in verdicts for result in verdict.results)
        judged = [
            (pod, verdict)
            for pod, verdict in verdicts
            if not verdict.left_out and not has_error(verdict.results)
        ]
        pods = len(judged)
        seen = _Seen(
            frozenset(use.text for pod, _ in judged for use in pod.images if use.text),
            frozenset().union(*(verdict.stated for _, verdict in judged)),
            {finding.counted_image: finding.reason for finding in findings if finding.rule == "not-known"},
        )
        if asked.cases:
            cases += required_cases(verdicts, name, line, allowed=asked.allow_unknown)
        unread = list(of_objects(found.untouched, name, allowed=asked.allow_unknown))
        findings += unread
    else:
        transformed = decided(found, answers, options)
        decisions, results = transformed.decisions, [*manifests.results, *transformed.results]
        findings += of_decisions(decisions, name, line)
        seen = _seen(found, name, answers, options)
        left_alone = sum(decision.outcome in LEFT_ALONE for _, decision in decisions)
        by_annotation = sum(own.left_by == "annotation" for _, own in found.pods())
        if asked.cases:
            cases += placement_cases(
                (
                    (pod, decision, answers_for(pod, answers, options, own))
                    for (pod, decision), (_, own) in zip(decisions, found.pods(), strict=True)
                ),
                name,
                line,
            )
        unread = list(of_objects(found.untouched, name, allowed=True))
    cases += unread if asked.cases else []
    exact = located(manifests.data, found.documents, tuple(results))
    if roots:
        single = (document for document in found.documents if not document.span.item)
        origins = {document.span.number: roots.origin(document.value) for document in single}
        findings, cases = (
            [_at_source(finding, name, roots, origins) for finding in group] for group in (findings, cases)
        )
    return _Checked(
        tuple(findings),
        tuple(in_file(result, name) for result in exact),
        seen,
        pods,
        left_alone,
        by_annotation,
        len({(left.ref, left.location) for left in found.untouched if not left.controller}),
        decisions,
        frozenset(finding.file for finding in (*findings, *cases) if roots and finding.file),
        tuple(cases),
    )


def _at_source(finding: Finding, name: str, roots: SourceRoots, origins: Mapping[int, str]) -> Finding:
    """The finding at the file that its document was rendered from; in the input where no such file is found.

    origins: what kustomize says, by the number of the document.
    """
    file, line = roots.place(finding.source) if finding.source else (origins.get(finding.document, ""), 0)
    if file or (finding.source and not name):
        return finding.replace(file=file, line=line)
    return finding


def _seen(inventory: StreamInventory, name: str, answers: Mapping[str, Answer], options: Options) -> _Seen:
    """What the decisions rest on: the images of pods that archfit does not leave alone."""
    images, stated, unknown = set[str](), set[str](), dict[str, str]()
    for pod, own in inventory.pods():
        if own.left_alone:
            continue
        for use, answer in zip(pod.images, answers_for(pod, answers, options, own), strict=True):
            images |= {use.text} if use.text else set()
            if isinstance(answer, (Unknown, Unasked)):
                at = Finding("", "info", "", pod.ref, dotted(use.path), name, image=use.text or "")
                unknown[placed(at, name, pod.location).counted_image] = not_known(use, answer).reason
            elif isinstance(answer, Found) and answer.origin == "override" and use.text:
                stated.add(use.text)
    return _Seen(frozenset(images), frozenset(stated), unknown)


def _check(messages: Iterable[Finding], checked: Sequence[_Checked], asked: _Question) -> Check:
    messages = tuple(messages)
    findings = (*messages, *(finding for part in checked for finding in part.findings))
    errors = {finding.rule for finding in findings if finding.severity == "error"}
    code = 1 if "problem" in errors else 3 if errors & {"placement", "required-platform", "not-known"} else 0
    unknown: dict[str, str] = {}
    for part in checked:
        unknown |= part.seen.unknown
    for finding in findings:
        if finding.rule == "required-platform":
            unknown.pop(finding.counted_image, None)
    return Check(
        code,
        tuple(f"{platform.os}/{platform.architecture}" for platform in asked.required),
        findings,
        sum(part.pods for part in checked),
        len(frozenset(unknown).union(*(part.seen.images for part in checked))),
        tuple(unknown.values()),
        len(frozenset().union(*(part.seen.stated for part in checked)) - unknown.keys()),
        sum(part.left_alone for part in checked),
        sum(part.by_annotation for part in checked),
        sum(part.objects for part in checked),
        tuple(sorted(frozenset().union(*(part.seen.images for part in checked)))),
        (*(problems(messages) if asked.cases else ()), *(case for part in checked for case in part.cases)),
    )
