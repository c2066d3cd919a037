"""Pods for which archfit may decide something and the policy does not: it leaves them as they are, and never guesses.

The documentation lists `LEFT_ALONE`, and the tests that compare the policy with `decide` take it from here. A pod that
archfit leaves as it is (skip, nodeName, a conflict, an error in it) is none of these.
"""

from __future__ import annotations

from archfit.admission.policy.cel_text import any_of, cel, rows, text
from archfit.admission.policy.image_answers import Variables
from archfit.options.settings import Options
from archfit.record import Record


class LeftAlone(Record):
    """One kind of pod that the policy leaves alone. sentence: for the documentation. condition: CEL."""

    id: str
    sentence: str
    condition: str


LEFT_ALONE = (
    LeftAlone(
        "unlisted-image",
        "An image is neither in the lock file nor covered by `imagePlatforms`. The policy cannot ask a registry.",
        "!variables.known",
    ),
    LeftAlone(
        "other-system",
        "The pod asks for nodes of an operating system that is neither `linux` nor `windows`.",
        cel(
            """
            variables.osPins.exists(pin, !(pin in ['linux', 'windows']))
            || variables.osRequirements.exists(asked, asked.exists(e,
              e.operator == 'In' && e.values.exists(os, !(os in ['linux', 'windows']))))
            """
        ),
    ),
    LeftAlone(
        "stated-platforms",
        "The annotation `archfit.dev/image-platforms` names a platform that is neither of Linux nor of Windows, or one "
        "with an architecture or variant that the policy does not know.",
        "variables.wordOffers.exists(offer, offer == ['?'])",
    ),
    LeftAlone(
        "long-number",
        "A required term names a number of more than 18 digits as an architecture or operating system.",
        cel(
            """
            (variables.archRequirements + variables.osRequirements).exists(asked, asked.exists(e,
              has(e.values) && e.values.exists(value, value.matches('[0-9]{19}'))))
            """
        ),
    ),
)


def left_alone_variables(options: Options) -> Variables:
    """leftAlone, the ids that hold for the pod; decided, whether the policy decides for it."""
    yield (
        "leftAlone",
        cel(
            "%rows.filter(id, id != '')",
            rows=rows(
                f"{one.condition.join('()') if '||' in one.condition else one.condition} ? {text(one.id)} : ''"
                for one in LEFT_ALONE
            ),
        ),
    )
    faults = [
        "variables.faultyAnnotations",
        "variables.platformsStated && !variables.wordOffers.exists(offer, offer.size() > 0)",
    ]
    if options.strict:
        faults.append("variables.unasked")
    yield "decided", f"variables.leftAlone.size() == 0 && !({any_of(faults)})"
    yield "conflict", "variables.decided && !variables.live.exists(live, live.size() > 0)"
