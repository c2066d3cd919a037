"""A program that is run to its end, or is given up: Helm, kubectl, a credential helper, or archfit itself.

It runs in a process group of its own, which is ended as a whole where it is given up: a shell script leaves nothing
behind. A program that ends is not waited for by what it started and what may hold its pipes.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Literal

from archfit.base.errors import ArchfitError
from archfit.startup.record import Record

LONGEST_SECONDS = 60.0
MOST_BYTES = 16 << 20
_MOST_COMPLAINT = 64 << 10
_LOOK_SECONDS = 0.05
_CHUNK = 1 << 20
_ends: ContextVar[float] = ContextVar("ends", default=float("inf"))


class Ran(Record):
    """How a program ended. status: negative for a signal. complaint: standard error, its first 64 KiB."""

    status: int
    output: bytes
    complaint: str

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")


class NoEnd(ArchfitError):
    """A program did not run to its end: no start, no more time, or too much output. problem: goes on after its name."""

    def __init__(self, name: str, reason: Literal["start", "time", "size"], problem: str) -> None:
        super().__init__(f"{name} {problem}")
        self.reason = reason
        self.problem = problem


@contextlib.contextmanager
def until(ends: float) -> Iterator[None]:
    """Programs that this thread starts meanwhile are given up at that time at the latest. ends: by time.monotonic()."""
    token = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(token)


def run_program(words: Sequence[str], environ: Mapping[str, str]) -> Ran:
    """Runs a program without input. Raises NoEnd."""
    return ExternalProgram(words, environ).run()


class ExternalProgram:
    """A program that is run once, without a shell.

    asks: it may ask the user at the terminal, as a login does. On a terminal it stays in the group that may read there,
    and is ended alone.
    """

    def __init__(self, words: Sequence[str], environ: Mapping[str, str], *, asks: bool = False) -> None:
        self._words = words
        self._environ = environ
        self._group = None if asks and os.isatty(2) else 0
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, given: bytes = b"", *, seconds: float = LONGEST_SECONDS, most_bytes: int = MOST_BYTES
    ) -> Ran:
        """Runs it with this on standard input. most_bytes: of its output. Raises NoEnd."""
        ends = min(time.monotonic() + seconds, _ends.get())
        name, seconds = " ".join(self._words), ends - time.monotonic()
        if seconds <= 0:
            raise NoEnd(name, "time", "was not run, because no time was left")
        try:
            process = self._process = subprocess.Popen(  # noqa: S603 - named by the operator, or of PATH; no shell
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(self._environ),
                process_group=self._group,
            )
        except OSError as error:
            raise NoEnd(self._words[0], "start", f"cannot be run: {error.strerror}") from None
        with process:
            try:
                output, complaint = _outputs(process, given, ends, most_bytes)
                status = process.wait(max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise NoEnd(name, "time", f"did not end within {seconds:.3g} s") from None
            except OverflowError:
                raise NoEnd(name, "size", f"wrote more than {most_bytes:,} bytes") from None
            finally:
                self.end()
        return Ran(status, bytes(output), complaint.decode(errors="replace"))

    def end(self) -> None:
        """End it, and what it started, if it still runs. From any thread."""
        process = self._process
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                process.kill() if self._group is None else os.killpg(process.pid, signal.SIGKILL)


def _outputs(
    process: subprocess.Popen[bytes], given: bytes, ends: float, most_bytes: int
) -> tuple[bytearray, bytearray]:
    """Standard output and error. Raises TimeoutExpired, and OverflowError for more than most_bytes of output."""
    output, complaint, rest = bytearray(), bytearray(), memoryview(given)
    with selectors.DefaultSelector() as pipes:
        for pipe, text in ((process.stdin, None), (process.stdout, output), (process.stderr, complaint)):
            if pipe:
                pipes.register(pipe, selectors.EVENT_WRITE if text is None else selectors.EVENT_READ, text)
        while pipes.get_map():
            left = ends - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, left)
            ready = pipes.select(min(left, _LOOK_SECONDS))
            if not ready and process.poll() is not None:
                break  # what holds the pipes is something that it started
            for key, _ in ready:
                if key.data is None:
                    with contextlib.suppress(BrokenPipeError):  # it may answer without reading its input
                        rest = rest[os.write(key.fd, rest[: select.PIPE_BUF]) :]
                        if rest:
                            continue
                elif more := os.read(key.fd, _CHUNK):
                    key.data.extend(more)
                    continue
                pipes.unregister(key.fileobj)
                if process.stdin and key.data is None:
                    process.stdin.close()
            if len(output) > most_bytes:
                raise OverflowError
            del complaint[_MOST_COMPLAINT:]
    return output, complaint
