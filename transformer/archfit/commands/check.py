"""`archfit check [FILE|-].. [--require PLATFORM,..] [--format FORMAT[=FILE]]..`: the analysis, and no YAML.

manifests ── survey ── lookup ─┬─ decisions ─────── what archfit would change       exit 3
                               └─ --require ─────── images that do not run there    exit 3
                                                    what could not be answered      exit 1

stdout    the report, others to files            stderr    messages: problems, warnings, infos
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.commands.check_reports import report_places, write_reports
from archfit.commands.inputs import holds_nothing, in_file, manifests_of, on_blank, questions
from archfit.commands.invocation import read_invocation
from archfit.commands.required_platforms import required_platforms
from archfit.errors import UsageError
from archfit.images.platforms import Answer, Platform
from archfit.manifest_files.output_files import check_report
from archfit.manifest_files.source_roots import SourceRoots
from archfit.manifest_files.surveyed_files import Manifests
from archfit.options.settings import Options
from archfit.pipeline import decided
from archfit.placement.requirement import judge
from archfit.pod_stages import located
from archfit.record import Record
from archfit.report.findings import Check, Finding, from_result, of_decisions, of_verdicts
from archfit.report.outcome_page import after_failure
from archfit.report.run_text import lines
from archfit.results import Decision, Result
from archfit.run import Decided, Run
from archfit.usage.command_table import BY_NAME
from archfit.workloads.line_numbers import Lines
from archfit.workloads.pods import Pod

_COMMAND = BY_NAME["check"]


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    flags, settings = invocation.flags, invocation.settings
    required, places, roots = (
        required_platforms(flags.require),
        report_places(flags.format),
        SourceRoots(flags.source_root),
    )
    inputs = manifests_of(invocation, (stdin, stderr, environ), settings.options, on_blank(invocation.layer))
    if invocation.rendering:
        roots.add_rendered(invocation.rendering.words)
    if holds_nothing(inputs):
        raise UsageError(
            "the input holds no Kubernetes object, so nothing was checked: pass rendered manifests"
        )
    for flag, file in (("--report", settings.operator.report), *(("--format", file) for file in places)):
        check_report(flag, file, [manifests.name for manifests in inputs])
    one = Run(_COMMAND.program, settings, environ, stderr)
    try:
        texts = questions(inputs, left_alone=bool(required))
        answers = one.answers([(manifests.data, manifests.pieces) for manifests in inputs], texts)
        checked = [_checked(manifests, answers, settings.options, required, roots) for manifests in inputs]
        results = [*one.messages, *(result for part in checked for result in part.results)]
        check = _check([from_result(result, "") for result in one.messages], checked, required)
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


def _with_decisions(inputs: Iterable[Manifests], checked: Iterable[_Checked]) -> Iterator[Decided]:
    """What `Run.explanations` takes; nothing where placement was not the question."""
    for manifests, part in zip(inputs, checked, strict=True):
        if part.decisions:
            yield manifests.name, manifests.data, manifests.survey, part.decisions


class _Checked(Record):
    """What became of one input.

    results: for standard error, with the name of its file. images, pods: what was looked at.
    decisions: where placement was the question. sources: files that --source-root found.
    """

    findings: tuple[Finding, ...]
    results: tuple[Result, ...]
    images: frozenset[str]
    pods: int
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    sources: frozenset[str] = frozenset()


def _checked(
    manifests: Manifests,
    answers: Mapping[str, Answer],
    options: Options,
    required: Sequence[Platform],
    roots: SourceRoots,
) -> _Checked:
    found, name = manifests.survey, manifests.name
    line = Lines(manifests.data, found.documents).line
    results = [*manifests.results, *found.results]
    findings = [from_result(result, name) for result in results]
    pods = manifests.pods
    if required:
        verdicts = [(pod, judge(pod, own, answers, options, required)) for pod, own in found.pods()]
        findings += of_verdicts(verdicts, name, line)
        results += dict.fromkeys(result for _, verdict in verdicts for result in verdict.results)
        pods = [pod for pod, verdict in verdicts if not verdict.left_out]
        decisions: tuple[tuple[Pod, Decision], ...] = ()
    else:
        transformed = decided(found, answers, options)
        decisions, results = transformed.decisions, [*manifests.results, *transformed.results]
        findings += of_decisions(decisions, name, line)
    images = frozenset(use.text for pod in pods for use in pod.images if use.text)
    exact = located(manifests.data, found.documents, tuple(results))
    if roots:
        single = (document for document in found.documents if not document.span.item)
        origins = {document.span.number: roots.origin(document.value) for document in single}
        findings = [_at_source(finding, name, roots, origins) for finding in findings]
    return _Checked(
        tuple(findings),
        tuple(in_file(result, name) for result in exact),
        images,
        len(pods),
        decisions,
        frozenset(finding.file for finding in findings if roots and finding.file),
    )


def _at_source(finding: Finding, name: str, roots: SourceRoots, origins: Mapping[int, str]) -> Finding:
    """The finding at the file that its document was rendered from; in the input where no such file is found.

    origins: what kustomize says, by the number of the document.
    """
    file, line = roots.place(finding.source) if finding.source else (origins.get(finding.document, ""), 0)
    if file or (finding.source and not name):
        return finding.replace(file=file, line=line)
    return finding


def _check(messages: Iterable[Finding], checked: Sequence[_Checked], required: Sequence[Platform]) -> Check:
    findings = (*messages, *(finding for part in checked for finding in part.findings))
    rules = {finding.rule for finding in findings}
    code = 1 if "problem" in rules else 3 if rules & {"placement", "required-platform"} else 0
    return Check(
        code,
        tuple(f"{platform.os}/{platform.architecture}" for platform in required),
        findings,
        sum(part.pods for part in checked),
        len(frozenset().union(*(part.images for part in checked))),
    )
