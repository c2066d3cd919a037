"""`archfit check [FILE|-].. [--require PLATFORM,..] [--format text|json|github|sarif]`: the analysis, and no YAML.

manifests ── survey ── lookup ─┬─ decisions ─────── what archfit would change       exit 3
                               └─ --require ─────── images that do not run there    exit 3
                                                    what could not be answered      exit 1

stdout    the report            stderr    messages: problems, warnings, infos
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit import __version__, standard_streams
from archfit.commands.inputs import Manifests, contents, named, questions, surveyed
from archfit.commands.last import prepared
from archfit.errors import UsageError
from archfit.files import read_file
from archfit.images.platforms import Answer, Platform
from archfit.lookup.session import LookupSession
from archfit.options.arguments import Parser, read, wanted
from archfit.options.describe import help_text
from archfit.options.load import load
from archfit.options.problem import Problem
from archfit.options.settings import Options
from archfit.options.table import TABLE
from archfit.options.text_form import architecture
from archfit.options.text_form import platforms as parse_platforms
from archfit.pipeline import Decided, decided
from archfit.placement.requirement import judge
from archfit.record import Record
from archfit.report import check_listing, github, sarif
from archfit.report.findings import Finding, Report, from_result, of_decisions, of_verdicts
from archfit.report.text import lines
from archfit.results import Decision, Result
from archfit.source.split import split
from archfit.workloads.line_numbers import Lines
from archfit.workloads.pods import Pod

_PROGRAM = "archfit check"
_FORMATS = {
    "text": check_listing.text,
    "json": check_listing.as_json,
    "github": github.commands,
    "sarif": sarif.log,
}
ABOUT = """\
Says what archfit would still change in rendered manifests, and writes no YAML. So a pipeline notices a
renderer that silently did not run:

  helm get manifest web | archfit check
  archfit check --format github rendered/*.yaml
  helm template . | archfit check --require arm64

  FILE ..                     Rendered manifests; - is standard input, which is read if no file is
                              named.
  --require PLATFORM,..       Asks something else: does every image run there? PLATFORM is an
                              architecture, as arm64, or os/architecture. Lists all images that do
                              not, with their workloads, however the pods are placed, those too that
                              archfit leaves alone (skip, excluded, ...). Pods for another operating
                              system are listed apart and fail nothing.
  --format text|json|github|sarif
                              How the report is written on standard output: for people (default), as
                              JSON, as GitHub workflow commands, as SARIF 2.1.0.

Exit: 0 nothing found, 1 the check failed, 2 wrong usage, 3 something found."""


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    if wanted(argv):
        stdout.write(_answered(wanted(argv)).encode())
        return 0
    parser = Parser(_PROGRAM)
    parser.add_argument("--require", metavar="PLATFORM,..", action="append")
    parser.add_argument("--format", metavar="text|json|github|sarif", default="text")
    layer, config, flags, files = read(parser, argv, TABLE)
    if flags.format not in _FORMATS:
        raise UsageError(f"--format: {flags.format!r} is not a format: write one of {', '.join(_FORMATS)}")
    required = _required(flags.require or ())
    settings = load(argv, environ, read_file, flags=(layer, config), program=_PROGRAM)
    inputs = surveyed(contents(files, stdin, _PROGRAM), settings.options, layer)
    asking = LookupSession(settings, environ, stderr)
    try:
        asking.use_pull_secrets((one.data, split(one.data)) for one in inputs if not one.results)
        texts = questions(inputs, left_alone=bool(required))
        answers = asking.answers(texts) if texts else {}
        looked = [_looked_at(manifests, answers, settings.options, required) for manifests in inputs]
        report = _report([from_result(result, "") for result in asking.messages], looked, required)
        results = [*asking.messages, *(result for one in looked for result in one.results)]
        kept = prepared(
            Decided(tuple(pair for one in looked for pair in one.decisions), (), answers),
            results,
            (),
            exit_code=report.exit_code,
            sources=settings.sources,
            requests=asking.requests,
            path=settings.operator.report,
            environ=environ,
            command=_PROGRAM,
        )
    finally:
        asking.close()
    kept.commit_after(lambda: standard_streams.write(stdout, [_FORMATS[flags.format](report).encode()]))
    stderr.write("".join(f"{line}\n" for line in lines(results)))
    return report.exit_code


class _Looked(Record):
    """What became of one input.

    results: for standard error, with the name of its file. images, pods: what was looked at.
    decisions: where placement was the question.
    """

    findings: tuple[Finding, ...]
    results: tuple[Result, ...]
    images: frozenset[str]
    pods: int
    decisions: tuple[tuple[Pod, Decision], ...] = ()


def _looked_at(
    manifests: Manifests, answers: Mapping[str, Answer], options: Options, required: Sequence[Platform]
) -> _Looked:
    found, name = manifests.survey, manifests.name
    line = Lines(manifests.data, found.documents).line
    said = [*manifests.results, *found.results]
    findings = [from_result(result, name) for result in said]
    pods = [pod for document in found.documents for pod in document.pods]
    if required:
        verdicts = [(pod, judge(pod, own, answers, options, required)) for pod, own in found.pods()]
        findings += of_verdicts(verdicts, name, line)
        said += dict.fromkeys(result for _, verdict in verdicts for result in verdict.results)
        pods = [pod for pod, verdict in verdicts if not verdict.left_out]
        decisions: tuple[tuple[Pod, Decision], ...] = ()
    else:
        transformed = decided(found, answers, options)
        decisions, said = transformed.decisions, [*manifests.results, *transformed.results]
        findings += of_decisions(decisions, name, line)
    images = frozenset(use.text for pod in pods for use in pod.images if use.text)
    return _Looked(tuple(findings), tuple(named(one, name) for one in said), images, len(pods), decisions)


def _report(messages: Iterable[Finding], looked: Sequence[_Looked], required: Sequence[Platform]) -> Report:
    findings = (*messages, *(finding for one in looked for finding in one.findings))
    rules = {finding.rule for finding in findings}
    code = 1 if "problem" in rules else 3 if rules & {"placement", "required-platform"} else 0
    return Report(
        code,
        tuple(f"{platform.os}/{platform.architecture}" for platform in required),
        findings,
        sum(one.pods for one in looked),
        len(frozenset().union(*(one.images for one in looked))),
    )


def _required(texts: Sequence[str]) -> tuple[Platform, ...]:
    """The platforms of --require, () where it is not given. Raises UsageError."""
    if not texts:
        return ()
    try:
        platforms = parse_platforms(",".join(texts))
        for platform in platforms:
            architecture(platform.architecture)
    except Problem as problem:
        raise UsageError(f"--require: {problem.message}") from None
    return platforms


def _answered(word: str) -> str:
    if word == "version":
        return f"archfit {__version__}\n"
    return help_text(f"{_PROGRAM} [OPTION].. [FILE|-]..", ABOUT)
