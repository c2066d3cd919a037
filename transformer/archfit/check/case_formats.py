r"""The formats of a check that are lists of tests, of `cases`.

`junit`: JUnit XML, which Jenkins, GitLab, Azure DevOps, CircleCI and Buildkite show as tests.

    <testsuites name="archfit" tests="3" failures="1" errors="0">
      <testsuite name="archfit check --require linux/arm64" tests="3" failures="1" errors="0" skipped="1">
        <testcase classname="archfit.linux/arm64" name="apps/v1/Deployment/shop/web spec..image (web.yaml)">
          <failure type="required-platform" message="example/tool:1 does not run on ..">and the place</failure>
        </testcase>                 <error> for a problem, <skipped> for what was not looked at or is not known
        <system-out>the whole check in one line</system-out>
        <system-err>warnings</system-err>
      </testsuite>
    </testsuites>

There are no times, because nothing was timed, and no properties: the same findings give the same bytes. The elements
and attributes are those that the schema of Jenkins' xUnit plugin has (junit-10.xsd); it knows no `file` of a case.
Jenkins shows what stands before the last dot of a class name as a package.

`tap`: the Test Anything Protocol, version 14 (testanything.org).

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
from typing import TYPE_CHECKING

from archfit.base.printable import visible
from archfit.check.cases import Case, cases, group, message, numbers, warnings
from archfit.check.findings import Check
from archfit.check.listing import note, verdict
from archfit.yaml.json_output import json_output

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ELEMENT = {"failed": "failure", "error": "error", "skipped": "skipped"}
_SEVERITY = {"failed": "fail", "error": "error"}


def junit(check: Check) -> bytes:
    """The check as one file of JUnit XML."""
    from xml.etree import ElementTree as ET  # no other format needs it

    found = cases(check)
    of = numbers(found)
    totals = {
        "tests": str(len(found)),
        "failures": str(of.get("failed", 0)),
        "errors": str(of.get("error", 0)),
    }
    root = ET.Element("testsuites", {"name": "archfit", **totals})
    question = f"archfit check --require {','.join(check.required)}" if check.required else "archfit check"
    one = ET.SubElement(root, "testsuite", {"name": question, **totals, "skipped": str(of.get("skipped", 0))})
    for case in found:
        _add_case(one, case, f"archfit.{group(check)}")
    if verdict(check):
        ET.SubElement(one, "system-out").text = visible(verdict(check))
    if warnings(check):
        ET.SubElement(one, "system-err").text = "\n".join(warnings(check))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _add_case(parent: Element, case: Case, classname: str) -> None:
    from xml.etree.ElementTree import SubElement

    element = SubElement(parent, "testcase", {"classname": classname, "name": case.name})
    finding = case.finding
    if case.outcome in _ELEMENT:
        said = {"type": finding.rule, "message": message(finding)}
        result = SubElement(element, _ELEMENT[case.outcome], said)
        if case.outcome != "skipped":
            result.text = visible(finding.sentence + note(finding) + _where(case))
    elif finding.message:
        SubElement(element, "system-out").text = visible(finding.message)


def _where(case: Case) -> str:
    """The place, where the sentence leaves it to file and line."""
    return "" if case.finding.elsewhere or not case.finding.where else f" ({case.finding.where})"


def tap(check: Check) -> bytes:
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
