"""Why the policy leaves a pod alone that archfit decides about: the rows of `LEFT_ALONE`, asked of one pod.

The policy itself asks in CEL and tells nobody. `policy --check` asks here, and names the row's sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from archfit.admission.admitted_pod import AdmittedPod
from archfit.admission.policy.left_alone import LEFT_ALONE, MAX_IMAGES, MAX_TERMS, MAX_VALUES
from archfit.admission.policy.platform_table import SYSTEMS, OfferClass
from archfit.images.overrides import override
from archfit.images.platforms import ARCHITECTURES
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.source.values import mapping_of, text_of
from archfit.workloads.pods import REQUIRED

_LONG = re.compile("[0-9]{19}").search


def reason(admitted: AdmittedPod, options: Options, table: Mapping[str, OfferClass]) -> str:
    """The sentence of the first row that holds, with the images for an unlisted one; "" for none.

    table: of the installed policy.
    """
    unlisted = _unlisted(admitted, options, table)
    if unlisted:
        return f"the policy does not know {', '.join(unlisted)}: renew it with archfit policy"
    for row in LEFT_ALONE:
        test = TESTS.get(row.id)
        if test and test(admitted):
            return row.sentence
    return ""


def _unlisted(admitted: AdmittedPod, options: Options, table: Mapping[str, OfferClass]) -> list[str]:
    return [
        text
        for text in admitted.questions
        if not override(parse(text), options.image_platforms) and parse(text).normalised not in table
    ]


def _too_large(admitted: AdmittedPod) -> bool:
    terms = list(_terms(admitted.pod.spec))
    named = [
        sum(
            len(one.get("values") or ())
            for one in term.get("matchExpressions") or ()
            if one.get("key") in labels
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
    pins = [text_of(value) for key, value in _selector(spec) if key in OS_LABELS]
    asked = [
        text_of(value)
        for expression in _expressions(spec)
        if expression.get("key") in OS_LABELS and expression.get("operator") == "In"
        for value in expression.get("values") or ()
    ]
    own = text_of(mapping_of(spec.get("os")).get("name"))
    return any(system not in SYSTEMS for system in (*pins, *asked, *([own] if own else [])))


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


def _selector(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from mapping_of(spec.get("nodeSelector")).items()


def _terms(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    affinity = mapping_of(mapping_of(spec.get("affinity")).get("nodeAffinity"))
    yield from map(mapping_of, mapping_of(affinity.get(REQUIRED)).get("nodeSelectorTerms") or ())


def _expressions(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for term in _terms(spec):
        yield from term.get("matchExpressions") or ()


TESTS: dict[str, Callable[[AdmittedPod], bool]] = {
    "too-large": _too_large,
    "other-system": _other_system,
    "stated-platforms": _stated_platforms,
    "long-number": _long_number,
}
"""By id of the row; `unlisted-image` needs the table."""
