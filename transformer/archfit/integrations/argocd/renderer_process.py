"""A renderer as a child process: no shell, its exit status checked, and ended by the signal that ends this process.

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

from archfit.base.errors import ArchfitError
from archfit.startup.record import Record

GRACE_SECONDS = 3.0
MOST_BYTES = 1 << 30
_CHUNK = 1 << 20
_STDERR_BYTES = 1 << 20
_STDERR_LINES = 40
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

    def finish(self, seconds: float | None = None) -> Ended:
        """Reads both pipes to their ends and waits.

        seconds: how long it may take, None for ever. Raises ArchfitError where it takes longer or writes too much, and
        ends the child then, as after any other exception.
        """
        stdout, stderr = self._pipes.values()
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while self._pipes:
                self._read(deadline, stdout)
                del stderr[:-_STDERR_BYTES]
            status = self._waited(deadline)
        except BaseException:
            _end_all((self._pid,))
            for pipe in self._pipes:
                os.close(pipe)
            raise
        _running.discard(self._pid)
        return Ended(os.waitstatus_to_exitcode(status), bytes(stdout), bytes(stderr))

    def _read(self, deadline: float | None, stdout: bytearray) -> None:
        for pipe in select.select(list(self._pipes), [], [], _left(deadline))[0]:
            chunk = os.read(pipe, _CHUNK)
            self._pipes[pipe] += chunk
            if not chunk:
                os.close(pipe)
                del self._pipes[pipe]
        if len(stdout) > MOST_BYTES:
            raise ArchfitError(f"it wrote more than {MOST_BYTES >> 20} MiB: render a part of it")

    def _waited(self, deadline: float | None) -> int:
        while deadline is not None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return status
            time.sleep(min(_left(deadline) or 0, 0.01))
        return os.waitpid(self._pid, 0)[1]


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise ArchfitError("it did not end in time: render to a file first, and name the file")
    return left


def check(ended: Ended, what: str) -> None:
    """Raises ArchfitError with the child's last words, if it failed. what: such as `helm template`."""
    if ended.status:
        how = f"exit status {ended.status}" if ended.status > 0 else f"signal {-ended.status}"
        last_lines = ended.stderr.decode(errors="replace").strip().splitlines()[-_STDERR_LINES:]
        raise ArchfitError("\n".join([f"{what} failed ({how}), so nothing was written:", *last_lines]))


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
    if not content:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        return os.dup(file.fileno())


def end_on_term(question: str = "") -> None:
    """From now on SIGTERM ends this process and its children; see the module. question: for the message."""

    def end(_signal: int, _frame: object) -> None:
        os.write(2, f"archfit: error: SIGTERM ended archfit, so it wrote nothing{question}\n".encode())
        _end_all(tuple(_running))
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)


def hold_term() -> None:
    """From now on SIGTERM is ignored: output that has begun is written to its end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _end_all(pids: tuple[int, ...]) -> None:
    for pid in pids:
        _send(pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while _running_still() and time.monotonic() < deadline:
        time.sleep(0.01)
    for pid in tuple(_running):
        _send(pid, signal.SIGKILL)
    while _running_still():
        time.sleep(0.01)


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
