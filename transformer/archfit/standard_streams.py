"""Standard input and output: read to the end; written completely, or truncated again where that is possible.

full disk, broken pipe, closed by the caller    OutputError, which says so; exit 1
an output that is a file                        truncated to its old length: half an output is worse than none
"""

from __future__ import annotations

import os
import stat

from archfit.errors import ArchfitError, OutputError
from archfit.files import read_all
from archfit.typing_names import BinaryIO, Iterable


def read(stdin: BinaryIO) -> bytes:
    """All of standard input. Raises ArchfitError."""
    try:
        return read_all(stdin)
    except OSError as error:
        raise ArchfitError(f"standard input cannot be read: {error.strerror or error}") from None


def write(stdout: BinaryIO, parts: Iterable[bytes | memoryview]) -> None:
    """All parts to standard output. Raises OutputError."""
    before = _length(stdout)
    try:
        for part in parts:
            stdout.write(part)
        stdout.flush()
    except OSError as error:
        _take_back(stdout, before)
        if isinstance(error, BrokenPipeError):
            raise OutputError("the reader of the output closed it before the end") from None
        advice = "; the output file is as it was before" if before is not None else ""
        raise OutputError(f"standard output cannot be written: {error.strerror or error}{advice}") from None


def _length(stdout: BinaryIO) -> int | None:
    """Bytes of the file that is written to, None where it is no file."""
    try:
        about = os.fstat(stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None


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
