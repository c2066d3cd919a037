"""`archfit inspect IMAGE.. [--json | --raw]`: what a registry has for images, and what archfit makes of it.

stdout    a table, JSON, or with --raw the exact bytes of the one image's manifest
stderr    what could not be had, then how many requests it took

registry    always asked, whatever the cache holds, which learns from it: one request for an index, two for a
            single manifest, whose config names its platform; a token is one more
--offline   what the cache holds, however old: digest and platforms; it keeps no documents, so --raw has no answer
--newer-tags   for images that lack an architecture, the nearest tag that has it (`lookup.newer_tags`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import InvalidReference, UsageError
from archfit.base.printable import count, encoded
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.images.platforms import Answer, Found, Platform, unanswerable
from archfit.images.reference import Reference, parse
from archfit.inspect.images import described
from archfit.inspect.report import as_json, problem, text
from archfit.lookup import operator_files
from archfit.lookup.lookup import Lookup, open_lookup
from archfit.lookup.newer_tags import newer_tags
from archfit.options.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.images.candidates import NewerTags
    from archfit.inspect.images import Asked
    from archfit.inspect.report import Inspected

_COMMAND = BY_NAME["inspect"]
_ANY_AGE = 100 * 365 * 86400


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    flags, texts, settings = invocation.flags, invocation.words, invocation.settings
    if not texts:
        raise UsageError(f"name an image, as in {_COMMAND.program} nginx:1.27; see {_COMMAND.program} --help")
    if flags.raw and (flags.format == "json" or flags.newer_tags or len(texts) > 1):
        raise UsageError(
            "--raw writes the bytes of one image: name one, and leave out --json and --newer-tags"
        )
    operator_files.check(settings.operator)
    operator = settings.operator.replace(max_stale_seconds=_ANY_AGE)
    lookup = open_lookup(operator, environ=environ)
    try:
        images, documents = _inspected(texts, lookup, settings)
        if flags.newer_tags:
            images = _with_newer(images, lookup, settings)
        requests = lookup.requests
    finally:
        lookup.close()
    if flags.raw:
        standard_streams.write(stdout, documents[:1])
    else:
        shown = as_json(images, requests) if flags.format == "json" else encoded(text(images))
        standard_streams.write_report(stdout, [shown])
    problems = [why for image in images if (why := problem(image))]
    if flags.raw and not documents and not problems:
        problems = [
            f"{texts[0]}: the cache keeps no documents, so that --raw has to ask: leave out --offline"
        ]
    messages = [
        *(f"warning: {message}" for message in lookup.messages),
        *(f"error: {problem}" for problem in problems),
    ]
    stderr.writelines(f"{line}\n" for line in messages)
    if not flags.raw:
        stderr.write(f"archfit: {_counted(requests)}\n")
    return 1 if problems else 0


def _inspected(
    texts: Sequence[str], lookup: Lookup, settings: Settings
) -> tuple[list[Inspected], list[bytes]]:
    """The images in their order, and the documents that were read for them."""
    references: dict[str, Reference] = {}
    refused: dict[str, Answer] = {}
    for word in dict.fromkeys(texts):
        try:
            references[word] = parse(word)
        except InvalidReference as error:
            refused[word] = unanswerable(word, error)
    answers: dict[str, Asked]
    if settings.operator.offline:
        answers = {word: (answer, None, None) for word, answer in lookup.resolve(references).items()}
    else:
        fetched = lookup.fetch(list(references.values()))
        answers = {word: fetched[reference.normalised] for word, reference in references.items()}
    return described(texts, references, answers, refused, settings)


def _with_newer(images: list[Inspected], lookup: Lookup, settings: Settings) -> list[Inspected]:
    cluster = [
        cluster_architecture
        for cluster_architecture in settings.options.cluster_architectures
        if "/" not in cluster_architecture
    ]
    lacking: dict[str, tuple[str, ...]] = {}
    for image in images:
        if image.runs_on is not None and not image.stated:
            lacking[image.text] = tuple(platform for platform in cluster if platform not in image.runs_on)
    newer: dict[str, NewerTags] = {}
    for lacks in dict.fromkeys(filter(None, lacking.values())):
        some = {image.text: image.answer for image in images if lacking.get(image.text) == lacks}
        newer |= newer_tags(
            lookup,
            {text: answer for text, answer in some.items() if isinstance(answer, Found)},
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
