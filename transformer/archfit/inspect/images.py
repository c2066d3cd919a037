"""What archfit makes of the images that `archfit inspect` names, from the answers that were had for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from archfit.images.overrides import override
from archfit.images.platforms import Answer, Found, Unknown, is_wasm
from archfit.images.reference import Reference
from archfit.inspect.listing import listed
from archfit.inspect.report import Inspected
from archfit.options.settings import Settings
from archfit.placement.evidence import is_plain, offered
from archfit.placement.uncounted import counted
from archfit.registry.client import RawManifest
from archfit.registry.routing.endpoints import Endpoint
from archfit.workloads.pods import ImageUse

Asked: TypeAlias = "tuple[Answer, Endpoint | None, RawManifest | None]"


def described(
    words: Iterable[str],
    references: Mapping[str, Reference],
    answers: Mapping[str, Asked],
    refused: Mapping[str, Answer],
    settings: Settings,
) -> tuple[list[Inspected], list[bytes]]:
    """The images in their order, and the documents that were read for them. answers, refused: by word."""
    images, documents = [], []
    for word in dict.fromkeys(words):
        if word in refused:
            images.append(Inspected(word, "", refused[word]))
            continue
        answer, endpoint, document = answers[word]
        if document:
            documents.append(document.body)
        reference = references[word]
        stated = override(reference, settings.options.image_platforms)
        images.append(_one(word, reference.normalised, answer, stated, endpoint, document))
    return images, documents


def _one(
    word: str,
    name: str,
    answer: Answer,
    stated: Found | None,
    endpoint: Endpoint | None,
    document: RawManifest | None,
) -> Inspected:
    if not isinstance(answer, Found):
        return Inspected(word, name, answer, stated)
    listing = None
    if document and endpoint:
        listing = listed(document.body, document.content_type)
    use, current = ImageUse((), word), stated or answer
    architectures = offered(use, current, "linux")
    notes: tuple[str, ...] = ()
    if not is_plain(current):
        taken, notes = counted(use, current, runtime_class=False, wanted=None)
        if isinstance(taken, Unknown):
            notes = (f"{taken.cause}; {taken.remedy}" if taken.remedy else taken.cause,)
        if architectures is not None and any(map(is_wasm, current.platforms)):
            notes += (
                "in a pod whose runtimeClassName is one for WebAssembly it runs anywhere, by its WebAssembly platforms",
            )
    return Inspected(
        word,
        name,
        answer,
        stated,
        f"{endpoint.origin}/{endpoint.repository}" if endpoint else "",
        listing,
        None if architectures is None else tuple(sorted(architectures)),
        notes,
    )
