"""`archfit check [FILE|-].. [--require PLATFORM,..] [--format FORMAT[=FILE]]..`: the analysis, and no YAML.

Exit 3 for what archfit would change; with --require for images that do not run there and, without --allow-unknown, for
images that are not known and objects that no row reads. Exit 1 for what could not be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import BinaryIO, TextIO

from archfit.base.errors import UsageError
from archfit.base.patch import dotted
from archfit.base.results import Decision, Message, has_error
from archfit.check.findings import Check, Finding, from_message, of_decisions, of_objects, of_verdicts, placed
from archfit.check.junit import LEFT_ALONE, placement_cases, problems, required_cases
from archfit.check.newer_tags import newer_of, with_newer
from archfit.check.reports import UPDATES, report_places, write_reports
from archfit.check.source_roots import SourceRoots
from archfit.cli.inputs.command_inputs import manifests_of, questions
from archfit.cli.inputs.manifests import Manifests
from archfit.cli.inputs.output_files import check_report
from archfit.cli.invocation import read_invocation, required_platforms
from archfit.cli.usage.command_table import BY_NAME
from archfit.explain.verbose import verbose_lines
from archfit.images.platforms import Answer, Found, Platform, Unasked, Unknown, meant_arm64
from archfit.options.layers import STAMPS_PRESENT
from archfit.options.settings import Options
from archfit.pipeline import decide
from archfit.placement.requirement import container_start, judge, not_known
from archfit.placement.selection import answers_for
from archfit.programs.program import ProgramsOf
from archfit.reports.outcome_page import after_failure
from archfit.reports.summary import lines
from archfit.run import Run
from archfit.startup.record import Record
from archfit.workloads.documents import Lines
from archfit.workloads.pods import Pod

_COMMAND = BY_NAME["check"]


def check(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr, fallback=STAMPS_PRESENT)
    flags, settings = invocation.flags, invocation.settings
    required, places = required_platforms(flags.require), report_places(flags.format)
    roots = SourceRoots(flags.source_root)
    if flags.allow_unknown and not required:
        raise UsageError("--allow-unknown belongs to --require, as in --require arm64 --allow-unknown")
    for flag in ("newer-tags", "programs"):
        if getattr(flags, flag.replace("-", "_")) and not required:
            raise UsageError(f"--{flag} belongs to --require, as in --require arm64 --{flag}")
    for form in places.values():
        if form in UPDATES and not flags.newer_tags:
            raise UsageError(
                f"--format {form}: writes newer tags, and nobody asks for them: add --newer-tags"
            )
    manifests = manifests_of(invocation, stdin, settings.options)
    if required:
        _check_not_all_rendered(manifests)
    names = [source.name for source in manifests.sources]
    for flag, file in (("--report", settings.operator.report), *(("--format", file) for file in places)):
        check_report(flag, file, names)
    question = _Question(required, flags.allow_unknown, "junit" in places.values())
    with closing(Run(_COMMAND.program, settings, environ, stderr, explain=verbose_lines)) as run:
        texts = questions(manifests, left_alone=bool(required))
        if texts:
            run.look_closely(required)
        answers = run.answers([(manifests.data, manifests.pieces)], texts)
        if flags.programs:
            programs = _programs(manifests, answers, settings.options, required, run)
            question = question.replace(programs=programs)
        checked = (_required if required else _placement)(manifests, answers, settings.options, question)
        outcome, decisions = checked.check, checked.decisions
        if flags.newer_tags:
            newer = newer_of(outcome.findings, answers, required, run)
            files = {source.name: source.data.split(b"\n") for source in manifests.sources if source.name}
            outcome = outcome.of_each(lambda findings: with_newer(findings, newer, files))
        if roots:
            outcome = outcome.of_each(partial(_at_sources, roots=roots, manifests=manifests))
            names += [each.file for each in (*outcome.findings, *outcome.cases)]
        about = [*run.messages, *run.unmatched_filters(manifests.pods, manifests.inventory)]
        named = meant_arm64([platform.architecture for platform in required], answers.values())
        about += [Message("warning", f"--require: {named}")] if named else []
        messages = [*about, *checked.messages]
        outcome = _with_messages(outcome, tuple(map(from_message, about)), question)
        report = run.prepare_report(outcome.exit_code, messages, decisions, answers)
        why = run.explanations(manifests.data, manifests.inventory, decisions, answers) if decisions else []
    report.commit_after(lambda: write_reports(places, outcome, {*names}, stdout))
    read_on = after_failure(messages, decisions, answers) if outcome.exit_code == 1 else ""
    run.write_messages([*why, read_on, *lines(messages)])
    return outcome.exit_code


def _check_not_all_rendered(manifests: Manifests) -> None:
    """Raises UsageError where all that may hold pods is rendered by others: the answer would be about nothing."""
    left = [each for each in manifests.inventory.untouched if not each.controller]
    if left and all(each.rendered for each in left) and not manifests.pods:
        kinds = "; ".join(dict.fromkeys(f"{each.ref.kind}: {each.reason}" for each in left))
        raise UsageError(f"--require: there is no image here to look at: pass what is rendered. {kinds}")


def _programs(
    manifests: Manifests,
    answers: Mapping[str, Answer],
    options: Options,
    required: Sequence[Platform],
    run: Run,
) -> ProgramsOf:
    uses = [
        (use.text or "", answer, start)
        for pod, own in manifests.inventory.pods()
        for use, answer in zip(pod.images, answers_for(pod, answers, options, own), strict=True)
        if (start := container_start(pod, use))
    ]
    return run.programs(uses, [platform.architecture for platform in required if platform.os == "linux"])


class _Question(Record):
    """required: the platforms, () where placement is the question. allow_unknown: as the flag.

    cases: a format that is a list of tests is asked for. programs: as of `judge`.
    """

    required: tuple[Platform, ...]
    allow_unknown: bool
    cases: bool
    programs: ProgramsOf | None = None


class _Checked(Record):
    """check: without what the run itself says. messages: for standard error. decisions: where placement was asked."""

    check: Check
    messages: Sequence[Message]
    decisions: tuple[tuple[Pod, Decision], ...] = ()


def _required(
    manifests: Manifests, answers: Mapping[str, Answer], options: Options, question: _Question
) -> _Checked:
    inventory, allowed = manifests.inventory, question.allow_unknown
    lines_of = Lines(manifests.data, inventory.documents)
    verdicts = [
        (pod, judge(pod, own, answers, options, question.required, question.programs))
        for pod, own in inventory.pods()
    ]
    judged = [pair for pair in verdicts if not pair[1].left_out and not has_error(pair[1].messages)]
    read = _of_reading(manifests)
    uses = list(of_verdicts(verdicts, lines_of.line, allowed=allowed))
    unread = list(of_objects(inventory.untouched, allowed=allowed))
    cases: Iterable[Finding] = ()
    if question.cases:
        cases = (*problems(read), *required_cases(verdicts, lines_of.line, allowed=allowed), *unread)
    own = dict.fromkeys(message for _, verdict in verdicts for message in verdict.messages)
    outcome = _check(
        manifests,
        question,
        (*read, *uses, *unread),
        {use.text for pod, _ in judged for use in pod.images if use.text},
        set().union(*(verdict.unasked for _, verdict in judged)),
        {use.counted_image: use.reason for use in uses if use.rule == "not-known"},
        len(judged),
        cases,
    )
    messages = map(lines_of.located, (*manifests.messages, *inventory.messages, *own))
    return _Checked(outcome, manifests.in_order(messages))


def _placement(
    manifests: Manifests, answers: Mapping[str, Answer], options: Options, question: _Question
) -> _Checked:
    """What archfit would change, and the images that this rests on: those of pods that it does not leave alone."""
    inventory = manifests.inventory
    lines_of = Lines(manifests.data, inventory.documents)
    edits = decide(inventory, answers, options)
    images, unasked, unknown = set[str](), set[tuple[str, str]](), dict[str, str]()
    for pod, own in inventory.pods():
        if own.left_alone:
            continue
        for use, answer in zip(pod.images, answers_for(pod, answers, options, own), strict=True):
            images |= {use.text} if use.text else set()
            if isinstance(answer, (Unknown, Unasked)):
                at = Finding("", "info", "", pod.ref, dotted(use.path), image=use.text or "")
                unknown[placed(at, pod.location).counted_image] = not_known(use, answer).reason
            elif isinstance(answer, Found) and answer.origin == "override" and use.text:
                unasked.add((use.text, "stated"))
    read = _of_reading(manifests)
    cases: Iterable[Finding] = ()
    if question.cases:
        unread = of_objects(inventory.untouched, allowed=True)
        pairs = zip(edits.decisions, inventory.pods(), strict=True)
        rows = [(*pair, answers_for(pair[0], answers, options, own)) for pair, (_, own) in pairs]
        cases = (*problems(read), *placement_cases(rows, lines_of.line), *unread)
    findings = (*read, *of_decisions(edits.decisions, lines_of.line))
    outcome = _check(manifests, question, findings, images, unasked, unknown, len(manifests.pods), cases)
    outcome = outcome.replace(
        left_alone=sum(decision.outcome in LEFT_ALONE for _, decision in edits.decisions),
        by_annotation=sum(own.left_by == "annotation" for _, own in inventory.pods()),
    )
    messages = map(lines_of.located, (*manifests.messages, *edits.messages))
    return _Checked(outcome, manifests.in_order(messages), edits.decisions)


def _of_reading(manifests: Manifests) -> list[Finding]:
    """What is said of the inputs before anything is known of their images."""
    unread = [
        from_message(message).replace(file=source.name)
        for source in manifests.sources
        for message in source.messages
    ]
    return [*unread, *map(from_message, (*manifests.inventory.messages, *manifests.notes))]


def _in_order(manifests: Manifests, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(manifests.in_order(findings, lambda finding: finding.file))


def _at_sources(
    findings: Iterable[Finding], *, roots: SourceRoots, manifests: Manifests
) -> Iterator[Finding]:
    """The findings, each at the file that its document was rendered from; in the input where none is found."""
    origins: dict[tuple[str, int], str] = {}
    for document in manifests.inventory.documents:
        at = document.pods[0].location
        if not document.span.item:
            origins[at.file, at.document] = roots.origin(document.value)
    for finding in findings:
        file, line = origins.get((finding.file, finding.document), ""), 0
        if finding.source:
            file, line = roots.place(finding.source)
        is_of_stream = finding.source and finding.file == finding.source
        yield finding.replace(file=file, line=line) if file or is_of_stream else finding


def _check(
    manifests: Manifests,
    question: _Question,
    findings: Sequence[Finding],
    images: set[str],
    unasked: set[tuple[str, str]],
    unknown: dict[str, str],
    pods: int,
    cases: Iterable[Finding],
) -> Check:
    """The check, whose exit code is still to be said.

    images: the texts of those that were looked at. unasked: as of `PlatformCheck`. unknown: why an image is not known,
    by its text, or its place where it has none.
    """
    for finding in findings:
        if finding.rule == "required-platform":
            unknown.pop(finding.counted_image, None)
            unasked.discard((finding.counted_image, "listed"))
    counted = Counter(how for image, how in unasked if image not in unknown)
    untouched = manifests.inventory.untouched
    return Check(
        0,
        tuple(f"{platform.os}/{platform.architecture}" for platform in question.required),
        _in_order(manifests, findings),
        pods,
        len(images | unknown.keys()),
        tuple(unknown.values()),
        counted["stated"],
        counted["listed"],
        objects=len({(left.ref, left.location) for left in untouched if not left.controller}),
        texts=tuple(sorted(images)),
        cases=_in_order(manifests, cases),
    )


def _with_messages(check: Check, messages: tuple[Finding, ...], question: _Question) -> Check:
    findings = (*messages, *check.findings)
    errors = {finding.rule for finding in findings if finding.severity == "error"}
    code = 1 if "problem" in errors else 3 if errors & {"placement", "required-platform", "not-known"} else 0
    cases = (*(problems(messages) if question.cases else ()), *check.cases)
    return check.replace(exit_code=code, findings=findings, cases=cases)
