"""A check as GitHub Flavored Markdown: for the summary of a job, a comment, a wiki.

    ## archfit: 1 of 5 pod specs is not as archfit would leave it
    table of what was found ─ problems ─ warnings ─ <details> with what was not looked at

It holds at most 100 rows of each table (`report.markdown_text`). A job summary of GitHub Actions takes 1 MiB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.printable import count
from archfit.report.check_listing import by_cause, note, verdict
from archfit.report.findings import Check, Finding
from archfit.report.markdown_text import escaped, table

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
    yield from _table(
        ("Image", "Does not run on", "It offers", "Object", "Place"),
        [
            (
                one.image,
                ", ".join(one.missing),
                "there is no such image" if one.absent else ", ".join(one.offers) or "nothing",
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
            ("Image", "Object", "Place"), [(one.image or "none", _name(one), one.where) for one in uses]
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
