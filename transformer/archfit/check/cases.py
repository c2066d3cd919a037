"""A check as test cases, for the formats that are lists of tests: `junit` and `tap`.

    the question      a case is             it is named after
    placement         a pod spec            apps/v1/Deployment/shop/web spec.template.spec (web.yaml)
    --require         an image of a pod     apps/v1/Deployment/shop/web spec...containers[0].image (web.yaml)
    both              what else failed, or  the object, or the input
                      was not looked at

    outcome    what it says
    passed     placement: as archfit would leave it, and each image is known;  --require: the image runs there
    failed     a finding that makes the check exit with 3
    error      a problem: there is no answer, and the check exits with 1
    skipped    nobody looked, or nobody knows, and that fails nothing: a pod that archfit leaves alone, or one for
               another operating system; an image that is not known, with --allow-unknown or without --require

The name has no line, no image and no message, so that it stays the same from run to run: what shows flaky tests
follows a test by its name. Of equal names, each has a number. A list that is empty would pass for one in which
everything is fine, so it has one case, which is skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from archfit.base.patch import dotted
from archfit.base.printable import count, visible
from archfit.base.record import Record
from archfit.base.results import Decision, Severity, has_error
from archfit.check.findings import Check, Finding, Line, of_verdicts, placed
from archfit.images.platforms import Answer, Unasked, Unknown
from archfit.placement.requirement import PlatformCheck, not_known
from archfit.workloads.pods import Pod

Outcome: TypeAlias = Literal["passed", "failed", "error", "skipped"]
PASSED = "passed"
"""The rule of a finding that says that there is none."""
LEFT_ALONE = ("OptedOut", "Unresolved", "Conflict")
"""Outcomes of pods that archfit leaves as they are."""
MOST_CASES = 25_000
MOST_WARNINGS = 100


class Case(Record):
    """One test. name: unique. finding: where it is, and what its message says."""

    name: str
    outcome: Outcome
    finding: Finding


def placement_cases(
    decisions: Iterable[tuple[Pod, Decision, Sequence[Answer]]], name: str, line: Line
) -> Iterator[Finding]:
    """What there is to say of each pod spec where placement is the question. Answers: one for each of its images."""
    for pod, decision, answers in decisions:
        rule, message = PASSED, ""
        severity: Severity = "info"
        if has_error(decision.results):
            errors = [result.message for result in decision.results if result.severity == "error"]
            rule, severity, message = "problem", "error", "; ".join(dict.fromkeys(errors))
        elif decision.outcome == "Change":
            rule, severity, message = "placement", "error", f"archfit would change it: {decision.reason}"
        elif decision.outcome in LEFT_ALONE:
            rule, message = "not-checked", f"archfit leaves it alone: {decision.reason}"
        else:
            unknown = [
                f"{use.text or 'an image'}: {not_known(use, answer).cause}"
                for use, answer in zip(pod.images, answers, strict=True)
                if isinstance(answer, (Unknown, Unasked))
            ]
            if unknown:
                rule, message = (
                    "not-known",
                    "platforms that are not known: " + "; ".join(dict.fromkeys(unknown)),
                )
        finding = Finding(rule, severity, message, pod.ref, dotted(pod.path))
        yield placed(finding, name, pod.location, line(pod, pod.path))


def required_cases(
    verdicts: Iterable[tuple[Pod, PlatformCheck]], name: str, line: Line, *, allowed: bool
) -> Iterator[Finding]:
    """What there is to say of each image of each pod where --require is the question. allowed: --allow-unknown."""
    for pod, verdict in verdicts:
        if has_error(verdict.results):
            errors = [result.message for result in verdict.results if result.severity == "error"]
            problem = Finding("problem", "error", "; ".join(errors), pod.ref, dotted(pod.path))
            yield placed(problem, name, pod.location, line(pod, pod.path))
            continue
        said = [
            one for one in of_verdicts([(pod, verdict)], name, line, allowed=allowed) if one.rule != "notice"
        ]
        if verdict.left_out:
            yield from said
            continue
        by_field = {finding.field: finding for finding in said}
        for use in pod.images:
            field = dotted(use.path)
            stated = "its platforms are stated, nobody was asked" if use.text in verdict.stated else ""
            finding = Finding(PASSED, "info", stated, pod.ref, field, image=use.text or "")
            yield by_field.get(field) or placed(finding, name, pod.location, line(pod, use.path))


def problems(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Those of them that are no notices: what failed before a pod was looked at."""
    return (finding for finding in findings if finding.rule == "problem")


def cases(check: Check) -> list[Case]:
    """The test cases: errors first only where the list is cut, else in the order of the input."""
    found = list(check.cases)
    left_out = len(found) - MOST_CASES
    if left_out > 0:
        order = ["error", "failed", "skipped", "passed"]
        found = sorted(found, key=lambda one: order.index(_outcome(one)))[:MOST_CASES]
        found.append(
            Finding("not-checked", "info", f"{count(left_out, 'test case')} left out, the failed ones last")
        )
    if not found:
        what = "image" if check.required else "pod spec"
        found.append(Finding("not-checked", "info", f"no {what} was looked at"))
    seen: Counter[str] = Counter()
    named = []
    for finding in found:
        name = _name(finding)
        seen[name] += 1
        named.append(Case(name if seen[name] == 1 else f"{name} ({seen[name]})", _outcome(finding), finding))
    return named


def group(check: Check) -> str:
    """What the question was, in a word without a dot: `placement`, `linux/arm64`, `linux/amd64+linux/arm64`."""
    return "+".join(check.required) or "placement"


def message(finding: Finding) -> str:
    """What a case says, on one line: the message, and what to do."""
    todo = f"; {finding.newer.advice}" if finding.newer else ""
    return visible(finding.message + todo)


def warnings(check: Check) -> list[str]:
    """What changes no answer, a line each, at most `MOST_WARNINGS` of them."""
    found = [visible(one.sentence) for one in check.of("notice") if one.severity == "warning"]
    more = len(found) - MOST_WARNINGS
    return [*found[:MOST_WARNINGS], *([f"{count(more, 'warning')} left out"] if more > 0 else [])]


def numbers(found: Iterable[Case]) -> Mapping[Outcome, int]:
    """How many cases have each outcome."""
    return Counter(case.outcome for case in found)


def _outcome(finding: Finding) -> Outcome:
    if finding.severity == "error":
        return "error" if finding.rule == "problem" else "failed"
    return "passed" if finding.rule == PASSED else "skipped"


def _name(finding: Finding) -> str:
    subject = " ".join(part for part in (str(finding.ref) if finding.ref else "", finding.field) if part)
    place = finding.file or finding.source
    return visible(f"{subject or 'manifests'}{f' ({place})' if place else ''}")
