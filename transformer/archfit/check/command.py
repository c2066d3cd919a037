"""`archfit check [FILE|-].. [--require PLATFORM,..] [--format FORMAT[=FILE]]..`: the analysis, and no YAML.

Exit 3 for what archfit would change; with --require for images that do not run there and, without --allow-unknown, for
images that are not known and objects that no row reads. Exit 1 for what could not be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import BinaryIO, TextIO

from archfit.base.errors import UsageError
from archfit.base.patch import dotted
from archfit.base.results import Decision, Message, has_error
from archfit.check.findings import Check, Finding, from_message, of_decisions, of_objects, of_verdicts, placed
from archfit.check.junit import LEFT_ALONE, placement_cases, problems, required_cases
from archfit.check.newer_tags import newer_of, with_newer
from archfit.check.reports import UPDATES, report_places, write_reports
from archfit.check.source_roots import SourceRoots
from archfit.cli.inputs.command_inputs import in_file, manifests_of, questions
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
from archfit.pod_stages import located
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
    inputs = manifests_of(invocation, stdin, settings.options)
    if required:
        _check_not_all_rendered(inputs)
    question = _Question(required, flags.allow_unknown, "junit" in places.values())
    for flag, file in (("--report", settings.operator.report), *(("--format", file) for file in places)):
        check_report(flag, file, [manifests.name for manifests in inputs])
    with closing(Run(_COMMAND.program, settings, environ, stderr, explain=verbose_lines)) as run:
        texts = questions(inputs, left_alone=bool(required))
        if texts:
            run.look_closely(required)
        answers = run.answers([(manifests.data, manifests.pieces) for manifests in inputs], texts)
        if flags.programs:
            programs = _programs(inputs, answers, settings.options, required, run)
            question = question.replace(programs=programs)
        checked = [_checked(manifests, answers, settings.options, question, roots) for manifests in inputs]
        if flags.newer_tags:
            newer = newer_of((each for part in checked for each in part.findings), answers, required, run)
            checked = [
                part.replace(
                    findings=with_newer(part.findings, newer, manifests.name, manifests.data),
                    cases=with_newer(part.cases, newer, manifests.name, manifests.data),
                )
                for manifests, part in zip(inputs, checked, strict=True)
            ]
        pods, inventories = [pod for of in inputs for pod in of.pods], [of.inventory for of in inputs]
        about = [*run.messages, *run.unmatched_filters(pods, inventories)]
        named = meant_arm64([platform.architecture for platform in required], answers.values())
        about += [Message("warning", f"--require: {named}")] if named else []
        messages = [*about, *(message for part in checked for message in part.messages)]
        outcome = _check([from_message(message, "") for message in about], checked, question)
        decisions = tuple(pair for part in checked for pair in part.decisions)
        report = run.prepare_report(outcome.exit_code, messages, decisions, answers)
        explained = [
            (manifests.name, manifests.data, manifests.inventory, part.decisions)
            for manifests, part in zip(inputs, checked, strict=True)
            if part.decisions
        ]
        why = run.explanations(explained, answers)
    files = {manifests.name for manifests in inputs}.union(*(part.sources for part in checked))
    report.commit_after(lambda: write_reports(places, outcome, files, stdout))
    read_on = after_failure(messages, decisions, answers) if outcome.exit_code == 1 else ""
    run.write_messages([*why, read_on, *lines(messages)])
    return outcome.exit_code


def _check_not_all_rendered(inputs: Sequence[Manifests]) -> None:
    """Raises UsageError where all that may hold pods is rendered by others: the answer would be about nothing."""
    left = [each for of in inputs for each in of.inventory.untouched if not each.controller]
    if left and all(each.rendered for each in left) and not any(of.pods for of in inputs):
        kinds = "; ".join(dict.fromkeys(f"{each.ref.kind}: {each.reason}" for each in left))
        raise UsageError(f"--require: there is no image here to look at: pass what is rendered. {kinds}")


def _programs(
    inputs: Sequence[Manifests],
    answers: Mapping[str, Answer],
    options: Options,
    required: Sequence[Platform],
    run: Run,
) -> ProgramsOf:
    uses = [
        (use.text or "", answer, start)
        for manifests in inputs
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
    """What became of one input; see `Check`.

    messages: for standard error, with the name of its file. images: the texts of those that were looked at. unasked: as
    of `PlatformCheck`. unknown: why an image is not known, by its text, or its place where it has none. decisions:
    where placement was the question. sources: files that --source-root found.
    """

    findings: Sequence[Finding]
    messages: Sequence[Message]
    cases: Sequence[Finding]
    images: frozenset[str]
    unasked: frozenset[tuple[str, str]]
    unknown: Mapping[str, str]
    pods: int
    left_alone: int = 0
    by_annotation: int = 0
    objects: int = 0
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    sources: frozenset[str] = frozenset()


def _checked(
    manifests: Manifests,
    answers: Mapping[str, Answer],
    options: Options,
    question: _Question,
    roots: SourceRoots,
) -> _Checked:
    inventory, name = manifests.inventory, manifests.name
    checked = (_required if question.required else _placement)(manifests, answers, options, question)
    groups = [checked.findings, checked.cases]
    if roots:
        single = (document for document in inventory.documents if not document.span.item)
        origins = {document.span.number: roots.origin(document.value) for document in single}
        groups = [tuple(_at_source(each, name, roots, origins) for each in group) for group in groups]
    exact = located(manifests.data, inventory.documents, tuple(checked.messages))
    return checked.replace(
        findings=groups[0],
        cases=groups[1],
        messages=[in_file(message, name) for message in exact],
        objects=len({(left.ref, left.location) for left in inventory.untouched if not left.controller}),
        sources=frozenset(each.file for group in groups for each in group if roots and each.file),
    )


def _required(
    manifests: Manifests, answers: Mapping[str, Answer], options: Options, question: _Question
) -> _Checked:
    inventory, name, allowed = manifests.inventory, manifests.name, question.allow_unknown
    line = Lines(manifests.data, inventory.documents).line
    verdicts = [
        (pod, judge(pod, own, answers, options, question.required, question.programs))
        for pod, own in inventory.pods()
    ]
    judged = [pair for pair in verdicts if not pair[1].left_out and not has_error(pair[1].messages)]
    about = [*manifests.messages, *inventory.messages]
    read = [from_message(message, name) for message in about]
    uses = list(of_verdicts(verdicts, name, line, allowed=allowed))
    unread = list(of_objects(inventory.untouched, name, allowed=allowed))
    cases: Iterable[Finding] = ()
    if question.cases:
        cases = (*problems(read), *required_cases(verdicts, name, line, allowed=allowed), *unread)
    return _Checked(
        [*read, *uses, *unread],
        [*about, *dict.fromkeys(message for _, verdict in verdicts for message in verdict.messages)],
        tuple(cases),
        frozenset(use.text for pod, _ in judged for use in pod.images if use.text),
        frozenset().union(*(verdict.unasked for _, verdict in judged)),
        {use.counted_image: use.reason for use in uses if use.rule == "not-known"},
        len(judged),
    )


def _placement(
    manifests: Manifests, answers: Mapping[str, Answer], options: Options, question: _Question
) -> _Checked:
    """What archfit would change, and the images that this rests on: those of pods that it does not leave alone."""
    inventory, name = manifests.inventory, manifests.name
    line = Lines(manifests.data, inventory.documents).line
    edits = decide(inventory, answers, options)
    images, unasked, unknown = set[str](), set[tuple[str, str]](), dict[str, str]()
    for pod, own in inventory.pods():
        if own.left_alone:
            continue
        for use, answer in zip(pod.images, answers_for(pod, answers, options, own), strict=True):
            images |= {use.text} if use.text else set()
            if isinstance(answer, (Unknown, Unasked)):
                at = Finding("", "info", "", pod.ref, dotted(use.path), name, image=use.text or "")
                unknown[placed(at, name, pod.location).counted_image] = not_known(use, answer).reason
            elif isinstance(answer, Found) and answer.origin == "override" and use.text:
                unasked.add((use.text, "stated"))
    read = [from_message(message, name) for message in (*manifests.messages, *inventory.messages)]
    cases: Iterable[Finding] = ()
    if question.cases:
        unread = of_objects(inventory.untouched, name, allowed=True)
        pairs = zip(edits.decisions, inventory.pods(), strict=True)
        rows = [(*pair, answers_for(pair[0], answers, options, own)) for pair, (_, own) in pairs]
        cases = (*problems(read), *placement_cases(rows, name, line), *unread)
    return _Checked(
        [*read, *of_decisions(edits.decisions, name, line)],
        [*manifests.messages, *edits.messages],
        tuple(cases),
        frozenset(images),
        frozenset(unasked),
        unknown,
        len(manifests.pods),
        sum(decision.outcome in LEFT_ALONE for _, decision in edits.decisions),
        sum(own.left_by == "annotation" for _, own in inventory.pods()),
        decisions=edits.decisions,
    )


def _at_source(finding: Finding, name: str, roots: SourceRoots, origins: Mapping[int, str]) -> Finding:
    """The finding at the file that its document was rendered from; in the input where no such file is found.

    origins: what kustomize says, by the number of the document.
    """
    file, line = roots.place(finding.source) if finding.source else (origins.get(finding.document, ""), 0)
    if file or (finding.source and not name):
        return finding.replace(file=file, line=line)
    return finding


def _check(messages: Iterable[Finding], checked: Sequence[_Checked], question: _Question) -> Check:
    messages = tuple(messages)
    findings = (*messages, *(finding for part in checked for finding in part.findings))
    errors = {finding.rule for finding in findings if finding.severity == "error"}
    code = 1 if "problem" in errors else 3 if errors & {"placement", "required-platform", "not-known"} else 0
    unknown: dict[str, str] = {}
    images, unasked = set[str](), set[tuple[str, str]]()
    for part in checked:
        unknown |= part.unknown
        images |= part.images
        unasked |= part.unasked
    for finding in findings:
        if finding.rule == "required-platform":
            unknown.pop(finding.counted_image, None)
            unasked.discard((finding.counted_image, "listed"))
    counted = Counter(how for image, how in unasked if image not in unknown)
    return Check(
        code,
        tuple(f"{platform.os}/{platform.architecture}" for platform in question.required),
        findings,
        sum(part.pods for part in checked),
        len(images | unknown.keys()),
        tuple(unknown.values()),
        counted["stated"],
        counted["listed"],
        sum(part.left_alone for part in checked),
        sum(part.by_annotation for part in checked),
        sum(part.objects for part in checked),
        tuple(sorted(images)),
        (*(problems(messages) if question.cases else ()), *(case for part in checked for case in part.cases)),
    )
