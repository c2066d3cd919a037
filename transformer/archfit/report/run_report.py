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
  "edits": [{start, end, was}]   byte offsets in the output; putting every `was` back gives the input
}
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit import __version__
from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.patch import dotted, to_json
from archfit.record import Record
from archfit.report.json_output import object_value
from archfit.results import Decision, Location, Result
from archfit.stream import ChangedSpan
from archfit.typing_names import Any
from archfit.workloads.pods import Pod

TIME = "%Y-%m-%dT%H:%M:%SZ"


class RunReport(Record):
    """What a run has to report.

    command: as in `archfit check`. decisions: one for each pod spec. answers: by image string, as written. edits: where
    the output differs from the input. sources: of configuration, the strongest first. requests: to registries, by kind.
    pulls_left: the last RateLimit-Remaining header of each server that sends it, by origin.
    """

    command: str
    exit_code: int
    results: tuple[Result, ...] = ()
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    answers: Mapping[str, Answer] = {}
    edits: tuple[ChangedSpan, ...] = ()
    sources: tuple[str, ...] = ()
    requests: Mapping[str, int] = {}
    pulls_left: Mapping[str, str] = {}


def json_value(report: RunReport, time: str) -> dict[str, Any]:
    """The report as `json_output` writes it. time: RFC 3339."""
    return {
        "archfit": __version__,
        "time": time,
        "command": report.command,
        "configuration": list(report.sources),
        "exit": report.exit_code,
        "results": [_result(result) for result in report.results],
        "decisions": [_decision(pod, decision) for pod, decision in report.decisions],
        "images": {text: _answer(answer) for text, answer in report.answers.items()},
        "requests": dict(report.requests),
        **({"pullsLeft": dict(report.pulls_left)} if report.pulls_left else {}),
        "edits": [{"start": edit.start, "end": edit.end, "was": edit.was.decode()} for edit in report.edits],
    }


def _location(location: Location) -> dict[str, Any]:
    return {
        "document": location.document,
        "line": location.line,
        **({"source": location.source} if location.source else {}),
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "severity": result.severity,
        "message": result.message,
        **({"object": object_value(result.ref)} if result.ref else {}),
        **({"field": result.field} if result.field else {}),
        **(_location(result.location) if result.location else {}),
    }


def _decision(pod: Pod, decision: Decision) -> dict[str, Any]:
    return {
        "object": object_value(pod.ref),
        **_location(pod.location),
        "path": dotted(pod.path),
        "outcome": decision.outcome,
        "reason": decision.reason,
        "supported": decision.supported,
        "reachable": decision.reachable,
        "removed": [{"architecture": gone.architecture, "images": gone.images} for gone in decision.removed],
        "immutable": decision.immutable,
        **({"controller": decision.controller} if decision.controller else {}),
        "images": [{"field": dotted(use.path), "image": use.text} for use in pod.images],
        "patch": to_json(decision.patch),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    match answer:
        case Found():
            return {
                "answer": "Found",
                "platforms": [str(platform) for platform in answer.platforms],
                "digest": answer.digest,
                "origin": answer.origin,
                "ageSeconds": answer.age_seconds,
            }
        case Absent():
            return {"answer": "Absent", "detail": answer.detail}
        case Unknown():
            return {"answer": "Unknown", "cause": answer.cause}
        case Unasked():
            return {"answer": "Unasked", "reason": answer.reason}
        case Malformed():
            return {"answer": "Malformed", "reason": answer.reason}
