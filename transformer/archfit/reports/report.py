"""A run as JSON: every decision, every answer, every byte that changed.

`archfit schema report` describes it. The options of the command are not shown: they may hold secrets. Edits are byte
offsets in the output: putting every `was` back gives the input.

The run writes it to a temporary file before the output and renames it after the output. So a --report that cannot be
written fails the run, and no report states a success before the output is complete. Every run also writes a report for
`archfit last` below $XDG_STATE_HOME (XDG Base Directory); an error there does not fail the run.
"""

from __future__ import annotations

import os
from time import gmtime, strftime

from archfit.base.errors import OutputError, exit_code_of, message_of
from archfit.base.files import Prepared, unwritable, user_folder
from archfit.base.patch import dotted, to_json
from archfit.base.printable import TIME
from archfit.base.results import Decision, Message
from archfit.startup.record import Record
from archfit.yaml.json_output import document_head, json_parts, location_value, object_value
from archfit.yaml.stream import OutputChange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from archfit.base.results import Reason
    from archfit.images.platforms import Answer
    from archfit.options.settings import Workload
    from archfit.workloads.pods import Pod

_NONE: Mapping[str, Any] = {}
REPORT = "last.json"


class RunReport(Record):
    """What a run has to report.

    answers: by image string, as written. edits: each report iterates them once. requests: to registries, by kind.
    pulls_left: the last RateLimit-Remaining header of each server that sends it, by origin.
    """

    command: str
    exit_code: int
    messages: tuple[Message, ...] = ()
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
    yield from document_head("report").items()
    yield "time", time
    yield "command", report.command
    yield "configuration", list(report.sources)
    yield "exit", report.exit_code
    yield "results", map(message_value, report.messages)
    yield "decisions", (decision_value(pod, decision) for pod, decision in report.decisions)
    yield "images", {text: answer_value(answer) for text, answer in report.answers.items()}
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


def message_value(message: Message) -> dict[str, Any]:
    """One message."""
    return {
        "severity": message.severity,
        "message": message.text,
        **({"object": object_value(message.ref)} if message.ref else {}),
        **({"field": message.field} if message.field else {}),
        **(location_value(message.location) if message.location else {}),
    }


def decision_value(pod: Pod, decision: Decision) -> dict[str, Any]:
    """The decision about one pod spec."""
    return {
        "object": object_value(pod.ref),
        **location_value(pod.location),
        "path": dotted(pod.path),
        "outcome": decision.outcome,
        "reason": decision.reason,
        "reasons": list(map(_reason_value, decision.reasons)),
        "supported": decision.supported,
        "reachable": decision.reachable,
        "removed": [{"architecture": gone.architecture, "images": gone.images} for gone in decision.removed],
        "immutable": decision.immutable,
        **({"controller": decision.controller} if decision.controller else {}),
        **(_row_value(pod.row, decision) if pod.row is not None else {}),
        "images": [{"field": dotted(path), "image": text} for path, text in pod.named_images],
        "patch": to_json(decision.patch),
    }


def _reason_value(reason: Reason) -> dict[str, Any]:
    return {
        "about": reason.about,
        "what": reason.what,
        "effect": reason.effect,
        "reason": reason.reason,
        "term": reason.term,
    }


def _row_value(row: Workload, decision: Decision) -> dict[str, Any]:
    from archfit.workloads.known_rows import known

    return {"known": known(row), **({"withheld": decision.withheld} if decision.withheld else {})}


def answer_value(answer: Answer) -> dict[str, Any]:
    """The answer for one image."""
    from archfit.images.platforms import Found, kind_of  # not for a stream without pods

    if not isinstance(answer, Found):
        return {"answer": kind_of(answer), "cause": answer.cause}
    return {
        "answer": "Found",
        "platforms": [str(platform) for platform in answer.platforms],
        "digest": answer.digest,
        "origin": answer.origin,
        "ageSeconds": answer.age_seconds,
        **({"notThere": list(map(str, answer.missing))} if answer.missing else {}),
    }


def state_path(environ: Mapping[str, str]) -> str:
    """Where a run leaves its report for `archfit last`; "" where the user has no directory for it."""
    folder = user_folder(environ, "XDG_STATE_HOME", ".local/state")
    return folder and os.path.join(folder, REPORT)


class PreparedReport:
    """A report in temporary files, for the file that `--report` names ("" for none) and for the state directory.

    Raises ArchfitError where the file of `--report` cannot be written.
    """

    def __init__(self, report: RunReport, path: str, state: str) -> None:
        self._report, self._path, self._state = report, path, state
        parts = json_report(report, strftime(TIME, gmtime()))
        # As a rule there is one file, which takes part after part.
        content = b"".join(parts) if path else parts
        self._for_last: Prepared | None = None
        try:
            self._named = Prepared(path, content) if path else None
        except OSError as error:
            raise unwritable("--report", path, error) from None
        if state:
            try:
                self._for_last = _in_its_directory(state, content)
            except OSError:
                pass  # only `archfit last` reads it

    def commit(self) -> None:
        """Renames the temporary files."""
        try:
            if self._named:
                self._named.commit()
        except OSError as error:
            raise unwritable("--report", self._path, error) from None
        finally:
            _tried(self._for_last, Prepared.commit)

    def commit_after(self, write: Callable[[], None]) -> None:
        """Writes the output, then commits. Raises OutputError as `write` does, and reports that error."""
        try:
            write()
        except BaseException as error:  # a signal, too
            for file in (self._named, self._for_last):
                _tried(file, Prepared.discard)
            if not isinstance(error, OutputError):
                raise
            messages = (*self._report.messages, Message("error", str(error)))
            failed = self._report.replace(exit_code=1, messages=messages, edits=())
            PreparedReport(failed, self._path, self._state).commit()
            raise
        self.commit()


def report_failure(command: str, error: Exception, environ: Mapping[str, str]) -> None:
    """Writes a report for `archfit last` about a run that failed early: under Helm 4 the user sees nothing else."""
    report = RunReport(command, exit_code_of(error), (Message("error", message_of(error)),))
    PreparedReport(report, "", state_path(environ)).commit()


def _in_its_directory(path: str, content: bytes | Iterable[bytes]) -> Prepared:
    """The file in preparation; its directory is made where it is missing, 0700. Raises OSError."""
    try:
        return Prepared(path, content)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return Prepared(path, content)


def _tried(file: Prepared | None, do: Callable[[Prepared], None]) -> None:
    try:
        if file:
            do(file)
    except OSError:
        pass  # only `archfit last` reads it
