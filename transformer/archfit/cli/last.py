"""`archfit last`: the last run's report in words, for callers that throw standard error away (Helm 4).

A run that never started left no report: the time in the first line shows that this is another one.
"""

from __future__ import annotations

import json
import os
import time
from calendar import timegm
from collections.abc import Iterator, Mapping, Sequence
from time import strptime
from typing import Any, BinaryIO

from archfit.base import standard_streams
from archfit.base.errors import ArchfitError, UsageError
from archfit.base.printable import TIME, json_text, span, visible
from archfit.base.results import ObjectRef
from archfit.cli.usage.command_table import BY_NAME
from archfit.reports.immutable_objects import immutable_advice
from archfit.reports.report import state_path


def show_last_run(argv: Sequence[str], stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    flags, words = BY_NAME["last"].parser().parse(argv)
    if words:
        raise UsageError("'archfit last' takes no argument but --format")
    path = state_path(environ)
    try:
        with open(path, "rb") as file:
            content = file.read()
        report = json.loads(content)
    except FileNotFoundError:
        raise ArchfitError(
            f"no run has left a report yet in {path!r}: run archfit on manifests first"
        ) from None
    except PermissionError:
        raise ArchfitError(
            f"the last report in {path!r} cannot be read (Permission denied): it is another user's, as after sudo: "
            f'sudo chown -R "$USER" {os.path.dirname(path)!r}'
        ) from None
    except OSError as error:
        raise ArchfitError(f"the last report in {path!r} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ArchfitError(f"the last report in {path!r} cannot be read ({error}): delete it") from None
    if flags.format == "json":
        standard_streams.write_report(stdout, [json_text(content.decode(errors="replace")).encode()])
        return 0
    try:
        shown = list(lines(report, int(time.time())))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArchfitError(f"the last report in {path!r} is not a report of archfit: delete it") from None
    standard_streams.write_report(stdout, ["".join(f"{visible(line)}\n" for line in shown).encode()])
    return 0


def lines(report: dict[str, Any], now: int) -> Iterator[str]:
    """The report, line by line. now: seconds since 1970."""
    yield f"{report['command']} at {_when(report['time'], now)}, version {report['archfit']}"
    yield f"exit {report['exit']}, requests: {sum(report['requests'].values())}"
    yield f"configuration: {', '.join(report['configuration']) or 'defaults'}"
    for result in report["results"]:
        where = " ".join(part for part in (_name(result.get("object")), result.get("field", "")) if part)
        yield f"{result['severity']}: {where + ': ' if where else ''}{result['message']}"
    refused = immutable_advice(
        [
            ObjectRef(*decision["object"].values())
            for decision in report["decisions"]
            if decision["outcome"] == "Change" and decision["immutable"]
        ]
    )
    if refused:
        yield refused
    for decision in report["decisions"]:
        yield f"{decision['outcome']}: {_name(decision['object'])} {decision['path']}: {decision['reason']}"
        for gone in decision["removed"]:
            yield f"    not {gone['architecture']}: {', '.join(gone['images'])}"


def _when(time: str, now: int) -> str:
    """`2026-07-28T10:15:00Z (3 minutes ago)`. Raises ValueError."""
    seconds = now - timegm(strptime(time, TIME))
    return f"{time} ({f'{span(seconds)} ago' if seconds > 0 else 'just now'})"


def _name(ref: dict[str, str] | None) -> str:
    return "/".join(part for part in (ref or {}).values() if part)
