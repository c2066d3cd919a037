"""What a person at a terminal sees beside standard error and output: progress, a failure, and colours.

    archfit: 3 of 12 images     one line that rewrites itself and goes away, where standard error is a terminal
    archfit: error: ...         on the controlling terminal, for callers that throw standard error away

    --color    always, never    whatever the environment says
               auto             NO_COLOR: none;  else FORCE_COLOR: colours;  else TERM=dumb or CI: none;
                                else colours where the stream is a terminal

NO_COLOR, FORCE_COLOR and CI count if they are not empty (no-color.org, force-color.org).

Helm 4 shows `plugin "archfit" exited with error` and no word of the plugin's own (helm/helm issue 31843). Where the
process has a controlling terminal, archfit writes the last error there; `archfit last` always shows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from archfit.printable import beneath, visible
from archfit.typing_names import BinaryIO, TextIO

TERMINAL = "/dev/tty"
DELAY_SECONDS = 0.5
_ERASE = "\r\x1b[K"


def colored(when: str, stream: BinaryIO | TextIO, environ: Mapping[str, str]) -> bool:
    """Whether what is written to a stream gets colours. when: the value of --color."""
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb" and not environ.get("CI")


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


def shows_boxes() -> bool:
    """Whether the encoding of standard output has the characters of which trees are drawn."""
    return encodes_boxes(sys.stdout)


def encodes_boxes(stream: object) -> bool:
    """The same of any text stream."""
    try:
        "├─└│".encode(getattr(stream, "encoding", None) or "utf-8")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


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
