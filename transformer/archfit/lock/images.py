"""What the manifests need of a lock file: the images that the decisions about them depend on."""

from __future__ import annotations

from collections.abc import Iterable

from archfit.base.patch import dotted
from archfit.base.record import Record
from archfit.base.results import Result
from archfit.cli.inputs.survey import in_file
from archfit.cli.inputs.surveyed_files import Manifests
from archfit.images.overrides import override
from archfit.images.platforms import Unasked
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.pipeline import Survey
from archfit.placement.evidence import malformed
from archfit.placement.requirement import not_known
from archfit.placement.selection import answers_for
from archfit.workloads.pods import Pod


class LockNeeds(Record):
    """What the manifests need.

    needed: an image string for each normalised reference, in order. uses: by image string, where it is first named, as
    a Result without message. results: messages about the manifests. unknown: why images cannot be locked, in a word or
    two, one for each.
    """

    needed: dict[str, str]
    uses: dict[str, Result]
    results: tuple[Result, ...]
    unknown: tuple[str, ...] = ()


def lock_needs(inputs: Iterable[Manifests], options: Options) -> LockNeeds:
    """The images to look up, each once, without those that an override answers."""
    needed: dict[str, str] = {}
    uses: dict[str, Result] = {}
    results: list[Result] = []
    unknown: dict[str, str] = {}
    for manifests in inputs:
        for text in manifests.survey.texts:
            reference = parse(text)
            if not override(reference, options.image_platforms):
                needed.setdefault(reference.normalised, text)
        own = (*manifests.results, *manifests.survey.results, *_malformed(manifests.survey, options))
        results += [in_file(result, manifests.name) for result in own]
        for text, use in _uses(manifests.pods):
            uses.setdefault(text, in_file(use, manifests.name))
        unknown |= _unknown(manifests, options)
    return LockNeeds(needed, uses, tuple(results), tuple(unknown.values()))


def _unknown(manifests: Manifests, options: Options) -> Iterable[tuple[str, str]]:
    """(what tells it from others, why) of each image that nobody can look up."""
    for pod, own in manifests.survey.pods():
        for use, answer in zip(pod.images, answers_for(pod, {}, options, own), strict=True):
            if isinstance(answer, Unasked) and not own.left_alone:
                place = f"{manifests.name} {pod.location.document} {pod.ref} {dotted(use.path)}"
                yield use.text or place, not_known(use, answer).reason


def _malformed(survey: Survey, options: Options) -> Iterable[Result]:
    for pod, own in survey.pods():
        if not own.left_alone:
            yield from malformed(pod, answers_for(pod, {}, options, own), options)


def _uses(pods: Iterable[Pod]) -> Iterable[tuple[str, Result]]:
    for pod in pods:
        for use in pod.images:
            yield use.text or "", Result("error", "", pod.ref, dotted(use.path), pod.location)
