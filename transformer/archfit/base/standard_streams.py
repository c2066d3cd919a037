"""Standard input and output: read to the end; written completely, or truncated again where that is possible.

Half an output is worse than none. A report whose reader stops early, as `head` does, is no error: nobody applies it.
"""

from __future__ import annotations

import os
import stat
import sys
from io import BytesIO

from archfit.base.errors import ArchfitError, OutputError, UsageError
from archfit.base.files import open_descriptor, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import BinaryIO, TextIO


class ClosedInput(BytesIO):
    """Standard input that the caller closed: a run over files does not ask for it."""

    def read(self, _size: int | None = -1, /) -> bytes:
        """Raises ArchfitError."""
        raise ArchfitError("standard input is closed: pipe manifests into archfit, or redirect a file to it")


def read_input(stdin: BinaryIO) -> bytes:
    """All of standard input. Raises ArchfitError."""
    check_apart(_file(stdin), "standard input")
    try:
        return read_all(stdin)
    except OSError as error:
        raise ArchfitError(f"standard input cannot be read: {error.strerror or error}") from None


def check_named_once(words: Sequence[str], flag: str = "") -> None:
    """Raises UsageError where several words are standard input: `-`, /dev/stdin. flag: `--NAME: ` in front of it."""
    if len(words) > 1 and sum(word == "-" or open_descriptor(word) == 0 for word in words) > 1:
        raise UsageError(f"{flag}- is standard input, which can be read only once: name it once")


def check_apart(about: os.stat_result | None, name: str, remedy: str = "write to another file") -> None:
    """Raises UsageError where an input is the file that standard output leads to. about: None for no file."""
    output = _file(sys.stdout) if about else None
    if about and output and os.path.samestat(about, output):
        emptied = ", and the shell has emptied it before archfit could read it: restore it, then "
        raise UsageError(
            f"{name} is the file of standard output, too{': ' if output.st_size else emptied}{remedy}"
        )


def write_report(stdout: BinaryIO, parts: Iterable[bytes | memoryview]) -> None:
    """All parts of what nobody applies: its reader may close it before the end. Raises OutputError."""
    try:
        write(stdout, parts)
    except _ClosedByReader:
        return


class _ClosedByReader(OutputError):
    """The reader has closed the pipe."""


def write(stdout: BinaryIO, parts: Iterable[bytes | memoryview]) -> None:
    """All parts to standard output. Raises OutputError."""
    about = _file(stdout)
    before = about.st_size if about else None
    try:
        for part in parts:
            stdout.write(part)
        stdout.flush()
    except OSError as error:
        _take_back(stdout, before)
        if isinstance(error, BrokenPipeError):
            raise _ClosedByReader("the reader of the output closed it before the end") from None
        advice = "; the output file is as it was before" if before is not None else ""
        raise OutputError(f"standard output cannot be written: {error.strerror or error}{advice}") from None


def _file(stream: BinaryIO | TextIO) -> os.stat_result | None:
    """What a stream leads to, None where that is no regular file."""
    try:
        about = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return about if stat.S_ISREG(about.st_mode) else None


def _take_back(stdout: BinaryIO, length: int | None) -> None:
    try:
        descriptor = stdout.fileno()
        if length is not None:
            os.ftruncate(descriptor, length)
        # What Python still holds back must not follow when the process ends.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
    except (OSError, ValueError):
        return
