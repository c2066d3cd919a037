"""A check as SARIF 2.1.0, for code scanning (OASIS Static Analysis Results Interchange Format).

    runs[0].tool.driver.rules     one reportingDescriptor for each rule (section 3.49)
    runs[0].results               one for each finding (3.27): ruleId, kind, level, message, location, fingerprint
    runs[0].invocations           executionSuccessful is false where the check failed (3.20)

GitHub takes no result without a physical location: a stream without files has the artifact `stdin`. The fingerprint
leaves out the line, so that a finding stays the same one when the text above it grows.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from urllib.parse import quote

from archfit import __version__
from archfit.printable import visible
from archfit.report.findings import RULES, Check, Finding
from archfit.report.json_output import json_output

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = {"error": "error", "warning": "warning", "info": "none"}
_DEFAULT = {"notice": "warning", "not-checked": "none"}


def log(check: Check) -> bytes:
    """The check as one SARIF log file."""
    rules = list(RULES)
    driver = {"name": "archfit", "version": __version__, "rules": [_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": check.exit_code != 1, "exitCode": check.exit_code}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.rule)) for finding in check.shown],
    }
    return json_output({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: str) -> dict[str, Any]:
    return {
        "id": rule,
        "shortDescription": {"text": RULES[rule]},
        "defaultConfiguration": {"level": _DEFAULT.get(rule, "error")},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "kind": "informational" if finding.severity == "info" else "fail",
        "level": _LEVEL[finding.severity],
        "message": {"text": visible(finding.headline)},
        "locations": [_location(finding)],
        "partialFingerprints": {"archfit/v1": _fingerprint(finding)},
    }


def _location(finding: Finding) -> dict[str, Any]:
    uri = quote(finding.file.replace("\\", "/"), errors="backslashreplace") if finding.file else "stdin"
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.line:
        physical["region"] = {"startLine": finding.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.ref:
        name = visible(str(finding.ref) + (f" {finding.field}" if finding.field else ""))
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "object"}]
    return location


def _fingerprint(finding: Finding) -> str:
    parts = (
        finding.rule,
        str(finding.ref or ""),
        finding.field,
        finding.file,
        finding.image,
        *finding.missing,
    )
    if finding.rule in ("problem", "notice"):
        parts = (*parts, finding.message)
    return sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()[:32]
