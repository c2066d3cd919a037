"""Pods for which archfit may decide something and the policy does not: it leaves them as they are, and never guesses.

The documentation lists `LEFT_ALONE`, and the tests that compare the policy with `decide` take it from here. A pod that
archfit itself leaves as it is (skip, nodeName, a conflict, an error in it) is none of these.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.admission.policy.cel_text import Variable, any_of, cel, choice, text, variable
from archfit.admission.policy.recorded_entries import foreign_variables
from archfit.options.settings import Options
from archfit.record import Record

MAX_IMAGES = 250
MAX_TERMS = 250
MAX_VALUES = 400
"""What the API server's budget for CEL is enough for, with references of any length: 1,000,000 for one expression."""


class LeftAlone(Record):
    """One kind of pod that the policy leaves alone. sentence: for the documentation. condition: CEL."""

    id: str
    sentence: str
    condition: str


LEFT_ALONE = (
    LeftAlone(
        "too-large",
        f"The pod has more than {MAX_IMAGES} images or {MAX_TERMS} required terms, or its terms name more than "
        f"{MAX_VALUES} architectures. CEL has a budget, and the API server may end an expression that costs more.",
        cel(
            """
            variables.imageUses.size() > %images || variables.hasTerms && (variables.terms.size() > %terms
              || (variables.archRequirements + variables.osRequirements)
                .map(asked, asked.map(e, has(e.values) ? e.values.size() : 0).sum())
                .map(values, values * values).sum() > %values)
            """,
            images=str(MAX_IMAGES),
            terms=str(MAX_TERMS),
            values=str(MAX_VALUES * MAX_VALUES),
        ),
    ),
    LeftAlone(
        "unlisted-image",
        "An image is neither in the lock file nor covered by `imagePlatforms`. The policy cannot ask a registry.",
        "variables.unknownImages.size() > 0",
    ),
    LeftAlone(
        "other-system",
        "The pod asks for nodes of an operating system that is neither `linux` nor `windows`.",
        cel(
            """
            !variables.unconstrained && variables.osPins.exists(pin, !(pin in ['linux', 'windows']))
            || variables.hasTerms && variables.osRequirements.exists(asked, asked.exists(e,
              e.operator == 'In' && e.values.exists(os, !(os in ['linux', 'windows']))))
            """
        ),
    ),
    LeftAlone(
        "stated-platforms",
        "The annotation `archfit.dev/image-platforms` names a platform that is neither of Linux nor of Windows, or one "
        "with an architecture or variant that the policy does not know.",
        "variables.platformsStated && variables.wordOffers.exists(offer, offer == ['?'])",
    ),
    LeftAlone(
        "long-number",
        "A required term names a number of more than 18 digits as an architecture or operating system.",
        cel(
            """
            variables.hasTerms
            && (variables.archRequirements + variables.osRequirements).exists(asked, asked.exists(e,
              has(e.values) && e.values.exists(value, value.matches('[0-9]{19}'))))
            """
        ),
    ),
)


def left_alone_variables(options: Options) -> Iterator[Variable]:
    """leftAlone, requestedRecord, foreignRecord, decided, conflict."""
    yield variable(
        "leftAlone",
        "why the policy does not decide for the pod",
        """
        %chain
        """,
        chain=choice(((one.condition, f"[{text(one.id)}]") for one in LEFT_ALONE), "[]"),
    )
    faults = ["variables.faultyAnnotations", *(["variables.unasked"] if options.strict else [])]
    nowhere = "!variables.live.exists(live, live.size() > 0)"
    yield from foreign_variables(any_of(["variables.leftAlone.size() > 0", *faults, nowhere]))
    yield variable(
        "decided",
        "the policy decides for the pod",
        "variables.leftAlone.size() == 0 && !(%faults)",
        faults=any_of([*faults, "variables.foreignRecord"]),
    )
    yield variable(
        "conflict",
        "no node that the pod allows runs all its images",
        f"variables.decided && {nowhere}",
    )
