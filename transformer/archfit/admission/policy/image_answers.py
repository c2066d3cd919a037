"""CEL: the images of a pod, their normalised references, and what the table answers for each.

    imageUses        every place that names an image: its role, text and pull policy
    references       the text as `images.reference` normalises it, '' where it is no reference
    answers          code of a class, or
                       unasked     nobody can say: empty, a placeholder, never pulled, Istio's `auto`
                       unknown     the table lacks it, or no node could pull it
    unknownImages    the texts that keep the pod from being decided
    restrictions     the classes of the images that restrict the pod

The annotation archfit.dev/image-platforms answers for every image. An override of the configuration (`imagePlatforms`)
is looked for before anything else; they stand here by rank, so that the first that matches is the one that counts.
Of two that match equally well and differ, the image is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from archfit.admission.policy.cel_text import any_of, cel, choice, literal, rows, text
from archfit.admission.policy.glob_pattern import pattern, quoted
from archfit.admission.policy.platform_table import CONTAINER, RUNTIME_CLASS, VOLUME, OfferClass
from archfit.images.overrides import specificity, split_host
from archfit.images.platforms import ImagePlatforms
from archfit.images.reference import (
    DIGEST,
    HOST,
    HUB,
    HUB_INDEX,
    IDENTIFIER,
    MAX_PATH,
    PATH,
    PLACEHOLDERS,
    TAG,
)
from archfit.placement.questions import ISTIO_INJECT, ISTIO_REVISION, ISTIO_TEMPLATES
from archfit.typing_names import TypeAlias

Variables: TypeAlias = "Iterator[tuple[str, str]]"

UNASKED, UNKNOWN = "unasked", "unknown"
_NAME = "^[^/]+/[^:@]+"


def reference_variables() -> Variables:
    """imageUses, references."""
    yield (
        "imageUses",
        cel(
            """
        object.spec.containers.map(c, {
          'role': %container + variables.runtimeClass,
          'image': has(c.image) ? string(c.image) : '',
          'pull': has(c.imagePullPolicy) ? string(c.imagePullPolicy) : ''})
        + (has(object.spec.initContainers) ? object.spec.initContainers.map(c, {
          'role': %container + variables.runtimeClass,
          'image': has(c.image) ? string(c.image) : '',
          'pull': has(c.imagePullPolicy) ? string(c.imagePullPolicy) : ''}) : [])
        + (has(object.spec.volumes) ? object.spec.volumes.filter(v, has(v.image)).map(v, {
          'role': %volume + variables.runtimeClass,
          'image': has(v.image.reference) ? string(v.image.reference) : '',
          'pull': has(v.image.pullPolicy) ? string(v.image.pullPolicy) : ''}) : [])
        """,
            container=text(CONTAINER),
            volume=text(VOLUME),
        ),
    )
    yield (
        "references",
        cel(
            """
        variables.imageUses
          .map(use, use.image.matches(%identifier) ? '' : use.image)
          // the first segment is a host, or the host is Docker Hub
          .map(r, r.matches('^(?:localhost|[^/]*[.:A-Z][^/]*)/') ? r : %hub + r)
          .map(r, r.startsWith(%index) ? %hub + r.substring(%index_length) : r)
          .map(r, r.matches(%official) ? %hub + 'library/' + r.substring(%hub_length) : r)
          // what the grammar refuses
          .map(r, r.matches(%grammar) && r.matches(%length) ? r : '')
          // a digest makes the tag meaningless, and a missing tag is `latest`
          .map(r, r.contains('@') ? r.find(%name) + r.substring(r.indexOf('@'))
            : r.matches('^[^/]+/[^:]+$') ? r + ':latest' : r)
        """,
            identifier=text(f"^{IDENTIFIER}$"),
            hub=text(f"{HUB}/"),
            hub_length=str(len(HUB) + 1),
            official=text(f"^{quoted(HUB)}/[^/]*$"),
            index=text(f"{HUB_INDEX}/"),
            index_length=str(len(HUB_INDEX) + 1),
            grammar=text(f"^{HOST}/{PATH}(?::{TAG})?(?:@(?:{DIGEST}))?$"),
            length=text(f"^[^/]+/[^:@]{{1,{MAX_PATH}}}(?:[:@].*)?$"),
            name=text(_NAME),
        ),
    )


def override_variables(stated: Sequence[tuple[ImagePlatforms, OfferClass]]) -> Variables:
    """statedClasses, overrides: only for a configuration that has `imagePlatforms`. stated: each with its class."""
    if not stated:
        return
    coded = [(f"stated {number}", row, offers) for number, (row, offers) in enumerate(stated, 1)]
    yield "statedClasses", rows((f"{text(code)}: {literal(offers)}" for code, _, offers in coded), "{", "}")
    ranked = sorted(coded, key=lambda one: specificity(one[1].pattern), reverse=True)
    cases = []
    for _, group in groupby(ranked, key=lambda one: specificity(one[1].pattern)):
        equal = list(group)
        for code, row, _ in equal:
            others = [other for _, other, _ in equal if set(other.platforms) != set(row.platforms)]
            if others:
                clash = (
                    f"({_matches(row.pattern)}) && ({any_of(_matches(other.pattern) for other in others)})"
                )
                cases.append((clash, text(UNKNOWN)))
            cases.append((_matches(row.pattern), text(code)))
    yield (
        "overrides",
        cel(
            """
        variables.references.map(r,
          %chain)
        """,
            chain=choice([("r == ''", "''"), *cases], "''"),
        ),
    )


def _matches(glob: str) -> str:
    host, rest = split_host(glob)
    expression = text(pattern(rest, literal=host))
    if "@" in glob:
        return f"r.contains('@') && r.matches({expression})"
    if ":" in glob.rpartition("/")[2]:
        return f"!r.contains('@') && r.matches({expression})"
    return f"r.find({text(_NAME)}).matches({expression})"


def answer_variables(lookups: Sequence[str], classes: str, *, overridden: bool) -> Variables:
    """istioInjected, answers, unknownImages, .., restrictions.

    lookups: the mappings that hold the images. classes: the mapping that holds the classes.
    """
    yield (
        "istioInjected",
        cel(
            """
        !(%inject in variables.labels && variables.labels[%inject] == 'false')
        && !(%inject in variables.annotations && variables.annotations[%inject] == 'false')
        && (%templates in variables.annotations || %revision in variables.annotations || %revision in variables.labels
          || %inject in variables.labels && variables.labels[%inject] == 'true'
          || %inject in variables.annotations && variables.annotations[%inject] == 'true')
        """,
            inject=text(ISTIO_INJECT),
            templates=text(ISTIO_TEMPLATES),
            revision=text(ISTIO_REVISION),
        ),
    )
    found = [(f"variables.references[i] in {one}", f"{one}[variables.references[i]]") for one in lookups]
    yield (
        "answers",
        cel(
            """
        variables.imageUses.transformList(i, use,
          %chain)
        """,
            chain=choice(
                (
                    ("use.image == ''", text(UNASKED)),
                    (
                        "variables.references[i] == ''",
                        f"({literal(PLACEHOLDERS)}.exists(mark, use.image.contains(mark)) ? '{UNASKED}' : '{UNKNOWN}')",
                    ),
                    *([("variables.overrides[i] != ''", "variables.overrides[i]")] if overridden else []),
                    ("use.pull == 'Never' || use.image == 'auto' && variables.istioInjected", text(UNASKED)),
                    *found,
                ),
                text(UNKNOWN),
            ),
        ),
    )
    of_use = f"{classes}[variables.answers[i]]"
    if overridden:
        stated = "variables.statedClasses"
        of_use = f"(variables.answers[i] in {stated} ? {stated}[variables.answers[i]] : {of_use})"
    yield (
        "answerClasses",
        cel(
            """
        variables.imageUses.transformList(i, use,
          variables.answers[i] in [%unasked, %unknown] ? {'unrestricted': [use.role]} : %of_use)
        """,
            unasked=text(UNASKED),
            unknown=text(UNKNOWN),
            of_use=of_use,
        ),
    )
    yield (
        "unknownImages",
        cel(
            """
        variables.platformsStated ? [] : variables.imageUses.transformList(i, use,
          variables.answers[i] == %unknown
            || has(variables.answerClasses[i].unanswered) && use.role in variables.answerClasses[i].unanswered,
          use.image)
        """,
            unknown=text(UNKNOWN),
        ),
    )
    yield "known", "variables.unknownImages.size() == 0"
    yield (
        "unasked",
        f"!variables.platformsStated && variables.answers.exists(answer, answer == {text(UNASKED)})",
    )
    yield (
        "anyAnswer",
        f"variables.platformsStated || variables.answers.exists(answer, answer != {text(UNASKED)})",
    )
    yield (
        "restrictions",
        cel(
            """
        variables.platformsStated ? [variables.statedPlatforms] : variables.imageUses.transformList(i, use,
          !(has(variables.answerClasses[i].unrestricted) && use.role in variables.answerClasses[i].unrestricted),
          variables.answerClasses[i])
        """
        ),
    )


__all__ = ["RUNTIME_CLASS", "Variables", "answer_variables", "override_variables", "reference_variables"]
