"""`archfit inspect IMAGE.. [--json] [--programs]`: what a registry has for images, and what that means.

The registry is always asked, whatever the cache holds, which learns from it: one request for an index, two for a single
manifest, whose config names its platform; a token is one more. With --offline the cache alone, however old. With
--programs, exit 3 where an entry starts a program that does not run there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from shlex import quote
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import InvalidReference, UsageError
from archfit.base.files import SUFFIXES
from archfit.base.printable import count, encoded
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.images.candidates import NewerTags
from archfit.images.overrides import override
from archfit.images.platforms import Answer, Found, Platform, Unknown, is_wasm, unanswerable
from archfit.images.reference import Reference, parse
from archfit.inspect.listing import read_listing
from archfit.inspect.report import Inspected, as_json, problem, text
from archfit.lookup.image_programs import image_programs
from archfit.lookup.lookup import Lookup, open_lookup
from archfit.lookup.newer_tags import newer_tags
from archfit.options.settings import Settings
from archfit.placement.evidence import offered
from archfit.placement.uncounted import counted
from archfit.programs.start import Start
from archfit.registry.client import RawManifest
from archfit.registry.routing.endpoints import Endpoint
from archfit.workloads.pods import ImageUse

_COMMAND = BY_NAME["inspect"]
_ANY_AGE = 100 * 365 * 86400


def inspect(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    flags, texts, settings = invocation.flags, invocation.words, invocation.settings
    if not texts:
        raise UsageError(f"name an image, as in {_COMMAND.program} nginx:1.27; see {_COMMAND.program} --help")
    for word in texts:
        if word == "-" or (word.endswith(SUFFIXES) and os.path.exists(word)):
            raise UsageError(
                f"{word!r} is no image: for those of manifests write archfit audit --images {quote(word)}; "
                f"for names from standard input, xargs {_COMMAND.program}"
            )
    operator = settings.operator.replace(max_stale_seconds=_ANY_AGE)
    with closing(open_lookup(operator, environ=environ, progress=stderr)) as lookup:
        if flags.programs:
            lookup.keep_contents()
        images = _inspected(texts, lookup, settings)
        if flags.programs:
            images = _with_programs(images, lookup)
        if flags.newer_tags:
            images = _with_newer(images, lookup, settings)
        requests = lookup.requests
    shown = as_json(images, requests) if flags.format == "json" else encoded(text(images))
    standard_streams.write_report(stdout, [shown])
    problems = [why for image in images if (why := problem(image))]
    stderr.writelines(f"warning: {message}\n" for message in lookup.messages)
    stderr.writelines(f"error: {problem}\n" for problem in problems)
    wrong = [words for image in images for words in image.wrong]
    stderr.writelines(f"error: {words}\n" for words in wrong)
    stderr.write(f"archfit: {_counted(requests)}\n")
    return 1 if problems else 3 if wrong else 0


def _inspected(texts: Sequence[str], lookup: Lookup, settings: Settings) -> list[Inspected]:
    references: dict[str, Reference] = {}
    images: dict[str, Inspected | None] = dict.fromkeys(texts)
    for word in images:
        try:
            references[word] = parse(word)
        except InvalidReference as error:
            images[word] = Inspected(word, "", unanswerable(word, error))
    answers: dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]
    if settings.operator.offline:
        answers = {word: (answer, None, None) for word, answer in lookup.resolve(references).items()}
    else:
        fetched = lookup.fetch(list(references.values()))
        answers = {word: fetched[reference.normalised] for word, reference in references.items()}
    for word, reference in references.items():
        answer, endpoint, document = answers[word]
        stated = override(reference, settings.options.image_platforms)
        image = Inspected(word, reference.normalised, answer, stated)
        images[word] = _described(image, answer, endpoint, document) if isinstance(answer, Found) else image
    return [image for image in images.values() if image]


def _described(
    image: Inspected, answer: Found, endpoint: Endpoint | None, document: RawManifest | None
) -> Inspected:
    use, current = ImageUse((), image.text), image.stated or answer
    architectures = offered(use, current, "linux")
    taken, notes = counted(use, current, runtime_class=False, wanted=None)
    if isinstance(taken, Unknown):
        notes = (f"{taken.cause}; {taken.remedy}" if taken.remedy else taken.cause,)
    if architectures is not None and any(map(is_wasm, current.platforms)):
        notes += (
            "in a pod whose runtimeClassName is one for WebAssembly it runs anywhere, by its WebAssembly platforms",
        )
    return image.replace(
        source=f"{endpoint.origin}/{endpoint.repository}" if endpoint else "",
        listing=read_listing(document.body, document.content_type) if document and endpoint else None,
        runs_on=None if architectures is None else tuple(sorted(architectures)),
        notes=notes,
    )


def _with_programs(images: list[Inspected], lookup: Lookup) -> list[Inspected]:
    own, architectures = Start(), sorted({name for image in images for name in image.runs_on or ()})
    read = image_programs(
        lookup, [(image.reference, image.stated or image.answer, own) for image in images], architectures
    )
    return [
        image.replace(
            programs=tuple(
                (platform, verdict)
                for platform in (Platform("linux", name) for name in image.runs_on or ())
                if (verdict := read(image.reference, platform, own))
            )
        )
        for image in images
    ]


def _with_newer(images: list[Inspected], lookup: Lookup, settings: Settings) -> list[Inspected]:
    cluster = [name for name in settings.options.cluster_architectures if "/" not in name]
    lacking: dict[str, tuple[str, ...]] = {}
    for image in images:
        if image.runs_on is not None and not image.stated:
            lacking[image.text] = tuple(name for name in cluster if name not in image.runs_on)
    newer: dict[str, NewerTags] = {}
    for lacks in dict.fromkeys(filter(None, lacking.values())):
        answers = {
            image.text: image.answer
            for image in images
            if lacking.get(image.text) == lacks and isinstance(image.answer, Found)
        }
        newer |= newer_tags(
            lookup,
            answers,
            [Platform("linux", lack) for lack in lacks],
            cluster=cluster,
            seconds=settings.operator.timeout_seconds,
        )
    return [
        image.replace(lacks=lacking[image.text], newer=newer[image.text]) if image.text in newer else image
        for image in images
    ]


def _counted(requests: Mapping[str, int]) -> str:
    total = sum(requests.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in requests.items())
    return count(total, "registry request") + (f" ({kinds})" if kinds else "")
