"""Pods that the policy leaves as they are, although archfit itself may decide something for them.

The documentation lists `LEFT_ALONE`, and the tests that compare the policy with `decide` take it from here. A pod that
archfit itself leaves as it is (skip, nodeName, a conflict, an error in it) is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from archfit.base.patch import Add, Operation
from archfit.images.overrides import override
from archfit.images.platforms import ARCHITECTURES
from archfit.images.reference import parse
from archfit.options.placement_fields import REQUIRED, TERM_LIST
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.policy.cel.cel_text import Variable, any_of, cel, choice, text, variables
from archfit.policy.cel.image_answers import IS_UNASKED
from archfit.policy.cel.platform_table import SYSTEMS, OfferClass
from archfit.policy.cel.term_reach import several_systems
from archfit.startup.record import Record
from archfit.webhook.admitted_pod import AdmittedPod
from archfit.yaml.values import mapping_of, text_of

MAX_IMAGES = 250
MAX_TERMS = 250
MAX_VALUES = 400
"""What the API server's budget for CEL is enough for, with references of any length: 1,000,000 for one expression."""


TWO_SYSTEMS = "two-systems"
_LONG = re.compile("[0-9]{19}").search


class LeftAlone(Record):
    """One kind of pod that the policy leaves alone. sentence: what --check prints. condition: CEL.

    holds: the same in Python; None where it needs more than the pod, see `reason`.
    """

    id: str
    sentence: str
    condition: str
    holds: Callable[[AdmittedPod], bool] | None


def _too_large(admitted: AdmittedPod) -> bool:
    terms = list(_terms(admitted.pod.spec))
    named = [
        sum(
            len(expression.get("values") or ())
            for expression in term.get("matchExpressions") or ()
            if expression.get("key") in labels
        )
        for term in terms
        for labels in (ARCH_LABELS, OS_LABELS)
    ]
    return (
        len(admitted.pod.images) > MAX_IMAGES
        or len(terms) > MAX_TERMS
        or sum(count * count for count in named) > MAX_VALUES * MAX_VALUES
    )


def _other_system(admitted: AdmittedPod) -> bool:
    spec = admitted.pod.spec
    selector = mapping_of(spec.get("nodeSelector"))
    systems = [text_of(value) for key, value in selector.items() if key in OS_LABELS]
    systems += [
        text_of(value)
        for expression in _expressions(spec)
        if expression.get("key") in OS_LABELS and expression.get("operator") == "In"
        for value in expression.get("values") or ()
    ]
    own = text_of(mapping_of(spec.get("os")).get("name"))
    return any(system not in SYSTEMS for system in systems) or own not in ("", *SYSTEMS)


def _stated_platforms(admitted: AdmittedPod) -> bool:
    return any(
        platform.os not in SYSTEMS or platform.architecture not in ARCHITECTURES or platform.variant
        for platform in admitted.own.platforms or ()
    )


def _long_number(admitted: AdmittedPod) -> bool:
    return any(
        expression.get("key") in ARCH_LABELS | OS_LABELS and _LONG(text_of(value))
        for expression in _expressions(admitted.pod.spec)
        for value in expression.get("values") or ()
    )


def _terms(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    affinity = mapping_of(mapping_of(spec.get("affinity")).get("nodeAffinity"))
    yield from map(mapping_of, mapping_of(affinity.get(REQUIRED)).get("nodeSelectorTerms") or ())


def _expressions(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for term in _terms(spec):
        yield from term.get("matchExpressions") or ()


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
        _too_large,
    ),
    LeftAlone(
        "unlisted-image",
        "No image of the pod is in the lock file or covered by `imagePlatforms`. The policy cannot ask a registry.",
        "variables.knowsNone",
        None,
    ),
    LeftAlone(
        "other-system",
        "The pod asks for nodes of an operating system that is neither `linux` nor `windows`.",
        """
        !variables.unconstrained && variables.osPins.exists(pin, !(pin in ['linux', 'windows']))
        || variables.hasTerms && variables.osRequirements.exists(asked, asked.exists(e,
          e.operator == 'In' && e.values.exists(os, !(os in ['linux', 'windows']))))
        """,
        _other_system,
    ),
    LeftAlone(
        TWO_SYSTEMS,
        "The pod names no operating system, and its images run on other architectures of Linux than of Windows: "
        "archfit writes a term for each.",
        "variables.twoSystems",
        None,
    ),
    LeftAlone(
        "stated-platforms",
        "The annotation `archfit.dev/image-platforms` names a platform that is neither of Linux nor of Windows, or one "
        "with an architecture or variant that the policy does not know.",
        "variables.platformsStated && variables.wordOffers.exists(offer, offer == ['?'])",
        _stated_platforms,
    ),
    LeftAlone(
        "long-number",
        "A required term names a number of more than 18 digits as an architecture or operating system.",
        """
        variables.hasTerms
        && (variables.archRequirements + variables.osRequirements).exists(asked, asked.exists(e,
          has(e.values) && e.values.exists(value, value.matches('[0-9]{19}'))))
        """,
        _long_number,
    ),
)


def left_alone_variables(options: Options) -> Iterator[Variable]:
    """Whether the policy decides for the pod, and whether no node can run it."""
    faults = ["variables.faultyAnnotations", *([IS_UNASKED] if options.strict else [])]
    cases = (
        (cel(row.condition), f"[{text(row.id)}]")
        for row in LEFT_ALONE
        if row.id != TWO_SYSTEMS or several_systems(options)
    )
    return variables(
        """
        leftAlone: why the policy does not decide for the pod
          %chain

        decided: the policy decides for the pod
          variables.leftAlone.size() == 0 && !(%faults)

        conflict: no node that the pod allows runs all its images
          variables.decided && !variables.live.exists(live, live.size() > 0)
        """,
        chain=choice(cases, "[]"),
        faults=any_of(faults),
    )


def reason(
    admitted: AdmittedPod, options: Options, table: Mapping[str, OfferClass], patch: Iterable[Operation]
) -> str:
    """The sentence of the first row that holds, with the images for an unlisted one; "" for none.

    table: of the installed policy. patch: of archfit's decision.
    """
    unlisted = [
        text
        for text in admitted.questions
        if not override(parse(text), options.image_platforms) and parse(text).normalised not in table
    ]
    if unlisted:
        return f"the policy does not know {', '.join(unlisted)}: renew it with archfit policy"
    two_systems = _terms_created([step.value for step in patch if isinstance(step, Add)]) > 1
    for row in LEFT_ALONE:
        holds = row.holds(admitted) if row.holds else row.id == TWO_SYSTEMS and two_systems
        if holds:
            return row.sentence
    return ""


def _terms_created(value: object) -> int:
    """How many required terms a part of a patch creates at once."""
    if isinstance(value, dict):
        return len(value.get(TERM_LIST, ())) or _terms_created(list(value.values()))
    return max(map(_terms_created, value), default=0) if isinstance(value, list) else 0
