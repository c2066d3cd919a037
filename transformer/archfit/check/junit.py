"""A check as test cases, and as JUnit XML: a pod spec is a case, with --require each image of a pod.

    outcome    what it says
    passed     placement: as archfit would leave it, and each image is known;  --require: the image runs there
    failed     a finding that makes the check exit with 3
    error      a problem: there is no answer, and the check exits with 1
    skipped    nobody looked, or nobody knows, and that fails nothing: a pod that archfit leaves alone, or one for
               another operating system; an image that is not known, with --allow-unknown or without --require

The name has no line, no image and no message, so that it stays the same from run to run: what shows flaky tests
follows a test by its name. Of equal names, each has a number. A list that is empty would pass for one in which
everything is fine, so it has one case, which is skipped.

There are no times and no properties: the same findings give the same bytes. Elements and attributes are those of
junit-10.xsd of Jenkins' xUnit plugin. Jenkins shows what stands before the last dot of a class name as a package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.etree import ElementTree as ET

from archfit.base.patch import dotted
from archfit.base.printable import count, visible
from archfit.base.results import Decision, Severity
from archfit.check.findings import Check, Finding, Line, about_pod, of_verdicts, placed
from archfit.check.listing import note, verdict
from archfit.images.platforms import Answer, Unasked, Unknown
from archfit.placement.requirement import PlatformCheck, not_known
from archfit.startup.record import Record
from archfit.workloads.pods import Pod

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Outcome: TypeAlias = Literal["passed", "failed", "error", "skipped"]
PASSED = "passed"
"""The rule of a finding that says that there is none."""
LEFT_ALONE = ("OptedOut", "Unresolved", "Conflict")
"""Outcomes of pods that archfit leaves as they are."""
_ELEMENT = {"failed": "failure", "error": "error", "skipped": "skipped"}
MOST_CASES = 25_000
MOST_WARNINGS = 100


class Case(Record):
    """One test. name: unique. finding: where it is, and what its message says."""

    name: str
    outcome: Outcome
    finding: Finding


def placement_cases(
    decisions: Iterable[tuple[Pod, Decision, Sequence[Answer]]], line: Line
) -> Iterator[Finding]:
    """What there is to say of each pod spec where placement is the question. Answers: one for each of its images."""
    for pod, decision, answers in decisions:
        errors = [message.text for message in decision.messages if message.severity == "error"]
        unknown = [
            f"{use.text or 'an image'}: {not_known(use, answer).cause}"
            for use, answer in zip(pod.images, answers, strict=True)
            if isinstance(answer, (Unknown, Unasked))
        ]
        severity: Severity = "info"
        if errors:
            rule, severity, message = "problem", "error", "; ".join(dict.fromkeys(errors))
        elif decision.outcome == "Change":
            rule, severity, message = "placement", "error", f"archfit would change it: {decision.reason}"
        elif decision.outcome in LEFT_ALONE:
            rule, message = "not-checked", f"archfit leaves it alone: {decision.reason}"
        elif unknown:
            rule, message = "not-known", f"platforms that are not known: {'; '.join(dict.fromkeys(unknown))}"
        else:
            rule, message = PASSED, ""
        yield about_pod(rule, severity, message, pod, line)


def required_cases(
    verdicts: Iterable[tuple[Pod, PlatformCheck]], line: Line, *, allowed: bool
) -> Iterator[Finding]:
    """What there is to say of each image of each pod where --require is the question. allowed: --allow-unknown."""
    for pod, judged in verdicts:
        errors = [message.text for message in judged.messages if message.severity == "error"]
        if errors:
            yield about_pod("problem", "error", "; ".join(errors), pod, line)
            continue
        findings = list(of_verdicts([(pod, judged.replace(messages=()))], line, allowed=allowed))
        if judged.left_out:
            yield from findings
            continue
        by_field = {finding.field: finding for finding in findings}
        for use in pod.images:
            field = dotted(use.path)
            stated = (
                "its platforms are stated, nobody was asked" if (use.text, "stated") in judged.unasked else ""
            )
            finding = Finding(PASSED, "info", stated, pod.ref, field, image=use.text or "")
            yield by_field.get(field) or placed(finding, pod.location, line(pod, use.path))


def problems(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Those of them that are no notices: what failed before a pod was looked at."""
    return (finding for finding in findings if finding.rule == "problem")


def cases(check: Check) -> list[Case]:
    """The test cases: errors first only where the list is cut, else in the order of the input."""
    findings = list(check.cases)
    left_out = len(findings) - MOST_CASES
    if left_out > 0:
        order = ["error", "failed", "skipped", "passed"]
        findings = sorted(findings, key=lambda finding: order.index(_outcome(finding)))[:MOST_CASES]
        findings.append(
            Finding("not-checked", "info", f"{count(left_out, 'test case')} left out, the failed ones last")
        )
    if not findings:
        what = "image" if check.required else "pod spec"
        findings.append(Finding("not-checked", "info", f"no {what} was looked at"))
    named: Counter[str] = Counter()
    listed = []
    for finding in findings:
        name = _name(finding)
        named[name] += 1
        number = f" ({named[name]})" if named[name] > 1 else ""
        listed.append(Case(name + number, _outcome(finding), finding))
    return listed


def _warnings(check: Check) -> list[str]:
    lines = [visible(notice.sentence) for notice in check.of("notice") if notice.severity == "warning"]
    more = len(lines) - MOST_WARNINGS
    return [*lines[:MOST_WARNINGS], *([f"{count(more, 'warning')} left out"] if more > 0 else [])]


def junit(check: Check) -> bytes:
    """The check as one file of JUnit XML."""
    listed = cases(check)
    outcomes = Counter(case.outcome for case in listed)
    totals = {
        "tests": str(len(listed)),
        "failures": str(outcomes["failed"]),
        "errors": str(outcomes["error"]),
    }
    root = ET.Element("testsuites", {"name": "archfit", **totals})
    question = f"archfit check --require {','.join(check.required)}" if check.required else "archfit check"
    suite = ET.SubElement(
        root, "testsuite", {"name": question, **totals, "skipped": str(outcomes["skipped"])}
    )
    question = "+".join(check.required) or "placement"  # without a dot, for Jenkins
    for case in listed:
        _add_case(suite, case, f"archfit.{question}")
    if verdict(check):
        ET.SubElement(suite, "system-out").text = visible(verdict(check))
    if _warnings(check):
        ET.SubElement(suite, "system-err").text = "\n".join(_warnings(check))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _add_case(parent: Element, case: Case, classname: str) -> None:
    element = ET.SubElement(parent, "testcase", {"classname": classname, "name": case.name})
    finding = case.finding
    if case.outcome in _ELEMENT:
        attributes = {"type": finding.rule, "message": visible(finding.message + finding.todo)}
        message = ET.SubElement(element, _ELEMENT[case.outcome], attributes)
        if case.outcome != "skipped":
            where = "" if finding.elsewhere or not finding.where else f" ({finding.where})"
            message.text = visible(finding.sentence + note(finding) + where)
    elif finding.message:
        ET.SubElement(element, "system-out").text = visible(finding.message)


def _outcome(finding: Finding) -> Outcome:
    if finding.severity == "error":
        return "error" if finding.rule == "problem" else "failed"
    return "passed" if finding.rule == PASSED else "skipped"


def _name(finding: Finding) -> str:
    place = finding.file or finding.source
    return visible(f"{finding.subject or 'manifests'}{f' ({place})' if place else ''}")
