"""What the images of an audit start, on the architectures in question."""

from __future__ import annotations

from collections.abc import Sequence

from archfit.audit.facts import AuditFacts, ImageFacts
from archfit.images.platforms import Found, Platform, parse_platform
from archfit.lookup.image_programs import image_programs
from archfit.lookup.lookup import Lookup
from archfit.programs.program import ProgramsOf
from archfit.programs.start import Start

_NOT_KNOWN = Start(unread="the input does not say what its containers start: make the report with --programs")
_ORDER = ("wrong", "unread", "right")


def with_programs(facts: AuditFacts, lookup: Lookup, architectures: Sequence[str]) -> AuditFacts:
    """The facts with the programs of images that are known; of several in one image the worst counts."""
    mounted = {use.reference for each in facts.workloads for use in each.images if use.role == "volume"}
    starts_of = {
        image.reference: image.starts or ((_NOT_KNOWN,) if image.reference not in mounted else ())
        for image in facts.images
        if image.answer == "Found" and image.origin != "override"
    }
    answers = {image.reference: _answer(image) for image in facts.images if image.reference in starts_of}
    uses = [(name, answers[name], start) for name, starts in starts_of.items() for start in starts]
    read = image_programs(lookup, uses, architectures)
    return facts.replace(
        images=tuple(
            image.replace(programs=_judged(image.reference, starts_of[image.reference], read, architectures))
            if image.reference in starts_of
            else image
            for image in facts.images
        )
    )


def _judged(
    reference: str, starts: Sequence[Start], read: ProgramsOf, architectures: Sequence[str]
) -> tuple[tuple[str, str, str], ...]:
    rows = []
    for architecture in architectures:
        verdicts = [read(reference, Platform("linux", architecture), start) for start in starts]
        known = sorted(filter(None, verdicts), key=lambda verdict: _ORDER.index(verdict.state))
        rows += [(architecture, verdict.state, verdict.words) for verdict in known[:1]]
    return tuple(rows)


def _answer(image: ImageFacts) -> Found:
    platforms = tuple(map(parse_platform, image.platforms))
    return Found(platforms, image.digest, image.kind == "index", image.kind != "artifact", image.origin)
