"""A check as text and as JSON.

Findings of the rules problem and notice are no part of the text: they go to standard error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from archfit.base.printable import count, visible
from archfit.base.record_json import camel_case
from archfit.check.findings import Check, Finding, counts
from archfit.reports.summary import unknown_words
from archfit.yaml.json_output import document_head, json_output, object_value

_OPTIONAL = (
    *("field", "file", "line", "document", "source", "image", "missing", "offers"),
    *("kept_off", "left_alone", "absent", "not_there", "programs", "reason", "cause"),
)
"""Fields of a finding that its JSON has where they say something."""


def text(check: Check) -> bytes:
    """The check for a terminal or a log."""
    listing = _required(check) if check.required else _placement(check)
    return "".join(visible(line) + "\n" for line in (*listing, verdict(check)) if line).encode()


def verdict(check: Check) -> str:
    """The whole check in one line, "" where it could not be made."""
    if check.exit_code == 1:
        return ""
    return _runs(check) if check.required else _as_left(check)


def _as_left(check: Check) -> str:
    changes = len(check.of("placement"))
    if changes:
        verb = "is not as archfit would leave it" if changes == 1 else "are not as archfit would leave them"
        head = f"{changes} of {count(check.pods, 'pod spec')} {verb}"
    else:
        head = f"as archfit would leave it: {count(check.pods, 'pod spec')}, {count(check.known, 'image')}"
    beside = _stated(check)
    if check.unknown:
        beside.append(unknown_words(check.unknown))
    if check.left_alone:
        by = f" ({check.by_annotation} by archfit.dev/skip)" if check.by_annotation else ""
        beside.append(f"{count(check.left_alone, 'pod spec')} left alone{by}")
    return "; ".join([head, *beside, *_objects(check)])


def _runs(check: Check) -> str:
    several = len(check.required) > 1
    where = f"all of {', '.join(check.required)}" if several else check.required[0]
    running = check.known - check.listed
    parts = [
        f"{count(running, 'image')} {'runs' if running == 1 else 'run'} on {where}",
        *([f"{check.listed} listed by an index, not asked whether it is there"] if check.listed else []),
        f"{check.lacking} {'does' if check.lacking == 1 else 'do'} not",
        unknown_words(check.unknown),
        *_stated(check),
    ]
    out = len(check.of("not-checked"))
    if out:
        parts.append(f"{count(out, 'pod spec')} not looked at")
    if unread := {finding.image for finding in check.of("not-read")}:
        parts.append(f"{count(len(unread), 'program')} not read")
    head = "" if check.images else "no image was looked at: "
    return head + "; ".join([*parts, *_objects(check)])


def _stated(check: Check) -> list[str]:
    return [f"{check.stated} stated, not asked"] if check.stated else []


def _objects(check: Check) -> list[str]:
    return [f"{count(check.objects, 'object')} not looked at"] if check.objects else []


def by_cause(check: Check) -> Iterator[tuple[str, list[Finding]]]:
    """The findings of images that are not known, by their cause: a sentence with the numbers, and the places."""
    causes: dict[str, list[Finding]] = {}
    for finding in check.of("not-known"):
        causes.setdefault(finding.cause, []).append(finding)
    for cause, uses in causes.items():
        if any(use.field for use in uses):
            images = len({use.counted_image for use in uses})
            yield f"{cause} ({count(images, 'image')}, {count(len(uses), 'place')})", uses
        else:
            yield f"{cause} ({count(len(uses), 'object')})", uses


def note(finding: Finding) -> str:
    """What a reader has to know of the pod of a required platform, as the end of a sentence, or ""."""
    words = ", which the pod's own placement excludes" if finding.kept_off else ""
    return words + (f", which archfit leaves alone: {finding.left_alone}" if finding.left_alone else "")


def as_json(check: Check) -> bytes:
    """The check as one JSON object."""
    value = {
        **document_head("check"),
        "check": "require" if check.required else "placement",
        **({"require": list(check.required)} if check.required else {}),
        "exit": check.exit_code,
        "pods": check.pods,
        "images": check.images,
        **(counts(check) if check.required else {"notKnown": len(check.unknown)}),
        "stated": check.stated,
        "leftAlone": check.left_alone,
        "leftAloneByAnnotation": check.by_annotation,
        "notChecked": len(check.of("not-checked")),
        "objectsNotChecked": check.objects,
        "findings": [_finding_value(finding) for finding in check.findings],
    }
    return json_output(value)


def _placement(check: Check) -> Iterator[str]:
    for finding in check.of("placement"):
        yield f"{finding.headline}{_at(finding)}"


def _required(check: Check) -> Iterator[str]:
    by_message: dict[str, list[Finding]] = {}
    for finding in check.of("required-platform"):
        by_message.setdefault(finding.message, []).append(finding)
    for message, uses in by_message.items():
        yield message
        if uses[0].newer:
            yield f"    to do: {uses[0].newer.advice}"
        for use in uses:
            yield f"    {use.subject}{note(use)}{_at(use)}"
    for cause, uses in by_cause(check):
        yield f"not known: {cause}"
        for use in uses:
            image = f"{use.image}, " if use.image.strip() else ""
            yield f"    {image}{use.subject}{_at(use)}"
    out = check.of("not-checked")
    unread = check.of("not-read")
    if out or unread:
        yield "not looked at:"
    for finding in (*out, *unread):
        yield f"    {finding.headline}{_at(finding)}"


def _at(finding: Finding) -> str:
    return f" ({finding.where})" if finding.where else ""


def _finding_value(finding: Finding) -> dict[str, Any]:
    optional = {camel_case(name): getattr(finding, name) for name in _OPTIONAL}
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        **({"object": object_value(finding.ref)} if finding.ref else {}),
        **{key: value for key, value in optional.items() if value},
        **(finding.newer.members if finding.newer else {}),
    }
