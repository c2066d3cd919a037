"""A check as JUnit XML, which Jenkins, GitLab, Azure DevOps, CircleCI and Buildkite show as tests.

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
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from archfit.base.printable import visible
from archfit.check.cases import Case, cases, group, message, numbers, warnings
from archfit.check.findings import Check
from archfit.check.listing import note, verdict

_ELEMENT = {"failed": "failure", "error": "error", "skipped": "skipped"}


def suite(check: Check) -> bytes:
    """The check as one file of JUnit XML."""
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
        _add(one, case, f"archfit.{group(check)}")
    if verdict(check):
        ET.SubElement(one, "system-out").text = visible(verdict(check))
    if warnings(check):
        ET.SubElement(one, "system-err").text = "\n".join(warnings(check))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _add(parent: ET.Element, case: Case, classname: str) -> None:
    element = ET.SubElement(parent, "testcase", {"classname": classname, "name": case.name})
    finding = case.finding
    if case.outcome in _ELEMENT:
        said = {"type": finding.rule, "message": message(finding)}
        result = ET.SubElement(element, _ELEMENT[case.outcome], said)
        if case.outcome != "skipped":
            result.text = visible(finding.sentence + note(finding) + _where(case))
    elif finding.message:
        ET.SubElement(element, "system-out").text = visible(finding.message)


def _where(case: Case) -> str:
    """The place, where the sentence leaves it to file and line."""
    return "" if case.finding.elsewhere or not case.finding.where else f" ({case.finding.where})"
