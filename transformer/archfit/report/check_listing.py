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

import json
from collections.abc import Iterator
from typing import Any

from archfit import __version__
from archfit.printable import json_text, visible
from archfit.report.findings import Finding, Report
from archfit.results import ObjectRef


def text(report: Report) -> str:
    """The check for a terminal or a log."""
    found = list(_required(report)) if report.required else list(_placement(report))
    return "".join(visible(line) + "\n" for line in found)


def as_json(report: Report) -> str:
    """The check as one JSON object."""
    told = {
        "archfit": __version__,
        "check": "require" if report.required else "placement",
        **({"require": list(report.required)} if report.required else {}),
        "exit": report.exit_code,
        "pods": report.pods,
        "images": report.images,
        "notChecked": len(report.of("not-checked")),
        "findings": [_plain(finding) for finding in report.findings],
    }
    return json_text(json.dumps(told, indent=2, ensure_ascii=False)) + "\n"


def _placement(report: Report) -> Iterator[str]:
    found = report.of("placement")
    for finding in found:
        yield f"{finding.headline}{_at(finding)}"
    if report.exit_code == 1:
        return
    if found:
        verb = (
            "is not as archfit would leave it" if len(found) == 1 else "are not as archfit would leave them"
        )
        yield f"{len(found)} of {_count(report.pods, 'pod spec')} {verb}"
    else:
        yield f"as archfit would leave it: {_count(report.pods, 'pod spec')}, {_count(report.images, 'image')}"


def _required(report: Report) -> Iterator[str]:
    by_image: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Finding]] = {}
    for finding in report.of("required-platform"):
        by_image.setdefault((finding.image, finding.missing, finding.offers), []).append(finding)
    for (image, missing, offers), uses in by_image.items():
        yield f"{image} does not run on {', '.join(missing)}; it offers {', '.join(offers) or 'nothing'}"
        for use in uses:
            note = ", which the pod itself keeps off" if use.kept_off else ""
            note += f", which archfit leaves alone: {use.left_alone}" if use.left_alone else ""
            yield f"    {use.ref} {use.field}{note}{_at(use)}"
    out = report.of("not-checked")
    if out:
        yield "not looked at:"
    for finding in out:
        yield f"    {finding.headline}{_at(finding)}"
    if report.exit_code == 1:
        return
    names = " and ".join(report.required)
    left = f"; {_count(len(out), 'pod spec')} not looked at" if out else ""
    bad = len({image for image, _, _ in by_image})
    if bad:
        verb = "does not run" if bad == 1 else "do not run"
        yield f"{bad} of {_count(report.images, 'image')} {verb} on {names}{left}"
    else:
        yield f"runs on {names}: {_count(report.images, 'image')} of {_count(report.pods, 'pod spec')}{left}"


def _at(finding: Finding) -> str:
    return f" ({finding.where})" if finding.where else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else noun + 's'}"


def _plain(finding: Finding) -> dict[str, Any]:
    optional = {
        "object": _object(finding.ref) if finding.ref else None,
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


def _object(ref: ObjectRef) -> dict[str, str]:
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
