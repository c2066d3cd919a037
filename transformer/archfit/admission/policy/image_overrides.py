"""CEL: the overrides of the configuration (`imagePlatforms`), which answer before anything else does.

    statedClasses       the class of each override, by a code
    overrideRanks       by code: how specific it is, and what it states
    matchingOverrides   for each image the codes of the overrides that match, the most specific first
    overrides           for each image the code of the override that counts, '' for none

They are ranked as `images.overrides` does. Where two that match equally well differ, archfit refuses to decide; the
image is unknown then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.admission.policy.cel_text import Variable, literal, rows, text, variable
from archfit.admission.policy.glob_pattern import pattern
from archfit.admission.policy.image_references import NAME
from archfit.admission.policy.platform_table import OfferClass
from archfit.images.overrides import specificity, split_host
from archfit.images.platforms import ImagePlatforms

UNKNOWN = "unknown"


def override_variables(stated: Sequence[tuple[ImagePlatforms, OfferClass]]) -> Iterator[Variable]:
    """See the module; nothing where there are no overrides. stated: each with its class."""
    if not stated:
        return
    order = sorted(stated, key=lambda one: specificity(one[0].pattern), reverse=True)
    ranks = sorted({specificity(row.pattern) for row, _ in stated}, reverse=True)
    coded = [(f"stated {number}", row, offers) for number, (row, offers) in enumerate(order, 1)]
    yield variable(
        "statedClasses",
        "what each of imagePlatforms states, by a code",
        rows((f"{text(code)}: {literal(offers)}" for code, _, offers in coded), "{", "}"),
    )
    yield variable(
        "overrideRanks",
        "how specific each of them is, and what it states",
        rows(
            (
                f"{text(code)}: {literal([str(ranks.index(specificity(row.pattern))), _platforms(row)])}"
                for code, row, _ in coded
            ),
            "{",
            "}",
        ),
    )
    yield variable(
        "matchingOverrides",
        "for each image those of imagePlatforms that match, the most specific first",
        """
        variables.references.map(r, r == '' ? [] :
          %codes.filter(code, code != ''))
        """,
        codes=rows(f"{_matches(row.pattern)} ? {text(code)} : ''" for code, row, _ in coded),
    )
    yield variable(
        "overrides",
        "for each image the code of the one that counts, '' for none; of two that differ none does",
        """
        variables.matchingOverrides.map(codes, codes.size() == 0 ? ''
          : codes.exists(code, variables.overrideRanks[code][0] == variables.overrideRanks[codes[0]][0]
            && variables.overrideRanks[code][1] != variables.overrideRanks[codes[0]][1]) ? %unknown
          : codes[0])
        """,
        unknown=text(UNKNOWN),
    )


def _platforms(row: ImagePlatforms) -> str:
    return ",".join(sorted(set(map(str, row.platforms))))


def _matches(glob: str) -> str:
    """Whether the normalised reference `r` matches."""
    host, rest = split_host(glob)
    expression = text(pattern(rest, literal=host))
    if "@" in glob:
        return f"r.contains('@') && r.matches({expression})"
    if ":" in glob.rpartition("/")[2]:
        return f"!r.contains('@') && r.matches({expression})"
    return f"r.find({NAME}).matches({expression})"
