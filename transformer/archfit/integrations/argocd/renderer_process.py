"""A renderer as a child process: no shell, its exit status checked, and ended by the signal that ends this process.

    child = start(["helm", "template", ..])      it runs while this process goes on
    child.finish()                               (status, stdout, stderr), read whole

    SIGTERM -> the child gets it as well; after 3 s it is killed; exit 143, with nothing written

Argo CD sends SIGTERM to the whole process group at its deadline and SIGKILL 5 s later. The child stays in the group,
so that it ends with the group even where this process is killed first (argo-cd v3.5.1, cmpserver/plugin/plugin.go).
`subprocess` would cost 10 ms of start-up.
"""

from __future__ import annotations

import os
import select
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence

from archfit.errors import ArchfitError
from archfit.record import Record

GRACE_SECONDS = 3.0
_CHUNK = 1 << 20
_running: set[int] = set()


class Ended(Record):
    """How a child ended. status: its exit status, negative for a signal."""

    status: int
    stdout: bytes
    stderr: bytes


class Child:
    """A process that runs. `stdout` and `stderr` are the read ends of its pipes."""

    def __init__(self, pid: int, stdout: int, stderr: int) -> None:
        self._pid = pid
        self._pipes = {stdout: bytearray(), stderr: bytearray()}

    def finish(self) -> Ended:
        """Reads both pipes to their ends and waits."""
        written = list(self._pipes.values())
        while self._pipes:
            for pipe in select.select(list(self._pipes), [], [])[0]:
                chunk = os.read(pipe, _CHUNK)
                self._pipes[pipe] += chunk
                if not chunk:
                    os.close(pipe)
                    del self._pipes[pipe]
        _, status = os.waitpid(self._pid, 0)
        _running.discard(self._pid)
        return Ended(os.waitstatus_to_exitcode(status), bytes(written[0]), bytes(written[1]))


def start(words: Sequence[str], environ: Mapping[str, str], stdin: bytes = b"") -> Child:
    """Starts a program of PATH in the working directory. Raises ArchfitError where it cannot be started."""
    given = _as_file(stdin)
    (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe()
    places = [(os.POSIX_SPAWN_DUP2, at, to) for to, at in enumerate((given, out_write, err_write))]
    # No signal may end this process between the start of a child and the record of its pid.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    try:
        pid = os.posix_spawnp(
            words[0], list(words), environ, file_actions=places, setsigmask=before, setsigdef=_IGNORED
        )
        _running.add(pid)
    except OSError as error:
        os.close(out_read)
        os.close(err_read)
        raise ArchfitError(
            f"{words[0]!r} cannot be started ({error.strerror}): install it beside archfit, or name it with "
            f"--{os.path.basename(words[0])}"
        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for end in (given, out_write, err_write):
            os.close(end)
    return Child(pid, out_read, err_read)


# Python ignores these two, and a child would inherit that.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


def _as_file(content: bytes) -> int:
    """A descriptor that reads as content."""
    if not content:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        return os.dup(file.fileno())


def end_on_term() -> None:
    """From now on SIGTERM ends this process and its children; see the module."""
    signal.signal(signal.SIGTERM, _end)


def hold_term() -> None:
    """From now on SIGTERM is ignored: output that has begun is written to its end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _end(_signal: int, _frame: object) -> None:
    os.write(2, b"error: SIGTERM ended archfit, so it wrote nothing: did Argo CD's deadline pass?\n")
    for pid in tuple(_running):
        _send(pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while _running_still() and time.monotonic() < deadline:
        time.sleep(0.01)
    for pid in tuple(_running):
        _send(pid, signal.SIGKILL)
    while _running_still():
        time.sleep(0.01)
    os._exit(128 + signal.SIGTERM)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        _running.discard(pid)


def _running_still() -> bool:
    for pid in list(_running):
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                _running.discard(pid)
        except ChildProcessError:
            _running.discard(pid)
    return bool(_running)
