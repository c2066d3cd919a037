"""What `archfit lock` reads: files or standard input, and the images that the decisions about them depend on."""

from __future__ import annotations

from archfit.errors import InvalidInput, UsageError
from archfit.frames import stream
from archfit.images.overrides import override
from archfit.images.reference import parse
from archfit.outcome import Place, Result
from archfit.patch import dotted
from archfit.pipeline import survey
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import BinaryIO

    from archfit.options.values import Options
    from archfit.workloads.inventory import Document


class Asked(Record):
    """What the streams need.

    needed: an image string for each normalised reference, in order. uses: by image string, where it is first named, as
    a Result without message. results: what there is to say about the streams.
    """

    needed: dict[str, str]
    uses: dict[str, Result]
    results: tuple[Result, ...]


def streams(files: Sequence[str], stdin: BinaryIO) -> list[tuple[str, bytes]]:
    """Names and contents; the name of standard input, which `-` and no name at all stand for, is "".

    Raises UsageError.
    """
    if files.count("-") > 1:
        raise UsageError("- is standard input, which can be read only once: name it once")
    if (not files or "-" in files) and stdin.isatty():
        raise UsageError(
            "standard input is a terminal: pipe manifests in, or name files; see archfit lock --help"
        )
    found = []
    for file in files or ["-"]:
        try:
            found.append(("", stdin.read()) if file == "-" else (file, _read(file)))
        except OSError as error:
            raise UsageError(f"cannot read {file!r} ({error.strerror}): name a file of manifests") from None
    return found


def asked(found: Iterable[tuple[str, bytes]], options: Options, *, blank_is_wrong: str) -> Asked:
    """The images to look up, each once, without those that an override answers.

    found: from `streams`. blank_is_wrong: why a stream without manifests is an error, "" where it is none. Raises
    UsageError.
    """
    needed: dict[str, str] = {}
    uses: dict[str, Result] = {}
    results: list[Result] = []
    for name, data in found:
        try:
            read = stream.read(data, options.on_blank)
        except InvalidInput as error:
            place = Place(error.document, error.line) if error.line else None
            results.append(_in(name, Result("error", error.message, place=place)))
            continue
        if blank_is_wrong and not read.pieces:
            results.append(_in(name, Result("error", blank_is_wrong)))
            continue
        surveyed = survey(read.data, read.pieces, options)
        results += [_in(name, result) for result in (*read.results, *surveyed.results)]
        for text in surveyed.texts:
            reference = parse(text)
            if not override(reference, options.image_platforms):
                needed.setdefault(reference.normalised, text)
        for text, use in _uses(surveyed.documents):
            uses.setdefault(text, _in(name, use))
    return Asked(needed, uses, tuple(results))


def _uses(documents: Iterable[Document]) -> Iterable[tuple[str, Result]]:
    for document in documents:
        for pod in document.pods:
            for use in pod.images:
                yield use.text or "", Result("error", "", pod.ref, dotted(use.path), pod.place)


def _in(name: str, result: Result) -> Result:
    """The result with the name of its file."""
    if not name:
        return result
    if not result.place:
        return result.replace(message=f"{name}: {result.message}")
    source = f"{name}, {result.place.source}" if result.place.source else name
    return result.replace(place=result.place.replace(source=source))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
