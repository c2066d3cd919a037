"""A check as workflow commands, which GitHub Actions shows beside the lines of a pull request.

    ::error file=web.yaml,line=12,title=archfit placement::apps/v1/Deployment/shop/web spec.template.spec: ...

A message escapes % and LF, and shows CR as what it is; a property escapes ":" and "," too (actions/toolkit,
core/src/command.ts). GitHub shows at most ten errors, ten warnings and ten notices of a step; the others stand in its
log.
"""

from __future__ import annotations

from archfit.printable import lines
from archfit.report.check_listing import verdict
from archfit.report.findings import Check, Finding

_COMMAND = {"error": "error", "warning": "warning", "info": "notice"}


def commands(check: Check) -> bytes:
    """One line for each finding worth showing, errors first; with --require the numbers at the end, for the log."""
    order = list(_COMMAND)
    found = sorted(check.shown, key=lambda finding: order.index(finding.severity))
    written = [_command(finding) for finding in found]
    if check.required and verdict(check):
        written.append(verdict(check))  # in the log; a notice would stand beside each check that passes
    return "".join(f"{line}\n" for line in written).encode()


def _command(finding: Finding) -> str:
    properties = {
        "file": finding.file,
        "line": str(finding.line) if finding.exact else "",
        "title": f"archfit {finding.rule}",
    }
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{_COMMAND[finding.severity]} {written}::{_message(finding.headline + finding.elsewhere)}"


def _message(text: str) -> str:
    return lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
