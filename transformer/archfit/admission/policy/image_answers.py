"""CEL: what is known about each image of a pod.

    answers           for each image the code of a class of the table, or
                        unasked    nobody can say: empty, a placeholder, never pulled, Istio's `auto`
                        unknown    the table lacks it, or no node could pull it
    answerClasses     for each image its class
    unknownImages     the texts that keep the pod from being decided
    restrictions      the classes of the images that restrict the pod

The annotation archfit.dev/image-platforms answers for every image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.admission.policy.cel_text import Variable, choice, literal, text, variable
from archfit.admission.policy.image_overrides import UNKNOWN
from archfit.images.reference import KO, PLACEHOLDERS
from archfit.placement.questions import ISTIO_INJECT, ISTIO_REVISION, ISTIO_TEMPLATES

UNASKED = "unasked"


def answer_variables(images: Sequence[str], classes: str, *, overridden: bool) -> Iterator[Variable]:
    """istioInjected, answers, answerClasses, unknownImages, unasked, restrictions.

    images: the mappings that hold the images. classes: the mapping that holds the classes. overridden: there are
    variables of `image_overrides`.
    """
    yield variable(
        "istioInjected",
        "the pod is marked for Istio's injector, which writes the image `auto`",
        """
        ![variables.labels, variables.annotations].exists(m, %inject in m && m[%inject] == 'false')
        && (%templates in variables.annotations || [variables.labels, variables.annotations].exists(m,
          %revision in m || %inject in m && m[%inject] == 'true'))
        """,
        inject=text(ISTIO_INJECT),
        templates=text(ISTIO_TEMPLATES),
        revision=text(ISTIO_REVISION),
    )
    yield variable(
        "answers",
        "for each image the code of its class, 'unasked' where nobody can say, 'unknown' where it is not listed",
        """
        variables.imageUses.transformList(i, use,
          %chain)
        """,
        chain=choice(_answer(images, overridden=overridden), text(UNKNOWN)),
    )
    in_table = f"{classes}[variables.answers[i]]"
    stated = "variables.statedClasses"
    yield variable(
        "answerClasses",
        "for each image what it offers",
        """
        variables.imageUses.transformList(i, use,
          variables.answers[i] in %no_class ? {'unrestricted': [use.role]}
          : %of_image)
        """,
        no_class=literal([UNASKED, UNKNOWN]),
        of_image=choice([(f"variables.answers[i] in {stated}", f"{stated}[variables.answers[i]]")], in_table)
        if overridden
        else in_table,
    )
    yield variable(
        "unknownImages",
        "the images that keep the pod from being decided",
        """
        variables.platformsStated ? [] : variables.imageUses.transformList(i, use,
          variables.answers[i] == %unknown
            || has(variables.answerClasses[i].unanswered) && use.role in variables.answerClasses[i].unanswered,
          use.image)
        """,
        unknown=text(UNKNOWN),
    )
    yield variable(
        "unasked",
        "nobody can say for at least one image: no toleration and no preference is added",
        "!variables.platformsStated && variables.answers.exists(answer, answer == %unasked)",
        unasked=text(UNASKED),
    )
    yield variable(
        "restrictions",
        "what the images offer that restrict the pod",
        """
        variables.platformsStated ? [variables.statedPlatforms] : variables.imageUses.transformList(i, use,
          !(has(variables.answerClasses[i].unrestricted) && use.role in variables.answerClasses[i].unrestricted),
          variables.answerClasses[i])
        """,
    )


def _answer(images: Sequence[str], *, overridden: bool) -> Iterator[tuple[str, str]]:
    """(condition, answer), as `placement.questions` and the lookup have them, in their order."""
    yield "use.image == ''", text(UNASKED)
    yield (
        "variables.references[i] == ''",
        f"(use.image.startsWith({literal(KO)}) || {literal(PLACEHOLDERS)}.exists(mark, use.image.contains(mark)) "
        f"? {text(UNASKED)} : {text(UNKNOWN)})",
    )
    if overridden:
        yield "variables.overrides[i] != ''", "variables.overrides[i]"
    yield "use.pull == 'Never' || use.image == 'auto' && variables.istioInjected", text(UNASKED)
    for one in images:
        yield f"variables.references[i] in {one}", f"{one}[variables.references[i]]"
