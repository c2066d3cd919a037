"""A check as a Code Quality report, which GitLab shows in a merge request.

    [{"description": "apps/v1/Deployment/shop/web spec.template.spec: archfit would change it: ...",
      "check_name": "archfit/placement",          archfit/ and the rule
      "fingerprint": "6f1c...",                   SHA-256, in hexadecimal; unique in the report
      "severity": "major",                        error: major, warning: minor, info: info
      "location": {"path": "web.yaml", "lines": {"begin": 12}}}]

The fingerprint leaves out the line, so that a finding stays the same one when the text above it grows. A finding about
a whole file begins at line 1, and one without a file has the path `stdin`: GitLab takes none without a place. Source:
GitLab, doc/ci/testing/code_quality.md, "Implement a custom tool", a part of the Code Climate specification.
"""

from __future__ import annotations

from typing import Any

from archfit.printable import visible
from archfit.report.check_listing import verdict
from archfit.report.findings import Check, Finding, fingerprints
from archfit.report.json_output import json_output

_SEVERITY = {"error": "major", "warning": "minor", "info": "info"}


def code_quality(check: Check) -> bytes:
    """The report, an empty list where nothing was found. With --require the last issue has the numbers."""
    shown = check.shown
    issues = [_issue(*pair) for pair in zip(shown, fingerprints(shown), strict=True)]
    if (check.lacking or check.unknown) and verdict(check):
        summary = Finding("summary", "info", verdict(check))
        issues.append(_issue(summary, fingerprints([summary])[0]))
    return json_output(issues)


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": visible(finding.headline + finding.elsewhere),
        "check_name": f"archfit/{finding.rule}",
        "fingerprint": fingerprint,
        "severity": _SEVERITY[finding.severity],
        "location": {
            "path": finding.artifact.encode(errors="backslashreplace").decode(),
            "lines": {"begin": finding.line or 1},
        },
    }
