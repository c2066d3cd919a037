"""`archfit patch [FILE|-].. [--format FORM]`: the decisions as patches, for places that can run nothing.

manifests ── survey ── lookup ── decisions ── patches ── verify ── stdout      exit 0
                                    └── errors on stderr, stdout empty           exit 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.results import Decision, Result, has_error
from archfit.cli.inputs.survey import in_file, manifests_of, on_blank, questions
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.edit.object_patches import Entry, as_json, entries, problems
from archfit.edit.verified_patches import wrong_patches
from archfit.explain.verbose import verbose_lines
from archfit.patch.kustomize import as_yaml
from archfit.pipeline import decided
from archfit.pod_stages import located
from archfit.reports.summary import lines
from archfit.run import Decided, Run
from archfit.workloads.pods import Pod

_COMMAND = BY_NAME["patch"]
_JSON = "json"


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    form, settings = invocation.flags.format, invocation.settings
    # A stamp belongs to files that are edited in place; kustomize's own annotations would fail its tests.
    options = settings.options.replace(stamp=False)
    inputs = manifests_of(invocation, (stdin, stderr, environ), options, on_blank(invocation.layer))
    one = Run(_COMMAND.program, settings.replace(options=options), environ, stderr, explain=verbose_lines)
    decisions: list[tuple[Pod, Decision]] = []
    results: list[Result] = []
    found: list[Entry] = []
    explained: list[Decided] = []
    try:
        texts = questions(inputs)
        answers = one.answers([(manifests.data, manifests.pieces) for manifests in inputs], texts)
        results += one.messages
        pods, surveys = [pod for of in inputs for pod in of.pods], [of.survey for of in inputs]
        results += one.unmatched_filters(pods, surveys)
        for manifests in inputs:
            transformed = decided(manifests.survey, answers, options)
            decisions += transformed.decisions
            explained.append((manifests.name, manifests.data, manifests.survey, transformed.decisions))
            found += entries(manifests.survey.documents, transformed.decisions, manifests.name)
            exact = located(manifests.data, manifests.survey.documents, transformed.results)
            own = (*manifests.results, *exact)
            results += [in_file(result, manifests.name) for result in own]
        if form != _JSON:
            results += problems(found)
        results += wrong_patches(found)
        failed = has_error(results)
        report = one.prepare_report(int(failed), results, tuple(decisions), answers)
        why = one.explanations(explained, answers)
    finally:
        one.close()
    if failed:
        report.commit()
        one.write_messages([*why, *one.failure_lines(results, decisions, answers)])
        return 1
    output = as_json(found) if form == _JSON else as_yaml(form, found)
    report.commit_after(lambda: standard_streams.write(stdout, [output]))
    untouched = [left for manifests in inputs for left in manifests.survey.untouched]
    one.write_messages([*lines(results), *why, one.summary(decisions, answers, untouched)])
    return 0
