"""`archfit patch [FILE|-].. [--format FORM]`: the decisions as patches, for places that can run nothing.

manifests ── survey ── lookup ── decisions ── patches ── stdout      exit 0
                                    └── errors on stderr, stdout empty      exit 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit import __version__, standard_streams
from archfit.commands.inputs import contents, in_file, on_blank, questions, surveyed
from archfit.errors import UsageError
from archfit.files import read_file
from archfit.options.arguments import Parser, help_or_version, read
from archfit.options.describe import help_text
from archfit.options.load import load
from archfit.options.table import TABLE
from archfit.pipeline import decided, located
from archfit.report.kustomize_patches import FORMS, as_yaml
from archfit.report.patches import Entry, as_json, entries, problems
from archfit.report.run_text import failure, lines
from archfit.results import Decision, Result
from archfit.run import Run
from archfit.workloads.pods import Pod

_PROGRAM = "archfit patch"
_DEFAULT, _JSON = "kustomize", "json"
_FORMATS = (_DEFAULT, *(name for name in FORMS if name != _DEFAULT), _JSON)
ABOUT = """\
Writes what archfit would change as JSON 6902 patches, for tools that can run nothing: Flux, Fleet, a
kustomization without plugins.

  kustomize build overlay | archfit patch > archfit/kustomization.yaml
  helm template web ./chart -n shop | archfit patch --format flux-helmrelease

  FILE ..                     Rendered manifests; - is standard input, which is read if no file is
                              named.
  --format FORM               kustomize (default): a component, with its list of patches.
                              flux-helmrelease: spec.postRenderers of a HelmRelease.
                              flux-kustomization: spec.patches of a Kustomization of Flux.
                              fleet: a kustomization for the folder that fleet.yaml names.
                              json: a list of objects, each with its JSON Patch (RFC 6902).

Each patch tests what it found before it adds, and fails where that has changed: write the patches anew then.

Exit: 0 done, 1 failed (standard output is empty), 2 wrong usage."""


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    if help_or_version(argv):
        stdout.write(_answered(help_or_version(argv)).encode())
        return 0
    parser = Parser(_PROGRAM)
    parser.add_argument("--format", metavar="FORM", default=_DEFAULT)
    layer, config, flags, files = read(parser, argv, TABLE)
    if flags.format not in _FORMATS:
        raise UsageError(f"--format: {flags.format!r} is not a format: write one of {', '.join(_FORMATS)}")
    settings = load(argv, environ, read_file, flags=(layer, config), program=_PROGRAM)
    # A stamp belongs to files that are edited in place; kustomize's own annotations would fail its tests.
    options = settings.options.replace(stamp=False)
    inputs = surveyed(contents(files, stdin, _PROGRAM), options, on_blank(layer))
    one = Run(_PROGRAM, settings, environ, stderr)
    decisions: list[tuple[Pod, Decision]] = []
    results: list[Result] = []
    found: list[Entry] = []
    try:
        texts = questions(inputs)
        answers = one.answers([(manifests.data, manifests.pieces) for manifests in inputs], texts)
        results += one.messages
        for manifests in inputs:
            transformed = decided(manifests.survey, answers, options)
            decisions += transformed.decisions
            found += entries(manifests.survey.documents, transformed.decisions, manifests.name)
            exact = located(manifests.data, manifests.survey, transformed.results)
            own = (*manifests.results, *exact)
            results += [in_file(result, manifests.name) for result in own]
        if flags.format != _JSON:
            results += problems(found)
        failed = any(result.severity == "error" for result in results)
        report = one.prepare_report(int(failed), results, tuple(decisions), answers)
    finally:
        one.close()
    if failed:
        report.commit()
        one.say([failure(results), *lines(results)])
        return 1
    output = as_json(found) if flags.format == _JSON else as_yaml(flags.format, found)
    report.commit_after(lambda: standard_streams.write(stdout, [output]))
    one.say([*lines(results), one.summary(decisions, len(answers))])
    return 0


def _answered(word: str) -> str:
    if word == "version":
        return f"archfit {__version__}\n"
    return help_text(f"{_PROGRAM} [OPTION].. [FILE|-]..", ABOUT)
