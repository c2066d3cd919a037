"""A check as text and as JSON.

    apps/v1/Deployment/shop/web spec.template.spec: archfit would change it: ... (web.yaml:12)
    1 of 5 pod specs is not as archfit would leave it

    example/tool:1 does not run on linux/arm64; it offers linux/amd64
        apps/v1/Deployment/shop/web spec.template.spec.containers[0].image (web.yaml:12)
    not looked at:
        apps/v1/DaemonSet/shop/agent spec.template.spec: it is for windows nodes (web.yaml:40)
    1 of 14 images does not run on linux/arm64; 1 pod spec was not looked at

Messages of severity problem and notice are no part of the text: they go to standard error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from archfit import __version__
from archfit.printable import count, visible
from archfit.report.findings import Check, Finding
from archfit.report.json_output import json_output, object_value


def text(check: Check) -> bytes:
    """The check for a terminal or a log."""
    found = [*(_required(check) if check.required else _placement(check)), verdict(check)]
    return "".join(visible(line) + "\n" for line in found if line).encode()


def verdict(check: Check) -> str:
    """The whole check in one line, "" where it could not be made."""
    if check.exit_code == 1:
        return ""
    if not check.required:
        found = len(check.of("placement"))
        if not found:
            return (
                f"as archfit would leave it: {count(check.pods, 'pod spec')}, {count(check.images, 'image')}"
            )
        verb = "is not as archfit would leave it" if found == 1 else "are not as archfit would leave them"
        return f"{found} of {count(check.pods, 'pod spec')} {verb}"
    names = " and ".join(check.required)
    out = len(check.of("not-checked"))
    left = f"; {count(out, 'pod spec')} not looked at" if out else ""
    bad = len({finding.image for finding in check.of("required-platform")})
    if not bad:
        return f"runs on {names}: {count(check.images, 'image')} of {count(check.pods, 'pod spec')}{left}"
    verb = "does not run" if bad == 1 else "do not run"
    where = names if len(check.required) == 1 else f"all of {', '.join(check.required)}"
    return f"{bad} of {count(check.images, 'image')} {verb} on {where}{left}"


def note(finding: Finding) -> str:
    """What a reader has to know of the pod of a required platform, as the end of a sentence, or ""."""
    words = ", which the pod's own placement excludes" if finding.kept_off else ""
    return words + (f", which archfit leaves alone: {finding.left_alone}" if finding.left_alone else "")


def as_json(check: Check) -> bytes:
    """The check as one JSON object."""
    value = {
        "archfit": __version__,
        "check": "require" if check.required else "placement",
        **({"require": list(check.required)} if check.required else {}),
        "exit": check.exit_code,
        "pods": check.pods,
        "images": check.images,
        "notChecked": len(check.of("not-checked")),
        "findings": [_finding_value(finding) for finding in check.findings],
    }
    return json_output(value)


def _placement(check: Check) -> Iterator[str]:
    for finding in check.of("placement"):
        yield f"{finding.headline}{_at(finding)}"


def _required(check: Check) -> Iterator[str]:
    by_image: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Finding]] = {}
    for finding in check.of("required-platform"):
        by_image.setdefault((finding.image, finding.missing, finding.offers), []).append(finding)
    for (image, missing, offers), uses in by_image.items():
        yield f"{image} does not run on {', '.join(missing)}; it offers {', '.join(offers) or 'nothing'}"
        for use in uses:
            yield f"    {use.ref} {use.field}{note(use)}{_at(use)}"
    out = check.of("not-checked")
    if out:
        yield "not looked at:"
    for finding in out:
        yield f"    {finding.headline}{_at(finding)}"


def _at(finding: Finding) -> str:
    return f" ({finding.where})" if finding.where else ""


def _finding_value(finding: Finding) -> dict[str, Any]:
    optional = {
        "object": object_value(finding.ref) if finding.ref else None,
        "field": finding.field,
        "file": finding.file,
        "line": finding.line,
        "document": finding.document,
        "source": finding.source,
        "image": finding.image,
        "missing": list(finding.missing),
        "offers": list(finding.offers),
        "keptOff": finding.kept_off,
        "leftAlone": finding.left_alone,
    }
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        **{key: value for key, value in optional.items() if value},
    }
