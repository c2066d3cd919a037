"""Where transformed inputs go: one stream to standard output or a file, a file for each into a folder, or in place.

Nothing is written over an input, out of the folder, or to a file that changed meanwhile. Files are written to
temporary files first, all of them, and then renamed, each after a last look at what is there. Where one cannot be
renamed, or a signal ends archfit, those before it get their old contents back, but for one that changed again. A link
is followed: what it leads to is written.
"""

from __future__ import annotations

import os
import shlex
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from archfit.base import standard_streams
from archfit.base.errors import OutputError, UsageError
from archfit.base.files import Prepared, open_descriptor, read_file, replace
from archfit.base.printable import count
from archfit.cli.inputs.input_files import Input
from archfit.startup.record import Record

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class _Target(Record):
    """A file to write. before: what it held, None where it is new. name: for messages, "" for its path."""

    path: str
    content: bytes
    before: bytes | None = None
    name: str = ""

    def check_unchanged(self) -> None:
        """Raises _Changed where somebody has saved, made or removed the file since."""
        if _held(self.path) != self.before:
            raise _Changed(f"{self.name or repr(self.path)} changed while archfit ran")


class _Changed(Exception):
    """The file to be replaced is not the one that was read."""


def write_stream(parts: Sequence[bytes | memoryview], path: str, stdout: BinaryIO) -> None:
    """The parts to standard output, or to a file that is written whole. Raises OutputError."""
    descriptor = open_descriptor(path) if os.path.exists(path) else None
    if descriptor is not None:
        with open(os.dup(descriptor), "wb") as file:
            standard_streams.write(file, parts)
    elif path:
        # A device, as /dev/stdout, is no file that could be renamed.
        at = os.path.realpath(path) if os.path.isfile(path) or not os.path.exists(path) else path
        write_folder([(at, b"".join(parts))])
    else:
        standard_streams.write(stdout, parts)


def check_file(path: str, inputs: Iterable[Input]) -> None:
    """Raises UsageError if the file of --output is an input, or has no folder."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UsageError(
            f"--output: there is no folder {folder!r}: make it, or end the path with / to write a file for each input"
        )
    _check_not_input(path, _identities(inputs))


def folder_targets(folder: str, inputs: Sequence[Input]) -> list[str]:
    """The path of each input below the folder of --output. Raises UsageError before anything is written."""
    top = os.path.join(os.path.realpath(folder), "")
    paths: dict[str, str] = {}
    own = _identities(inputs)
    for source in inputs:
        if not source.path:
            raise UsageError(
                f"--output: {source.name or 'standard input'!r} has no path below {folder!r}: name a file instead of a "
                "folder"
            )
        path = os.path.join(folder, source.below)
        if not os.path.realpath(path).startswith(top):
            raise UsageError(f"--output: {path!r} leads out of {folder!r}: remove the link there")
        _check_not_input(path, own)
        if path in paths:
            raise UsageError(
                f"--output: {paths[path]} and {source.name} would both be written to {path!r}: "
                "transform them one by one"
            )
        if os.path.isdir(path):
            raise UsageError(
                f"--output: {path!r} is a folder, where {source.name} would be written: move it away"
            )
        paths[path] = source.name
    below = next((path for path in paths for other in _folders(path) if other in paths), "")
    if below:
        raise UsageError(f"--output: {below!r} would lie below a file: transform its folder alone")
    return list(paths)


def check_report(flag: str, path: str, files: Iterable[str]) -> None:
    """Raises UsageError where a flag's report would replace an input or the output. files: these, "" for a stream."""
    if not path or (os.path.exists(path) and not os.path.isfile(path)):
        return
    real = os.path.realpath(path)
    for file in files:
        if file and (os.path.realpath(file) == real or _are_one(file, path)):
            raise UsageError(f"{flag}: {path!r} is an input or the output: name another file")


def _are_one(file: str, other: str) -> bool:
    try:
        return os.path.samefile(file, other)
    except OSError:
        return False


def check_in_place(inputs: Iterable[Input]) -> None:
    """Raises UsageError for an input that is no regular file."""
    for source in inputs:
        if not os.path.isfile(source.path):
            raise UsageError(f"--in-place: {source.name!r} is not a regular file: leave out --in-place")


def write_in_place(files: Iterable[tuple[Input, bytes]]) -> None:
    """Writes what inputs become to their files. Raises OutputError, as where a file is another one by now."""
    _write_all(
        [
            _Target(os.path.realpath(source.path), content, source.data, source.name)
            for source, content in files
        ]
    )


def write_folder(files: Iterable[tuple[str, bytes]]) -> None:
    """Writes files by their paths; folders that are missing are made. Raises OutputError."""
    _write_all([_Target(path, content, _held(path)) for path, content in files])


def _held(path: str) -> bytes | None:
    """What a file holds, None where there is none."""
    return read_file(path) if os.path.isfile(path) else None


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Meanwhile a signal that would end this process at once raises SystemExit, so that it can put files back."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    in_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _ENDING if in_main}
    # Process 1 has a handler in the place of the default action (cli.main).
    ending = {
        number: handler
        for number, handler in before.items()
        if handler is signal.SIG_DFL or (os.getpid() == 1 and callable(handler))
    }
    for number in ending:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in ending.items():
            signal.signal(number, handler)


@_signals_raised()
def _write_all(targets: Sequence[_Target]) -> None:
    """Writes all of the files, or none. Raises OutputError, and SystemExit for a signal that ends the process."""
    prepared: list[Prepared] = []
    done, path = 0, ""
    try:
        for target in targets:
            path = target.path
            target.check_unchanged()
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            prepared.append(Prepared(path, target.content, 0o666))
        for target, file in zip(targets, prepared, strict=True):
            path = target.path
            target.check_unchanged()
            file.commit()
            done += 1
    except BaseException as error:
        for file in prepared[done:]:
            file.discard()
        undone = _taken_back(targets[:done])
        if isinstance(error, _Changed):
            raise OutputError(f"{error}, so {undone}: run it again") from None
        if not isinstance(error, OSError):
            raise
        raise OutputError(f"{path!r} cannot be written ({error.strerror or error}); {undone}") from None


def _taken_back(targets: Sequence[_Target]) -> str:
    left = list[str]()
    for target in targets:
        try:
            if _held(target.path) != target.content:
                left.append(target.path)
            elif target.before is None:
                os.unlink(target.path)
            else:
                replace(target.path, target.before)
        except OSError:
            left.append(target.path)
    if not left:
        return "no file was changed"
    return f"{count(len(left), 'file')} could not be put back: {', '.join(map(repr, left[:5]))}"


def _identities(inputs: Iterable[Input]) -> dict[tuple[int, int], str]:
    return {_identity(source.path): source.name for source in inputs if source.path}


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _folders(path: str) -> Iterable[str]:
    while os.path.dirname(path) not in ("", path):
        path = os.path.dirname(path)
        yield path


def _check_not_input(path: str, inputs: Mapping[tuple[int, int], str]) -> None:
    name = inputs.get(_identity(path)) if os.path.exists(path) else None
    if name is not None:
        raise UsageError(
            f"--output: {path!r} is an input: to change the files themselves, run archfit --in-place "
            f"{shlex.quote(f'./{name}' if name.startswith('-') else name)}"
        )
