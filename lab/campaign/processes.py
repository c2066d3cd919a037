"""Starts the program many times: as it is installed, or as a copy of this process, which has loaded it already.

Everything here needs a process with one thread, because a copy of a process has only one.
"""

import ctypes
import fcntl
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

# What a run may load is loaded once, so that a copy begins with its work.
from archfit.cli import main as cli
from archfit.lookup import cache, entries, lookup, registry_lookup  # noqa: F401
from archfit.lookup.store import open as _open  # noqa: F401
from archfit.registry.http import http_client  # noqa: F401
from archfit.rewrite import command as _transform  # noqa: F401
from campaign.invariants import Ended
from program import PROGRAM

_PIPE_BYTES = 1 << 20
_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_PAUSE_SECONDS = 0.003
_HANGS_SECONDS = 20.0


class Start(NamedTuple):
    """How to start. stdin, stdout: files; "" is closed. limit: bytes that a file may have, 0 for none.

    readable: standard input is open for reading. heard: standard error is open. reader: somebody reads standard output.
    """

    words: Sequence[str]
    environ: Mapping[str, str]
    stdin: str
    stdout: str
    fresh: bool = False
    limit: int = 0
    readable: bool = True
    heard: bool = True
    reader: bool = True


class Running:
    def __init__(self, start: Start) -> None:
        self._start = start
        self._words, told = os.pipe()
        fcntl.fcntl(told, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self.began = time.monotonic()
        self.ended: Ended | None = None
        self._kept_waiting = 0.0
        # A copy is told to end only once it handles that as the program does.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _become(start, told)
            finally:
                os._exit(70)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.close(told)

    def look(self, unseen: float = 0.0) -> bool:
        """Whether it has ended. unseen: for how long nobody has looked."""
        if self.ended is None:
            self._kept_waiting = unseen + _queued(self.pid)
            process, code = os.waitpid(self.pid, os.WNOHANG)
            if process:
                self._finish(os.waitstatus_to_exitcode(code))
            elif time.monotonic() - self.began > _HANGS_SECONDS + 5:
                os.kill(self.pid, signal.SIGKILL)
                self._finish(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]))
        return self.ended is not None

    def kill(self, name: str) -> None:
        if not self.look():
            os.kill(self.pid, signal.Signals[f"SIG{name}"])

    def _finish(self, status: int) -> None:
        seconds = max(0.0, time.monotonic() - self.began - self._kept_waiting)
        os.set_blocking(self._words, False)
        try:
            said = os.read(self._words, _PIPE_BYTES)
        except BlockingIOError:
            said = b""  # a process that it has left behind holds the other end
        os.close(self._words)
        out = Path(self._start.stdout)
        stdout = out.read_bytes() if self._start.stdout and out.is_file() else b""
        self.ended = Ended(status, stdout, said.decode(errors="replace"), seconds)


def wait(running: Sequence[Running], timeline: Iterable[tuple[float, Callable[[], object]]]) -> None:
    """Until all have ended. timeline: what to do so many seconds after the first one's start; all of it is done."""
    left = sorted(timeline, key=lambda entry: entry[0])
    unseen = 0.0
    while sum(process.look(unseen) for process in running) < len(running) or left:
        began = time.monotonic()
        while left and (all(process.ended for process in running) or _since(running) >= left[0][0]):
            left.pop(0)[1]()
        unseen = time.monotonic() - began
        time.sleep(_PAUSE_SECONDS)


def _queued(pid: int) -> float:
    """Seconds that a process was ready to run and waited for a processor; proc(5), schedstat. 0 where unknown."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _since(running: Sequence[Running]) -> float:
    return time.monotonic() - running[0].began


def adopt() -> None:
    """Processes whose parent ends become children of this one (prctl(2)), so that none is overlooked.

    This one ends in good order when it is told to, and when its own parent has ended.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    library = ctypes.CDLL(None)
    library.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    library.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


def orphans(own: Iterable[int]) -> list[str]:
    """The command lines of children that are not `own` and run after a moment; they are ended."""
    give_up = time.monotonic() + 1.0
    while True:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
        left = [pid for pid in map(int, text.split()) if pid not in set(own)]
        left = [pid for pid in left if not os.waitpid(pid, os.WNOHANG)[0]]
        if not left or time.monotonic() > give_up:
            break
        time.sleep(0.01)
    found = []
    for pid in left:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        found.append(line.strip() or str(pid))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return found


def _become(start: Start, told: int) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _streams(start, told)
    os.chdir(start.environ["HOME"])
    if start.limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (start.limit, start.limit))
    if start.fresh:
        os.execve(PROGRAM, ["archfit", *start.words], dict(start.environ))
    os.environ.clear()
    os.environ.update(start.environ)
    sys.argv = ["archfit", *start.words]
    sys.stdin, sys.stdout, sys.stderr = (_text(number) for number in range(3))
    cli.run()


def _streams(start: Start, told: int) -> None:
    told = fcntl.fcntl(told, fcntl.F_DUPFD, 10)
    flags = os.O_RDONLY if start.readable else os.O_WRONLY
    source = os.open(start.stdin, flags) if start.stdin else -1
    source = fcntl.fcntl(source, fcntl.F_DUPFD, 10) if source >= 0 else -1
    made = _output(start)
    for number, descriptor in enumerate((source, made, told if start.heard else -1)):
        if descriptor < 0:
            os.close(number)
        else:
            os.dup2(descriptor, number)
    os.closerange(3, 1024)


def _output(start: Start) -> int:
    """A descriptor above the standard ones, -1 for a closed output."""
    if not start.reader:
        reader, made = os.pipe()
        os.close(reader)
    elif start.stdout:
        made = os.open(start.stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    else:
        return -1
    return fcntl.fcntl(made, fcntl.F_DUPFD, 10)


def _text(number: int) -> object:
    """A standard stream as the interpreter makes it; None where it is closed."""
    try:
        os.fstat(number)
    except OSError:
        return None
    return open(number, "r" if number == 0 else "w", encoding="utf-8", errors="backslashreplace")
