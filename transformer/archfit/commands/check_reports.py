"""The reports that `--format` asks `archfit check` for: one to standard output, others to files.

    --format sarif                              SARIF to standard output
    --format github --format sarif=web.sarif    workflow commands to standard output, SARIF to the file
    --format gitlab=gl-code-quality.json        text to standard output, the Code Quality report to the file

Code hosts take paths from the root of the repository, people from where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import BinaryIO, TypeAlias

from archfit import standard_streams
from archfit.errors import UsageError
from archfit.files import replace, unwritable
from archfit.manifest_files.repository_paths import from_root, repository_root
from archfit.report import check_listing, check_markdown, github, gitlab, sarif
from archfit.report.findings import Check
from archfit.spelling import refused

Render: TypeAlias = Callable[[Check], bytes]
FORMATS: Mapping[str, Render] = {
    "text": check_listing.text,
    "json": check_listing.as_json,
    "github": github.commands,
    "gitlab": gitlab.code_quality,
    "sarif": sarif.log,
    "markdown": check_markdown.markdown,
}
_OF_CODE_HOSTS = {"github", "gitlab", "sarif"}


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
    found = tuple(one.replace(file=known.get(one.file, one.file)) for one in check.findings)
    return check.replace(findings=found)


def _write(file: str, report: bytes) -> None:
    try:
        replace(file, report)
    except OSError as error:
        raise unwritable("--format", file, error) from None
