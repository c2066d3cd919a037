"""Lookups that take their time, on a terminal: one line that rewrites itself and goes away."""

from __future__ import annotations

from collections.abc import Callable

from archfit.printable import beneath
from archfit.typing_names import TextIO

PATIENCE_SECONDS = 0.5
_ERASE = "\r\x1b[K"


class Progress:
    """Called with (done, total) as answers arrive; silent for half a second, and always where there is no terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = beneath(stream)
        self._clock = clock
        self._silent = not stream.isatty()
        self._started = clock()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        if self._silent or self._clock() - self._started < PATIENCE_SECONDS:
            return
        self._stream.write(f"{_ERASE}archfit: {done} of {total} images")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the line away, if it was shown."""
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._shown = False
