"""The reports that `--format` asks `archfit check` for: one to standard output, others to files.

    --format sarif                              SARIF to standard output
    --format github --format sarif=web.sarif    workflow commands to standard output, SARIF to the file
    --format gitlab=gl-code-quality.json        text to standard output, the Code Quality report to the file

Paths in reports for code hosts begin at the root of the repository, those for people at the working directory.

github: workflow commands, which GitHub Actions shows beside the lines of a pull request.

    ::error file=web.yaml,line=12,title=archfit placement::apps/v1/Deployment/shop/web spec.template.spec: ...

A message escapes % and LF, and shows CR as what it is; a property escapes ":" and "," too (actions/toolkit,
core/src/command.ts). GitHub shows at most ten errors, ten warnings and ten notices of a step; the others stand in its
log.

gitlab: a Code Quality report, which GitLab shows in a merge request.

    [{"description": "apps/v1/Deployment/shop/web spec.template.spec: archfit would change it: ...",
      "check_name": "archfit/placement",          archfit/ and the rule
      "fingerprint": "6f1c...",                   SHA-256, in hexadecimal; unique in the report
      "severity": "major",                        error: major, warning: minor, info: info
      "location": {"path": "web.yaml", "lines": {"begin": 12}}}]

The fingerprint leaves out the line, so that a finding stays the same one when the text above it grows. A finding about
a whole file begins at line 1, and one without a file has the path `stdin`: GitLab takes none without a place. Source:
GitLab, doc/ci/testing/code_quality.md, "Implement a custom tool", a part of the Code Climate specification.

markdown: GitHub Flavored Markdown, for the summary of a job, a comment, a wiki.

    ## archfit: 1 of 5 pod specs is not as archfit would leave it
    table of what was found ─ problems ─ warnings ─ <details> with what was not looked at

It holds at most 100 rows of each table (`base.markdown_text`). A job summary of GitHub Actions takes 1 MiB.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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


_LONGEST_MESSAGE = 600


def markdown(check: Check) -> bytes:
    """The check for a page that renders Markdown."""
    return "".join(f"{line}\n" for line in _lines(check)).encode()


def _lines(check: Check) -> Iterator[str]:
    yield f"## archfit: {escaped(verdict(check) or 'the check could not be made')}"
    yield from _table(
        ("Object", "Finding", "Place"),
        [(_name(one), one.message, one.where) for one in check.of("placement")],
    )
    searched = any(finding.newer for finding in check.findings)
    yield from _table(
        ("Image", "Does not run on", "It offers", *(("To do",) if searched else ()), "Object", "Place"),
        [
            (
                one.image,
                ", ".join(one.missing),
                "there is no such image" if one.absent else ", ".join(one.offers) or "nothing",
                *((one.newer.advice if one.newer else "",) if searched else ()),
                _name(one) + note(one),
                one.where,
            )
            for one in check.of("required-platform")
        ],
    )  # fmt: skip
    for cause, uses in by_cause(check):
        yield ""
        yield f"### Not known: {escaped(cause)}"
        yield from _table(
            ("Image", "Object", "Place"), [(use.image or "none", _name(use), use.where) for use in uses]
        )
    notices = [one for one in check.of("notice") if one.severity == "warning"]
    for title, found in (("Problems", check.of("problem")), ("Warnings", notices)):
        if found:
            yield ""
            yield f"### {title}"
        yield from _table(
            ("Object", "Message", "Place"), [(_name(one), one.message, one.where) for one in found]
        )
    left_out = check.of("not-checked")
    if left_out:
        yield ""
        yield f"<details><summary>{count(len(left_out), 'pod spec')} not looked at</summary>"
        yield from _table(
            ("Object", "Why", "Place"), [(_name(one), one.message, one.where) for one in left_out]
        )
        yield ""
        yield "</details>"


def _name(finding: Finding) -> str:
    return " ".join(part for part in (str(finding.ref) if finding.ref else "", finding.field) if part)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return table(heads, rows, longest=_LONGEST_MESSAGE)


def _kustomize(check: Check) -> bytes:
    found = updates(check)
    changed = {update.image for update in found}
    kept = [text for text in check.texts if text not in changed]
    return kustomize(found, kept, ", ".join(check.required), counts(check, found))


def _renovate(check: Check) -> bytes:
    found = updates(check)
    return renovate(found, ", ".join(check.required), counts(check, found))


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
        if file:
            _write(file, report)
    standard_streams.write_report(stdout, [reports[""]])


def _from_root(check: Check, files: Collection[str], root: str) -> Check:
    known = {file: from_root(file, root) for file in files if file}
    found, cases = (
        tuple(one.replace(file=known.get(one.file, one.file)) for one in group)
        for group in (check.findings, check.cases)
    )
    return check.replace(findings=found, cases=cases)


def _write(file: str, report: bytes) -> None:
    try:
        replace(file, report)
    except OSError as error:
        raise unwritable("--format", file, error) from None
