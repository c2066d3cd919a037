"""A run as JSON: every decision, every answer, every byte that changed.

{
  "archfit": "0.1.0",            the version that ran
  "time": "2026-07-28T10:15:00Z", when it ended
  "command": "archfit check",    its options are not shown: they may hold secrets
  "configuration": [...],        every source of configuration used, the strongest first
  "exit": 0,
  "results": [{severity, message, object, field, document, line, source}],
  "decisions": [{object, document, line, source, path, outcome, reason, supported, reachable, removed,
                 immutable, controller, images: [{field, image}], patch: RFC 6902}],
  "images": {"nginx:1.27": {"answer": "Found", platforms, digest, origin, ageSeconds}},
  "requests": {"manifest": 12},
  "pullsLeft": {"https://registry-1.docker.io": "76;w=21600"},   only of servers that state it
  "edits": [{file, start, end, was}]   byte offsets in the output; putting every `was` back gives the input;
                                       file: only where the run named files
}
"""

from __future__ import annotations

from archfit import __version__
from archfit.base.record import Record
from archfit.base.results import Decision, Result
from archfit.base.typing_names import Any, Iterable, Iterator, Mapping
from archfit.yaml.json_output import json_parts, location_value, object_value
from archfit.yaml.stream import OutputChange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.images.platforms import Answer
    from archfit.workloads.pods import Pod

_NONE: Mapping[str, Any] = {}
TIME = "%Y-%m-%dT%H:%M:%SZ"


class RunReport(Record):
    """What a run has to report.

    command: as in `archfit check`. decisions: one for each pod spec. answers: by image string, as written. edits: where
    the output differs from the input; each report iterates them once. sources: of configuration, the strongest first.
    requests: to registries, by kind. pulls_left: the last RateLimit-Remaining header of each server that sends it, by
    origin.
    """

    command: str
    exit_code: int
    results: tuple[Result, ...] = ()
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    answers: Mapping[str, Answer] = _NONE
    edits: Iterable[OutputChange] = ()
    sources: tuple[str, ...] = ()
    requests: Mapping[str, int] = _NONE
    pulls_left: Mapping[str, str] = _NONE


def json_report(report: RunReport, time: str) -> Iterator[bytes]:
    """The report in parts: that of 10,000 pods is as large as their manifests. time: RFC 3339."""
    return json_parts(_members(report, time))


def _members(report: RunReport, time: str) -> Iterator[tuple[str, Any]]:
    yield "archfit", __version__
    yield "time", time
    yield "command", report.command
    yield "configuration", list(report.sources)
    yield "exit", report.exit_code
    yield "results", map(_result, report.results)
    yield from _decided(report)
    yield "requests", dict(report.requests)
    if report.pulls_left:
        yield "pullsLeft", dict(report.pulls_left)
    yield "edits", map(_edit, report.edits)


def _edit(edit: OutputChange) -> dict[str, Any]:
    return {
        **({"file": edit.file} if edit.file else {}),
        "start": edit.start,
        "end": edit.end,
        "was": edit.was.decode(),
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "severity": result.severity,
        "message": result.message,
        **({"object": object_value(result.ref)} if result.ref else {}),
        **({"field": result.field} if result.field else {}),
        **(location_value(result.location) if result.location else {}),
    }


def _decided(report: RunReport) -> Iterator[tuple[str, Any]]:
    if not report.decisions and not report.answers:
        yield "decisions", []
        yield "images", {}
        return
    from archfit.reports.decision_values import answer_value, decision_value  # not for a stream without pods

    yield "decisions", (decision_value(pod, decision) for pod, decision in report.decisions)
    yield "images", {text: answer_value(answer) for text, answer in report.answers.items()}
