"""CEL: the overrides of the configuration (`imagePlatforms`), which answer before anything else does.

    statedClasses    the class of each override
    overrides        for each image the code of the override that counts, '' for none

They stand in the order of their rank (`images.overrides`), so that the first that matches counts. Where two that match
equally well differ, archfit refuses to decide; the image is unknown then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from archfit.admission.policy.cel_text import Variable, any_of, choice, literal, rows, text, variable
from archfit.admission.policy.glob_pattern import pattern
from archfit.admission.policy.image_references import NAME
from archfit.admission.policy.platform_table import OfferClass
from archfit.images.overrides import specificity, split_host
from archfit.images.platforms import ImagePlatforms

UNKNOWN = "unknown"


def override_variables(stated: Sequence[tuple[ImagePlatforms, OfferClass]]) -> Iterator[Variable]:
    """statedClasses, overrides; nothing where there are no overrides. stated: each with its class."""
    if not stated:
        return
    coded = [(f"stated {number}", row, offers) for number, (row, offers) in enumerate(stated, 1)]
    yield variable(
        "statedClasses",
        "what each of imagePlatforms states, by a code",
        "%classes",
        classes=rows((f"{text(code)}: {literal(offers)}" for code, _, offers in coded), "{", "}"),
    )
    yield variable(
        "overrides",
        "for each image the code of the entry of imagePlatforms that counts, '' for none",
        """
        variables.references.map(r,
          %chain)
        """,
        chain=choice([("r == ''", "''"), *_cases([(code, row) for code, row, _ in coded])], "''"),
    )


def _cases(coded: Sequence[tuple[str, ImagePlatforms]]) -> Iterator[tuple[str, str]]:
    ranked = sorted(coded, key=lambda one: specificity(one[1].pattern), reverse=True)
    for _, group in groupby(ranked, key=lambda one: specificity(one[1].pattern)):
        equal = list(group)
        for code, row in equal:
            others = [other for _, other in equal if set(other.platforms) != set(row.platforms)]
            if others:
                clash = any_of(_matches(other.pattern) for other in others)
                yield f"({_matches(row.pattern)}) && ({clash})", text(UNKNOWN)
            yield _matches(row.pattern), text(code)


def _matches(glob: str) -> str:
    """Whether the normalised reference `r` matches."""
    host, rest = split_host(glob)
    expression = text(pattern(rest, literal=host))
    if "@" in glob:
        return f"r.contains('@') && r.matches({expression})"
    if ":" in glob.rpartition("/")[2]:
        return f"!r.contains('@') && r.matches({expression})"
    return f"r.find({NAME}).matches({expression})"
