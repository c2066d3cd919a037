"""What `--newer-tags` adds to a check of --require: the nearest tag of each image that lacks a platform.

A tag that can take the image's place becomes an edit where the image's whole text stands once on its line of a file, so
that a code host can offer it (SARIF's `fixes`). An image that values make of several parts has no such place. It is a
hint: no verdict and no exit code depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.base.printable import count
from archfit.check.findings import Check, Finding
from archfit.images.platforms import Answer, Found, Platform
from archfit.reports.tag_updates import TagUpdate
from archfit.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.images.candidates import NewerTags


def newer_of(
    findings: Iterable[Finding], answers: Mapping[str, Answer], required: Sequence[Platform], run: Run
) -> dict[str, NewerTags]:
    """What was found for the images that lack a platform, by their text."""
    lacking: dict[str, Found] = {}
    for finding in findings:
        answer = answers.get(finding.image)
        if finding.rule == "required-platform" and isinstance(answer, Found):
            lacking[finding.image] = answer
    return run.newer_tags(lacking, required)


def with_newer(
    findings: Iterable[Finding], newer: Mapping[str, NewerTags], files: Mapping[str, Sequence[bytes]]
) -> tuple[Finding, ...]:
    """The findings, those of lacking images with what was found. files: the lines of each input that has a name."""
    return tuple(
        finding.replace(newer=newer[finding.image], column=_column(finding, files.get(finding.file, ())))
        if finding.rule == "required-platform" and finding.image in newer
        else finding
        for finding in findings
    )


def _column(finding: Finding, lines: Sequence[bytes]) -> int:
    """Where the image stands on its line, 0 where it does not stand there once, as a whole."""
    if not 0 < finding.line <= len(lines):
        return 0
    line = lines[finding.line - 1].decode(errors="replace").removeprefix("\ufeff")
    before, image, after = line.partition(finding.image)
    if not image or finding.image in after or _goes_on(before[-1:]) or _goes_on(after[:1]):
        return 0
    return len(before) + 1


def _goes_on(character: str) -> bool:
    return character.isalnum() or (bool(character) and character in "/.:@_-$}")


def updates(check: Check) -> list[TagUpdate]:
    """The images of the check that have a version which was read, each once: neither siblings nor `latest`."""
    versions = {
        finding.image: newer
        for finding in check.of("required-platform")
        for newer in (finding.newer.tags if finding.newer else ())
        if newer.replaces
    }
    return [TagUpdate(image, versions[image]) for image in sorted(versions)]


def counts(check: Check, newer: Sequence[TagUpdate]) -> str:
    """How many of the images that lack a platform have such a version, and how many were not asked for."""
    images = {use.image: bool(use.newer and use.newer.searched) for use in check.of("required-platform")}
    searched = sum(images.values())
    words = f"{len(newer)} of {count(searched, 'image')} {'has' if len(newer) == 1 else 'have'} one"
    return f"{words}; {len(images) - searched} not asked" if len(images) > searched else words
