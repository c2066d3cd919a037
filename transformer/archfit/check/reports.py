"""The reports that `--format` asks `archfit check` for: one to standard output, others to files.

Paths in reports for code hosts begin at the root of the repository, those for people at the working directory.

github: workflow commands, escaped as actions/toolkit does (core/src/command.ts). GitHub shows at most ten errors, ten
warnings and ten notices of a step; the others stand in its log.

gitlab: a Code Quality report. A finding about a whole file begins at line 1, and one without a file has the path
`stdin`: GitLab takes none without a place. Source: GitLab, doc/ci/testing/code_quality.md, "Implement a custom tool", a
part of the Code Climate specification.

markdown: at most 100 rows of each table (`base.markdown_text`). A job summary of GitHub Actions takes 1 MiB.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, TypeAlias

from archfit.base import standard_streams
from archfit.base.errors import UsageError
from archfit.base.files import replace, unwritable
from archfit.base.markdown_text import escaped, table
from archfit.base.printable import count, lines, visible
from archfit.base.spelling import refused
from archfit.check import listing as check_listing
from archfit.check import sarif
from archfit.check.findings import Check, Finding, fingerprints
from archfit.check.junit import junit
from archfit.check.listing import by_cause, note, verdict
from archfit.check.newer_tags import counts, updates
from archfit.check.source_roots import from_root, repository_root
from archfit.reports.tag_updates import kustomize, renovate
from archfit.yaml.json_output import json_output

_COMMAND = {"error": "error", "warning": "warning", "info": "notice"}


def commands(check: Check) -> bytes:
    """One line for each finding worth showing, errors first; with --require the numbers at the end, for the log."""
    order = list(_COMMAND)
    listing = [_command(each) for each in sorted(check.shown, key=lambda each: order.index(each.severity))]
    if check.required and verdict(check):
        listing.append(verdict(check))  # in the log; a notice would stand beside each check that passes
    return "".join(f"{line}\n" for line in listing).encode()


def _command(finding: Finding) -> str:
    properties = {
        "file": finding.file,
        "line": str(finding.line) if finding.exact else "",
        "title": f"archfit {finding.rule}",
    }
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{_COMMAND[finding.severity]} {written}::{_message(finding.sentence)}"


def _message(text: str) -> str:
    return lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


_SEVERITY = {"error": "major", "warning": "minor", "info": "info"}


def code_quality(check: Check) -> bytes:
    """The report, an empty list where nothing was found. With --require the last issue has the numbers."""
    shown = check.shown
    issues = [_issue(*pair) for pair in zip(shown, fingerprints(shown), strict=True)]
    if (check.lacking or check.of("not-known")) and verdict(check):
        summary = Finding("summary", "info", verdict(check))
        issues.append(_issue(summary, fingerprints([summary])[0]))
    return json_output(issues)


def _issue(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": visible(finding.sentence),
        "check_name": f"archfit/{finding.rule}",
        "fingerprint": fingerprint,
        "severity": _SEVERITY[finding.severity],
        "location": {
            "path": finding.artifact.encode(errors="backslashreplace").decode(),
            "lines": {"begin": finding.line or 1},
        },
    }


_table = partial(table, longest=600)


def markdown(check: Check) -> bytes:
    """The check for a page that renders Markdown."""
    return "".join(f"{line}\n" for line in _lines(check)).encode()


def _lines(check: Check) -> Iterator[str]:
    yield f"## archfit: {escaped(verdict(check) or 'the check could not be made')}"
    yield from _about(check.of("placement"), "Finding")
    searched = any(finding.newer for finding in check.findings)
    yield from _table(
        ("Image", "Does not run on", "It offers", *(("To do",) if searched else ()), "Object", "Place"),
        [
            (
                use.image,
                ", ".join(use.missing),
                "there is no such image"
                if use.absent
                else "; ".join(filter(None, (", ".join(use.offers) or "nothing", use.not_there, use.programs))),
                *((use.newer.advice if use.newer else "",) if searched else ()),
                use.subject + note(use),
                use.where,
            )
            for use in check.of("required-platform")
        ],
    )  # fmt: skip
    for cause, uses in by_cause(check):
        yield ""
        yield f"### Not known: {escaped(cause)}"
        yield from _table(
            ("Image", "Object", "Place"), [(use.image or "none", use.subject, use.where) for use in uses]
        )
    notices = [notice for notice in check.of("notice") if notice.severity == "warning"]
    for title, findings in (("Problems", check.of("problem")), ("Warnings", notices)):
        if findings:
            yield ""
            yield f"### {title}"
        yield from _about(findings, "Message")
    for rule, what in (("not-checked", "pod spec not looked at"), ("not-read", "program not read")):
        if left_out := check.of(rule):
            number, _, words = what.partition(" not ")
            yield ""
            yield f"<details><summary>{count(len(left_out), number)} not {words}</summary>"
            yield from _about(left_out, "Why")
            yield ""
            yield "</details>"


def _about(findings: Iterable[Finding], head: str) -> Iterator[str]:
    rows = [(finding.subject, finding.message, finding.where) for finding in findings]
    return _table(("Object", head, "Place"), rows)


def _kustomize(check: Check) -> bytes:
    newer = updates(check)
    changed = {update.image for update in newer}
    kept = [text for text in check.texts if text not in changed]
    return kustomize(newer, kept, ", ".join(check.required), counts(check, newer))


def _renovate(check: Check) -> bytes:
    newer = updates(check)
    return renovate(newer, ", ".join(check.required), counts(check, newer))


Render: TypeAlias = Callable[[Check], bytes]
FORMATS: Mapping[str, Render] = {
    "text": check_listing.text,
    "json": check_listing.as_json,
    "github": commands,
    "gitlab": code_quality,
    "sarif": sarif.log,
    "markdown": markdown,
    "junit": junit,
    "kustomize": _kustomize,
    "renovate": _renovate,
}
UPDATES = ("kustomize", "renovate")
"""The formats that are for programs which change images."""
_OF_CODE_HOSTS = {"github", "gitlab", "sarif", "junit"}


def report_places(words: Sequence[str]) -> dict[str, str]:
    """The format for each file, "" for standard output. Raises UsageError."""
    places: dict[str, str] = {}
    for word in words:
        form, equals, file = word.partition("=")
        if form not in FORMATS:
            raise UsageError(f"--format: {refused(form, FORMATS)}")
        if equals and not file:
            raise UsageError(f"--format: {word!r} names no file: write {form}=FILE")
        if file in places:
            what = f"the file {file!r}" if file else "standard output"
            raise UsageError(f"--format: {what} takes one report: write {form}=FILE with another file")
        places[file] = form
    return places if "" in places else {"": "text", **places}


def write_reports(places: Mapping[str, str], check: Check, files: Collection[str], stdout: BinaryIO) -> None:
    """Write all reports, standard output last. Raises ArchfitError.

    files: those of the findings' files that are paths from the working directory.
    """
    root = repository_root() if _OF_CODE_HOSTS & set(places.values()) else ""
    hosted = _from_root(check, files, root) if root else check
    reports = {
        file: FORMATS[form](hosted if form in _OF_CODE_HOSTS else check) for file, form in places.items()
    }
    for file, report in reports.items():
        try:
            if file:
                replace(file, report)
        except OSError as error:
            raise unwritable("--format", file, error) from None
    standard_streams.write_report(stdout, [reports[""]])


def _from_root(check: Check, files: Collection[str], root: str) -> Check:
    known = {file: from_root(file, root) for file in files if file}
    return check.of_each(
        lambda findings: (each.replace(file=known.get(each.file, each.file)) for each in findings)
    )
