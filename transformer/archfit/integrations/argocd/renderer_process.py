"""A renderer as a child process: no shell, its exit status checked, and ended by the signal that ends this process.

    SIGTERM -> the child gets it as well; after 3 s it is killed; exit 143, with nothing written

Argo CD sends SIGTERM to the whole process group at its deadline and SIGKILL 5 s later. The child stays in the group,
so that it ends with the group even where this process is killed first (argo-cd v3.5.1, cmpserver/plugin/plugin.go).
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO

from archfit.base.errors import ArchfitError

GRACE_SECONDS = 3.0
MOST_BYTES = 1 << 30
_CHUNK = 1 << 20
_STDERR_BYTES = 1 << 20
_STDERR_LINES = 40
_running: list[subprocess.Popen[bytes]] = []


def rendered(
    words: Sequence[str], environ: Mapping[str, str], what: str, stdin: bytes = b""
) -> tuple[bytes, str]:
    """What a program of PATH prints in the working directory: standard output, and standard error.

    what: for messages, as `helm template`. Raises ArchfitError where it cannot be started, writes too much or fails.
    """
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        child = _started(words, environ, given)
    with child:
        try:
            stdout, stderr = _read(child)
        except BaseException:
            _end(child)
            raise
    _running.remove(child)
    text = stderr.decode(errors="replace")
    if child.returncode:
        status = child.returncode
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        last_lines = text.strip().splitlines()[-_STDERR_LINES:]
        raise ArchfitError("\n".join([f"{what} failed ({how}), so nothing was written:", *last_lines]))
    return bytes(stdout), text


def _started(words: Sequence[str], environ: Mapping[str, str], stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    # A signal that comes meanwhile waits until there is a child that it can end.
    late: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: late.append(number))
    try:
        child = subprocess.Popen(  # noqa: S603 - the operator's renderer; no shell
            words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
        )
        _running.append(child)
    except OSError as error:
        raise ArchfitError(
            f"{words[0]!r} cannot be started ({error.strerror}): install it beside archfit, or name it with "
            f"--{os.path.basename(words[0])}"
        ) from None
    finally:
        signal.signal(signal.SIGTERM, before)
        if late:
            signal.raise_signal(signal.SIGTERM)
    return child


def _read(child: subprocess.Popen[bytes]) -> tuple[bytearray, bytearray]:
    """Both of its outputs to their ends, of standard error the last part."""
    pipes = {pipe.fileno(): bytearray() for pipe in (child.stdout, child.stderr) if pipe}
    stdout, stderr = pipes.values()
    while pipes:
        for pipe in select.select(list(pipes), [], [])[0]:
            chunk = os.read(pipe, _CHUNK)
            pipes[pipe] += chunk
            if not chunk:
                del pipes[pipe]
        if len(stdout) > MOST_BYTES:
            raise ArchfitError(f"it wrote more than {MOST_BYTES >> 20} MiB: render a part of it")
        del stderr[:-_STDERR_BYTES]
    return stdout, stderr


def end_on_term() -> None:
    """From now on SIGTERM ends this process and its child; see the module."""

    def end(_signal: int, _frame: object) -> None:
        words = "SIGTERM ended archfit, so it wrote nothing: did Argo CD's deadline pass?"
        os.write(2, f"archfit: error: {words}\n".encode())
        for child in _running:
            _end(child)
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)


def hold_term() -> None:
    """From now on SIGTERM is ignored: output that has begun is written to its end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
