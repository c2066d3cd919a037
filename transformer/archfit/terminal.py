"""What a person at a terminal sees beside standard error and output: the progress of lookups, and a failure.

    archfit: 3 of 12 images     one line that rewrites itself and goes away, where standard error is a terminal
    archfit: error: ...         on the controlling terminal, for callers that throw standard error away

Helm 4 shows `plugin "archfit" exited with error` and no word of the plugin's own (helm/helm issue 31843). Where the
process has a controlling terminal, archfit writes the last error there; `archfit last` always shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from archfit.printable import beneath, visible
from archfit.typing_names import TextIO

TERMINAL = "/dev/tty"
DELAY_SECONDS = 0.5
_ERASE = "\r\x1b[K"


def write_to_terminal(text: str, stderr: TextIO, environ: Mapping[str, str]) -> None:
    """Writes a line to the controlling terminal, if a plugin of Helm's has one and does not write to it anyway."""
    if not environ.get("HELM_PLUGIN_NAME") or stderr.isatty():
        return
    try:
        with open(TERMINAL, "w", encoding="utf-8", errors="replace") as terminal:
            shown = visible(text.replace("\n", " "))
            terminal.write(f"archfit: {shown} (archfit last shows the whole report)\n")
    except OSError:
        return


class Progress:
    """Called with (done, total) as answers arrive; silent for half a second, and always where there is no terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = beneath(stream)
        self._clock = clock
        self._silent = not stream.isatty()
        self._started = clock()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        if self._silent or self._clock() - self._started < DELAY_SECONDS:
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
