"""A run's report in words, for `archfit last`.

archfit check at 2026-07-28T10:15:00Z (3 minutes ago), version 0.1.0     a run that never started left no report:
exit 0, requests: 2                                                      the time shows that this is another one
configuration: defaults
warning: ..
archfit: the API server may refuse the change of 1 object: ..
Change: apps/v1/Deployment/shop/web spec.template.spec: restricted to amd64 (..)
"""

from __future__ import annotations

from calendar import timegm
from collections.abc import Iterator
from time import strptime
from typing import Any

from archfit.printable import count
from archfit.report.immutable_objects import immutable_advice
from archfit.report.run_report import TIME
from archfit.results import ObjectRef

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def lines(found: dict[str, Any], now: int) -> Iterator[str]:
    """The report, line by line. now: seconds since 1970."""
    yield f"{found.get('command', 'archfit')} at {_when(found.get('time', ''), now)}, version {found['archfit']}"
    yield f"exit {found['exit']}, requests: {sum(found['requests'].values())}"
    yield f"configuration: {', '.join(found['configuration']) or 'defaults'}"
    for result in found["results"]:
        where = " ".join(part for part in (_name(result.get("object")), result.get("field", "")) if part)
        yield f"{result['severity']}: {where + ': ' if where else ''}{result['message']}"
    refused = immutable_advice(
        [
            ObjectRef(*decision["object"].values())
            for decision in found["decisions"]
            if decision["outcome"] == "Change" and decision["immutable"]
        ]
    )
    if refused:
        yield refused
    for decision in found["decisions"]:
        yield f"{decision['outcome']}: {_name(decision['object'])} {decision['path']}: {decision['reason']}"
        for gone in decision["removed"]:
            yield f"    not {gone['architecture']}: {', '.join(gone['images'])}"


def _when(time: str, now: int) -> str:
    """`2026-07-28T10:15:00Z (3 minutes ago)`; a report of an older version has no time."""
    try:
        seconds = now - timegm(strptime(time, TIME))
    except ValueError:
        return "an unknown time"
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{time} ({count(seconds // length, unit)} ago)"
    return f"{time} (just now)"


def _name(ref: dict[str, str] | None) -> str:
    return "/".join(part for part in (ref or {}).values() if part)
