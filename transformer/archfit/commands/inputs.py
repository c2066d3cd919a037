"""What `check`, `patch` and `lock` read: files or standard input, surveyed before anything is looked up.

    archfit check                     standard input
    archfit check a.yaml - b.yaml     files; - is standard input

Files inside the working directory are named from there, as a repository's own tools name them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from archfit import standard_streams, stream
from archfit.errors import InvalidInput, UsageError
from archfit.files import read_file
from archfit.options.layers import Layer
from archfit.options.settings import Options
from archfit.pipeline import Survey, survey
from archfit.placement.questions import questions as of_pod
from archfit.record import Record
from archfit.results import Result
from archfit.source.split import Piece
from archfit.workloads.pods import Pod

_BLANK = "the input holds no manifests"


class Manifests(Record):
    """One input. name: of its file, "" for standard input. results: why it could not be read, or was blank.

    data, pieces: as `stream.read` gives them; there are no pieces where there are results.
    """

    name: str
    data: bytes
    pieces: tuple[Piece, ...] = ()
    survey: Survey = Survey((), (), ())
    results: tuple[Result, ...] = ()
    blank: bool = False

    @property
    def pods(self) -> list[Pod]:
        """Every pod, in the order of the stream."""
        return [pod for document in self.survey.documents for pod in document.pods]


def contents(files: Sequence[str], stdin: BinaryIO, program: str) -> list[tuple[str, bytes]]:
    """(name, content) of each file, or of standard input where none is named. Raises UsageError.

    program: as in `archfit check`, to name where help is found.
    """
    if files.count("-") > 1:
        raise UsageError("- is standard input, which can be read only once: name it once")
    if (not files or "-" in files) and stdin.isatty():
        raise UsageError(
            f"standard input is a terminal: pipe manifests in, or name files; see {program} --help"
        )
    found = []
    for file in files or ["-"]:
        if file == "-":
            found.append(("", standard_streams.read(stdin)))
            continue
        try:
            found.append((_from_here(file), read_file(file)))
        except OSError as error:
            raise UsageError(f"cannot read {file!r} ({error.strerror}): name a file of manifests") from None
    return found


def surveyed(found: Iterable[tuple[str, bytes]], options: Options, on_blank: str) -> list[Manifests]:
    """What each input holds; what is wrong with one is among its results. on_blank: as `stream.read` takes it."""
    return [_surveyed(name, data, options, on_blank) for name, data in found]


def on_blank(flags: Layer) -> str:
    """--on-blank where a stream without manifests answers nothing, because the command before the pipe failed.

    Unlike for `transform` it is `fail`, unless the flag itself says something else. flags: the command's own.
    """
    given = flags.given.get("onBlank")
    return str(given.value) if given else "fail"


def questions(inputs: Iterable[Manifests], *, left_alone: bool = False) -> list[str]:
    """Every image string that has to be looked up, once. left_alone: those of pods that archfit leaves alone, too."""
    if not left_alone:
        return list(dict.fromkeys(text for manifests in inputs for text in manifests.survey.texts))
    pods = (pair for manifests in inputs for pair in manifests.survey.pods())
    return list(dict.fromkeys(text for pod, own in pods for text in of_pod(pod, own, left_alone=True)))


def in_file(result: Result, name: str) -> Result:
    """The result with the name of its file, if it has one."""
    if not name:
        return result
    if not result.location:
        return result.replace(message=f"{name}: {result.message}")
    source = f"{name}, {result.location.source}" if result.location.source else name
    return result.replace(location=result.location.replace(source=source))


def _from_here(path: str) -> str:
    near = os.path.relpath(path)
    return os.path.normpath(path) if near.startswith(os.pardir) else near


def _surveyed(name: str, data: bytes, options: Options, on_blank: str) -> Manifests:
    try:
        read = stream.read(data, on_blank)
    except InvalidInput as error:
        return Manifests(name, data, results=(Result.from_error(error),))
    if not read.pieces:
        return Manifests(name, data, results=(Result("warning", _BLANK),), blank=True)
    return Manifests(name, read.data, read.pieces, survey(read.data, read.pieces, options))
