r"""A check in the Test Anything Protocol, version 14 (testanything.org).

    TAP version 14
    1..3
    ok 1 - apps/v1/Deployment/shop/web spec.template.spec.containers[0].image (web.yaml)
    not ok 2 - apps/v1/Deployment/shop/old spec.template.spec.containers[0].image (web.yaml)
      ---
      message: "example/tool:1 does not run on linux/arm64; it offers linux/amd64"
      severity: "fail"                 "error" for a problem
      rule: "required-platform"
      at: "web.yaml:12"
      ...
    ok 3 - v1/Pod/shop/agent spec (web.yaml) # SKIP it is for windows nodes
    # 1 image runs on linux/arm64; 1 does not; 0 not known; 1 pod spec not looked at

A description escapes `\` and `#`. A value of the YAML block is written as JSON, which is YAML. A check that looked at
nothing is a plan without tests and with the reason: `1..0 # SKIP no image was looked at`.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.base.printable import visible
from archfit.check.cases import Case, cases, message, warnings
from archfit.check.findings import Check
from archfit.check.listing import note, verdict
from archfit.yaml.json_output import json_output

_SEVERITY = {"failed": "fail", "error": "error"}


def stream(check: Check) -> bytes:
    """The check as one TAP document."""
    return "".join(f"{line}\n" for line in _lines(check)).encode()


def _lines(check: Check) -> Iterator[str]:
    found = cases(check)
    yield "TAP version 14"
    if not check.cases:
        yield f"1..0 # SKIP {message(found[0].finding)}"
        found = []
    else:
        yield f"1..{len(found)}"
    for number, case in enumerate(found, 1):
        yield from _point(number, case)
    yield from (f"# warning: {warning}" for warning in warnings(check))
    if verdict(check):
        yield f"# {visible(verdict(check))}"


def _point(number: int, case: Case) -> Iterator[str]:
    name = case.name.replace("\\", "\\\\").replace("#", "\\#")
    finding = case.finding
    if case.outcome == "skipped":
        yield f"ok {number} - {name} # SKIP {message(finding)}"
    elif case.outcome == "passed":
        yield f"ok {number} - {name}"
    else:
        yield f"not ok {number} - {name}"
        values = {
            "message": message(finding) + note(finding),
            "severity": _SEVERITY[case.outcome],
            "rule": finding.rule,
            "at": finding.where,
        }
        yield "  ---"
        for key, value in values.items():
            if value:
                yield f"  {key}: {json_output(value, indent=None).decode().rstrip()}"
        yield "  ..."
