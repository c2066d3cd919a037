"""What `archfit policy --check` found, as text and as JSON.

different: apps/v1/Deployment/shop/web (web.yaml, document 2, line 14): archfit adds .., and the policy adds nothing
left alone: batch/v1/Job/shop/once (..): its namespace is left out
not compared: ..
policy archfit.dev: 12 pods: 10 as archfit would place them, 1 different, 1 left alone, 0 not compared
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from archfit import __version__
from archfit.printable import count, visible
from archfit.record import Record
from archfit.report.json_output import json_output, location_value, object_value
from archfit.results import Location, ObjectRef

_WORDS = {"different": "different", "left-alone": "left alone", "not-compared": "not compared"}


class ComparedPod(Record):
    """One pod. file: "" for standard input. outcome: same, left-alone, different or not-compared; reason: in words.

    expected, actual: placement, where they differ.
    """

    ref: ObjectRef
    file: str
    location: Location
    outcome: str
    reason: str
    expected: dict[str, Any] | None = None
    actual: dict[str, Any] | None = None


def as_text(name: str, pods: Sequence[ComparedPod]) -> bytes:
    """The check for a terminal. name: of the policy."""
    lines = []
    for outcome, words in _WORDS.items():
        for pod in pods:
            if pod.outcome == outcome:
                where = ", ".join(part for part in (pod.file, str(pod.location)) if part)
                lines.append(f"{words}: {pod.ref} ({where}): {pod.reason}")
    number = Counter(pod.outcome for pod in pods)
    parts = [f"{number['same']} as archfit would place {'it' if number['same'] == 1 else 'them'}"]
    parts += [f"{number[outcome]} {words}" for outcome, words in _WORDS.items() if number[outcome]]
    found = (
        f"{count(len(pods), 'pod')}: {', '.join(parts)}"
        if pods
        else "the input has no pod, so nothing was compared"
    )
    lines.append(f"policy {name}: {found}")
    return "".join(f"{visible(line)}\n" for line in lines).encode()


def as_json(name: str, pods: Sequence[ComparedPod]) -> bytes:
    """The check as one JSON object."""
    return json_output({"archfit": __version__, "policy": name, "pods": [_value(pod) for pod in pods]})


def _value(pod: ComparedPod) -> dict[str, Any]:
    return {
        "object": object_value(pod.ref),
        **({"file": pod.file} if pod.file else {}),
        "location": location_value(pod.location),
        "outcome": pod.outcome,
        "reason": pod.reason,
        **({"expected": pod.expected, "actual": pod.actual} if pod.expected is not None else {}),
    }
