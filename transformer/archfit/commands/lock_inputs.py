"""What `archfit lock` reads: files or standard input, and the images that the decisions about them depend on."""

from __future__ import annotations

from collections.abc import Iterable

from archfit import stream
from archfit.commands.inputs import named
from archfit.errors import InvalidInput
from archfit.images.overrides import override
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.patch import dotted
from archfit.pipeline import Survey, survey
from archfit.placement.evidence import malformed
from archfit.placement.questions import answers_for
from archfit.record import Record
from archfit.results import Result
from archfit.workloads.inventory import Document


class Asked(Record):
    """What the streams need.

    needed: an image string for each normalised reference, in order. uses: by image string, where it is first named, as
    a Result without message. results: what there is to say about the streams.
    """

    needed: dict[str, str]
    uses: dict[str, Result]
    results: tuple[Result, ...]


def asked(found: Iterable[tuple[str, bytes]], options: Options, *, blank_is_wrong: str) -> Asked:
    """The images to look up, each once, without those that an override answers.

    found: from `manifests.contents`. blank_is_wrong: why a stream without manifests is an error, "" where it is none.
    Raises UsageError.
    """
    needed: dict[str, str] = {}
    uses: dict[str, Result] = {}
    results: list[Result] = []
    for name, data in found:
        try:
            read = stream.read(data, options.on_blank)
        except InvalidInput as error:
            results.append(named(Result.from_error(error), name))
            continue
        if blank_is_wrong and not read.pieces:
            results.append(named(Result("error", blank_is_wrong), name))
            continue
        surveyed = survey(read.data, read.pieces, options)
        results += [named(result, name) for result in (*read.results, *surveyed.results)]
        for text in surveyed.texts:
            reference = parse(text)
            if not override(reference, options.image_platforms):
                needed.setdefault(reference.normalised, text)
        results += [named(result, name) for result in _malformed(surveyed, options)]
        for text, use in _uses(surveyed.documents):
            uses.setdefault(text, named(use, name))
    return Asked(needed, uses, tuple(results))


def _malformed(found: Survey, options: Options) -> Iterable[Result]:
    for pod, own in found.pods():
        if not own.left_alone:
            yield from malformed(pod, answers_for(pod, {}, options, own), options)


def _uses(documents: Iterable[Document]) -> Iterable[tuple[str, Result]]:
    for document in documents:
        for pod in document.pods:
            for use in pod.images:
                yield use.text or "", Result("error", "", pod.ref, dotted(use.path), pod.location)
