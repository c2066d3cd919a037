"""The log: one JSON object on each line of standard error, written by a thread of its own.

A full pipe behind standard error must not stop the event loop: lines wait in memory, and where they have more bytes
than `most`, new ones are dropped and counted in a later line. The thread writes at most twenty times a second, because
waking it for each line costs as much as answering a request. No line holds the body of a request, the value of a
variable or a credential.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, TextIO

from archfit.base.printable import json_text

LEVELS = ("debug", "info", "warning", "error")
_MOST = 8 << 20
_LONGEST = 500
_LINES_AT_ONCE = 1000
_LINE_BYTES = 128
"""Of a line in memory, beside its characters."""
_PAUSE_SECONDS = 0.05
_CLOSE_SECONDS = 2.0


def unbuffered(stream: TextIO) -> Callable[[str], object]:
    """What writes to the descriptor of a stream; to the stream itself where it has none.

    Python locks its buffer of standard error while it writes, and takes the lock again when the process ends: behind a
    full pipe it would never end.
    """
    try:
        return partial(_write_all, stream.fileno())
    except (OSError, ValueError):
        return stream.write


def _write_all(number: int, text: str) -> None:
    left = memoryview(text.encode())
    while left:
        left = left[os.write(number, left) :]


class ServerLog:
    """write: raises OSError or ValueError where it cannot. level: the lowest that is written. clock: Unix seconds.

    most: bytes that may wait. refused: called for each line that is dropped. Safe to use from several threads.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        level: str = "info",
        clock: Callable[[], float] = time.time,
        most: int = _MOST,
    ) -> None:
        self._write = write
        self._written = frozenset(LEVELS[LEVELS.index(level) :])
        self._clock = clock
        self._most = most
        self._lines: deque[str] = deque()
        self._taken = threading.Lock()
        self.held = 0
        self.refused: Callable[[], None] = lambda: None
        self._dropped = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="archfit-log", daemon=True)
        self._thread.start()

    def writes(self, level: str) -> bool:
        return level in self._written

    def line(self, level: str, message: str, **members: Any) -> None:
        """Write a line, if its level is high enough. Never waits."""
        if level not in self._written:
            return
        if self.held >= self._most:
            self._dropped += 1
            self.refused()
            return
        if self._dropped:
            members["droppedLines"] = self._dropped
            self._dropped = 0
        for name, member in members.items():
            if isinstance(member, str) and len(member) > _LONGEST:
                members[name] = member[:_LONGEST]
        now = datetime.fromtimestamp(self._clock(), UTC).replace(tzinfo=None)
        head = {"time": f"{now.isoformat(timespec='milliseconds')}Z", "level": level, "message": message}
        text = json_text(json.dumps({**head, **members}))
        with self._taken:
            self._lines.append(text)
            self.held += len(text) + _LINE_BYTES

    def close(self) -> None:
        """Write what waits, for two seconds at most."""
        self._closing.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        closing = False
        while not closing:
            closing = self._closing.wait(_PAUSE_SECONDS)
            while self._lines:
                lines = [self._lines.popleft() for _ in range(min(len(self._lines), _LINES_AT_ONCE))]
                text = "".join(f"{line}\n" for line in lines)
                size = sum(map(len, lines)) + _LINE_BYTES * len(lines)
                lines.clear()
                with contextlib.suppress(OSError, ValueError):  # nobody reads the log; the answers go on
                    self._write(text)
                with self._taken:
                    self.held -= size


class LibraryMessages(logging.Handler):
    """Messages of uvicorn and asyncio as lines of the log, without tracebacks, which may show parts of a request."""

    def __init__(self, log: ServerLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        level = "error" if record.levelno >= logging.ERROR else "warning"
        if record.levelno < logging.WARNING:
            level = "debug"
        error = record.exc_info[1] if record.exc_info else None
        members = {"error": type(error).__name__} if error else {}
        self._log.line(level, str(record.getMessage()).strip()[:500], library=record.name, **members)
