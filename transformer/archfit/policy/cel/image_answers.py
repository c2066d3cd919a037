"""CEL: what is known about each image of a pod.

The grammar of references is that of `images.reference`, whose patterns Python and RE2 read alike. Only the order
differs: Docker's defaults are filled in first, so that one pattern can check the whole.

Overrides are ranked as `images.overrides` does. Where two that match equally well differ, archfit refuses to decide;
the image counts as malformed then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.images.overrides import specificity, split_host
from archfit.images.platforms import ImagePlatforms
from archfit.images.reference import HUB, HUB_INDEX, KO, PLACEHOLDERS
from archfit.images.reference_grammar import DIGEST, HOST, IDENTIFIER, MAX_PATH, PATH, TAG
from archfit.placement.selection import ISTIO_INJECT, ISTIO_REVISION, ISTIO_TEMPLATES
from archfit.placement.uncounted import WASM_RUNTIMES
from archfit.policy.cel.cel_text import (
    Variable,
    any_of,
    choice,
    literal,
    pattern,
    quoted,
    rows,
    text,
    variables,
)
from archfit.policy.cel.platform_table import CONTAINER, RUNTIME_CLASS, VOLUME, OfferClass

NAME = text("^[^/]+/[^:@]+")
"""What `find` takes out of a normalised reference: its host and repository."""


def reference_variables(images: Sequence[str]) -> Iterator[Variable]:
    """The images with their references. images: the mappings whose keys are normalised references."""
    return variables(
        """
        runtimeClass: how roles of images end in a pod that names a runtime class for WebAssembly
          has(object.spec.runtimeClassName) && object.spec.runtimeClassName.lowerAscii().matches(%wasm) ? %suffix : ''

        imageUses: every place of the pod that names an image
          (object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])).map(c, {
            'role': %container + variables.runtimeClass,
            'image': has(c.image) ? string(c.image) : '',
            'pull': has(c.imagePullPolicy) ? string(c.imagePullPolicy) : ''})
          + (has(object.spec.volumes) ? object.spec.volumes : []).filter(v, has(v.image)).map(v, {
            'role': %volume + variables.runtimeClass,
            'image': has(v.image.reference) ? string(v.image.reference) : '',
            'pull': has(v.image.pullPolicy) ? string(v.image.pullPolicy) : ''})

        references: the images in full, with Docker's defaults; '' where the text is no reference
          // a key of the table is its own reference: most pods need no pattern
          variables.imageUses.map(use, %listed ? use.image : [use.image]
            .map(r, r.matches(%identifier) ? '' : r)
            // the first segment is a host, or the host is Docker Hub
            .map(r, r.matches('^(?:localhost|[^/]*[.:A-Z][^/]*)/') ? r : %hub + r)
            .map(r, r.startsWith(%index) ? %hub + r.substring(%after_index) : r)
            .map(r, r.matches(%official) ? %hub + 'library/' + r.substring(%after_hub) : r)
            // what the grammar refuses
            .map(r, r.matches(%grammar) && r.matches(%length) ? r : '')
            // a digest makes the tag meaningless, and a missing tag is `latest`
            .map(r, r.contains('@') ? r.find(%name) + r.substring(r.indexOf('@'))
              : r.matches('^[^/]+/[^:]+$') ? r + ':latest' : r)[0])
        """,
        suffix=text(RUNTIME_CLASS),
        wasm=text("|".join(WASM_RUNTIMES)),
        container=text(CONTAINER),
        volume=text(VOLUME),
        listed=any_of(f"use.image in {mapping}" for mapping in images),
        identifier=text(f"^{IDENTIFIER}$"),
        hub=text(f"{HUB}/"),
        after_hub=str(len(HUB) + 1),
        index=text(f"{HUB_INDEX}/"),
        after_index=str(len(HUB_INDEX) + 1),
        official=text(f"^{quoted(HUB)}/[^/]*$"),
        grammar=text(f"^{HOST}/{PATH}(?::{TAG})?(?:@(?:{DIGEST}))?$"),
        length=text(f"^[^/]+/[^:@]{{1,{MAX_PATH}}}(?:[:@].*)?$"),
        name=NAME,
    )


UNASKED, UNKNOWN, MALFORMED = "unasked", "unknown", "malformed"
"""No registry is asked: empty, a placeholder, never pulled, Istio's `auto`. The table lacks it. No node can pull it."""
IS_UNASKED = f"!variables.platformsStated && variables.answers.exists(answer, answer == {text(UNASKED)})"


def override_variables(stated: Sequence[tuple[ImagePlatforms, OfferClass]]) -> Iterator[Variable]:
    """`imagePlatforms` of the configuration, which count before the table, if there are any. stated: with classes."""
    if not stated:
        return iter(())
    order = sorted(stated, key=lambda row: specificity(row[0].pattern), reverse=True)
    ranks = sorted({specificity(row.pattern) for row, _ in stated}, reverse=True)
    coded = [(f"stated {number}", row, offers) for number, (row, offers) in enumerate(order, 1)]
    ranked = []
    for code, row, _ in coded:
        platforms = ",".join(sorted(set(map(str, row.platforms))))
        ranked.append(f"{text(code)}: {literal([str(ranks.index(specificity(row.pattern))), platforms])}")
    return variables(
        """
        statedClasses: what each of imagePlatforms states, by a code
          %classes

        overrideRanks: how specific each of them is, and what it states
          %ranked

        matchingOverrides: for each image those of imagePlatforms that match, the most specific first
          variables.references.map(r, r == '' ? [] :
            %codes.filter(code, code != ''))

        overrides: for each image the code of the one that counts, '' for none; of two that differ none does
          variables.matchingOverrides.map(codes, codes.size() == 0 ? ''
            : codes.exists(code, variables.overrideRanks[code][0] == variables.overrideRanks[codes[0]][0]
              && variables.overrideRanks[code][1] != variables.overrideRanks[codes[0]][1]) ? %malformed
            : codes[0])
        """,
        classes=rows((f"{text(code)}: {literal(offers)}" for code, _, offers in coded), "{", "}"),
        ranked=rows(ranked, "{", "}"),
        codes=rows(f"{_matches(row.pattern)} ? {text(code)} : ''" for code, row, _ in coded),
        malformed=text(MALFORMED),
    )


def _matches(glob: str) -> str:
    """Whether the normalised reference `r` matches."""
    host, rest = split_host(glob)
    expression = text(pattern(rest, literal=host))
    if "@" in glob:
        return f"r.contains('@') && r.matches({expression})"
    if ":" in glob.rpartition("/")[2]:
        return f"!r.contains('@') && r.matches({expression})"
    return f"r.find({NAME}).matches({expression})"


def answer_variables(images: Sequence[str], classes: str, *, overridden: bool) -> Iterator[Variable]:
    """What the images offer. The annotation archfit.dev/image-platforms answers for every image.

    images: the mappings that hold the images. classes: the mapping that holds the classes. overridden: there are
    variables of the overrides.
    """
    of_image = f"{classes}[variables.answers[i]]"
    final = f"variables.answers[i] == {text(MALFORMED)}"
    stated = "variables.statedClasses"
    unanswered = (
        f"variables.answers[i] in {literal([UNKNOWN, MALFORMED])} "
        "|| has(variables.answerClasses[i].unanswered) && use.role in variables.answerClasses[i].unanswered"
    )
    if overridden:
        of_image = choice(
            [(f"variables.answers[i] in {stated}", f"{stated}[variables.answers[i]]")], of_image
        )
        final += f" || variables.answers[i] in {stated} && ({unanswered})"
    return variables(
        """
        istioInjected: the pod is marked for Istio's injector, which writes the image `auto`
          ![variables.labels, variables.annotations].exists(m, %inject in m && m[%inject] == 'false')
          && (%templates in variables.annotations || [variables.labels, variables.annotations].exists(m,
            %revision in m || %inject in m && m[%inject] == 'true'))

        answers: for each image the code of its class, 'unasked', 'unknown' or 'malformed'
          variables.imageUses.transformList(i, use,
            %chain)

        answerClasses: for each image what it offers
          variables.imageUses.transformList(i, use,
            variables.answers[i] in %no_class ? {'unrestricted': [use.role]}
            : %of_image)

        unknownImages: the images that the table does not know: they restrict nothing, as the unasked
          variables.platformsStated ? [] : variables.imageUses.transformList(i, use, %unanswered, use.image)

        knowsNone: an image is unknown, and no other is known, or one is a mistake: the pod stays as it is
          variables.unknownImages.size() > 0 && (variables.imageUses.exists(i, use, %final)
            || variables.imageUses.all(i, use, variables.answers[i] == %unasked || %unanswered))

        unasked: nobody can say for at least one image: no toleration and no preference is added
          variables.unknownImages.size() > 0 || %is_unasked

        restrictions: what the images offer that restrict the pod
          variables.platformsStated ? [variables.statedPlatforms] : variables.imageUses.transformList(i, use,
            !(has(variables.answerClasses[i].unrestricted) && use.role in variables.answerClasses[i].unrestricted)
              && !(%unanswered),
            variables.answerClasses[i])
        """,
        inject=text(ISTIO_INJECT),
        templates=text(ISTIO_TEMPLATES),
        revision=text(ISTIO_REVISION),
        chain=choice(_answer(images, overridden=overridden), text(UNKNOWN)),
        no_class=literal([UNASKED, UNKNOWN, MALFORMED]),
        of_image=of_image,
        unanswered=unanswered,
        final=final,
        unasked=text(UNASKED),
        is_unasked=IS_UNASKED,
    )


def _answer(images: Sequence[str], *, overridden: bool) -> Iterator[tuple[str, str]]:
    """(condition, answer), as `placement.selection` and the lookup have them, in their order."""
    yield "use.image == ''", text(UNASKED)
    yield (
        "variables.references[i] == ''",
        f"(use.image.startsWith({literal(KO)}) || {literal(PLACEHOLDERS)}.exists(mark, use.image.contains(mark)) "
        f"? {text(UNASKED)} : {text(MALFORMED)})",
    )
    if overridden:
        yield "variables.overrides[i] != ''", "variables.overrides[i]"
    yield "use.pull == 'Never' || use.image == 'auto' && variables.istioInjected", text(UNASKED)
    for mapping in images:
        yield f"variables.references[i] in {mapping}", f"{mapping}[variables.references[i]]"
