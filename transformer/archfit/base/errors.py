"""The exception tree. Each one is a sentence for the user: what happened, where, what to do.

ArchfitError                exit 1
├── UsageError              exit 2: a flag, variable, configuration file or annotation is wrong
│   ├── UnknownFlag         a command has no such flag
│   └── Problem             a value of a flag, variable or file, before these are named
├── InvalidInput            the stream cannot be read as Kubernetes would read it
├── UnplaceableEdit         the change is known, but the text leaves no place for it
├── InvalidReference        the string in `image:` is not an image reference
├── InvalidLock             the lock file cannot be read
├── InvalidManifest, RegistryError, ..      of registries (`registry.registry_errors`)
├── OutputError             standard output cannot be written whole
└── InternalError           a bug in archfit, found before anything was written
"""

from __future__ import annotations

import os

from archfit.base.printable import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

ErrorKind: TypeAlias = (
    "Literal['usage', 'input', 'absent', 'unknown', 'unasked', 'conflict', 'several', 'internal', 'failed']"
)


class ArchfitError(Exception):
    """Base of everything archfit raises on purpose. `str(error)` is the message for the user.

    exit_code: that of the command. kind: for programs, what to correct or to try again:

        usage       an option, a file of the operator's, an argument         input      the manifests
        absent      an image that no registry has                            unknown    a registry gave no answer
        unasked     an image that cannot be looked up, with `strict`         conflict   no node runs the images of a pod
        several     more than one of these                                   internal   a bug in archfit
        failed      anything else, such as a full disk

    line, document: 1-based place in the stream, 0 where none can be named.
    """

    exit_code = 1
    kind: ErrorKind = "failed"
    line: int = 0
    document: int = 0


class UsageError(ArchfitError):
    """A flag, environment variable, configuration file or annotation is wrong."""

    exit_code = 2
    kind: ErrorKind = "usage"


class UnknownFlag(UsageError):
    """A command has no such flag. program: what the user typed, as in `archfit check`."""

    def __init__(self, message: str, program: str, flag: str) -> None:
        super().__init__(message)
        self.program = program
        self.flag = flag


class Problem(UsageError):
    """What is wrong with a value and what to write; the caller puts the name of the flag, variable or key before it.

    message: on one line, and visible, whoever wrote the value. path: from the option's value to the wrong part. line: 0
    where unknown.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = (), line: int = 0) -> None:
        self.message = visible(message)
        super().__init__(self.message)
        self.path = path
        self.line = line


class InvalidInput(ArchfitError):
    """The stream cannot be read as Kubernetes would read it.

    line: 1-based line of the stream, 0 where no line can be named.
    document: 1-based number of the document in the stream, 0 where none can be named.
    """

    kind: ErrorKind = "input"

    def __init__(self, message: str, *, line: int = 0, document: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.document = document

    def __str__(self) -> str:
        where = [f"document {self.document}"] if self.document else []
        where += [f"line {self.line}"] if self.line else []
        return f"{', '.join(where)}: {self.message}" if where else self.message


class UnplaceableEdit(ArchfitError):
    """The change is known, but the text leaves no place for it. `line` is 1-based in the stream."""

    kind: ErrorKind = "input"

    def __init__(self, message: str, *, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class InvalidReference(ArchfitError):
    """The string in `image:` is not an image reference (distribution/reference grammar)."""

    kind: ErrorKind = "input"


class InvalidLock(ArchfitError):
    """The lock file cannot be read.

    path: as the user named it. message: goes on after it. line: 1-based, 0 where none can be named.
    """

    kind: ErrorKind = "usage"

    def __init__(self, path: str, message: str, line: int = 0) -> None:
        super().__init__(f"{path}{f' line {line}' if line else ''}: {message}")
        self.path = path
        self.message = message
        self.line = line

    def __reduce__(self) -> tuple[type, tuple[str, str, int]]:
        return type(self), (self.path, self.message, self.line)


class OutputError(ArchfitError):
    """Standard output cannot be written whole: a full disk, a closed pipe."""


class InternalError(ArchfitError):
    """A bug in archfit, found before anything was written."""

    kind: ErrorKind = "internal"


def message_of(error: BaseException) -> str:
    """The message for the user about the error that ended a run. Only that of a bug asks for a report."""
    if isinstance(error, ArchfitError):
        return str(error)
    if isinstance(error, BrokenPipeError):
        return "the reader of the output closed it before the end"
    if isinstance(error, FileNotFoundError) and not error.filename:  # getcwd(2)
        return "the working directory does not exist any more: go to another one"
    if isinstance(error, OSError):
        what = f"{error.filename!r} cannot be used" if error.filename else "standard output cannot be written"
        return f"{what}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this input; nothing was written. Split it, or give archfit more memory"
    # The exception's own text may hold a piece of the stream, and a stream may hold Secrets.
    at, frame = "", error.__traceback__
    while frame is not None:
        at = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"
        frame = frame.tb_next
    return (
        f"archfit itself failed ({type(error).__name__} at {at}); nothing was written. Please report this with the "
        "command line, and if you can with the input"
    )


def exit_code_of(error: BaseException) -> int:
    """The exit code of a run that the error ended."""
    return error.exit_code if isinstance(error, ArchfitError) else 1
