"""What a person at a terminal sees: the progress of lookups, a failure, colours; and with --quiet, less.

--color auto: NO_COLOR: none; else FORCE_COLOR: colours; else TERM=dumb or CI: none; else colours where the stream is a
terminal. NO_COLOR, FORCE_COLOR and CI count if they are not empty (no-color.org, force-color.org).

Helm 4 shows `plugin "archfit" exited with error` and no word of the plugin's own (helm/helm issue 31843). Where the
process has a controlling terminal, archfit writes the last error there; `archfit last` always shows it.
"""

from __future__ import annotations

from archfit.base.printable import Messages, beneath, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO, TextIO

TERMINAL = "/dev/tty"
DELAY_SECONDS = 0.5
WAIT_SECONDS = 2.0
_ERASE = "\r\x1b[K"
_KINDS = {"error", "wrong", "fatal", "panic", "warning", "info", "archfit"}
_SERIOUS = {"error", "wrong", "fatal", "panic", "warning"}
_SGR = {"warning": "1;33", "info": "36", "archfit": "1"}
_RED = "1;31"


def colored(when: str, stream: BinaryIO | TextIO, environ: Mapping[str, str]) -> bool:
    """Whether what is written to a stream gets colours. when: the value of --color."""
    if when != "auto":
        return when == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb" and not environ.get("CI")


def style(stream: TextIO, when: str, environ: Mapping[str, str], *, quiet: bool) -> None:
    """Sets how messages are shown from now on. A stream that is none of messages stays as it is."""
    if isinstance(stream, Messages):
        raw = beneath(stream)
        stream.stream = Styled(raw, quiet=quiet, colors=colored(when, raw, environ))  # type: ignore[assignment]


class Styled(Messages):
    """A stream for messages that are cleaned already: it adds colours, and with `quiet` leaves out what is no problem.

    A line that begins with no kind goes on with the one before it, if both were written at once.
    """

    def __init__(self, stream: TextIO, *, quiet: bool, colors: bool) -> None:
        super().__init__(stream)
        self._quiet = quiet
        self._colors = colors
        self._begins = True
        self._shown = True

    def write(self, text: str) -> int:
        parts = []
        for at, line in enumerate(text.splitlines(keepends=True)):
            if self._begins:
                name = "archfit: " if line.startswith("archfit: ") else ""
                kind, colon, rest = line.removeprefix(name).partition(":")
                if kind.lower() not in _KINDS:
                    name, (kind, colon, rest) = "", line.partition(":")
                word = kind.lower() if colon and kind.lower() in _KINDS else ""
                self._shown = not self._quiet or word in _SERIOUS or bool(at and not word and self._shown)
                if word and self._colors and self._shown:
                    parts.append(f"{name}\x1b[{_SGR.get(word, _RED)}m{kind}:\x1b[0m{rest}")
                elif self._shown:
                    parts.append(line)
            elif self._shown:
                parts.append(line)
            self._begins = line.endswith("\n")
        self.stream.write("".join(parts))
        return len(text)


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
    """Called with (done, total, "") as answers arrive, and with a server while it is waited for.

    Silent for half a second, about a server for two, and always where there is no terminal.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = beneath(stream)
        self._clock = clock
        self._silent = not stream.isatty()
        self._started = clock()
        self._shown = False

    def __call__(self, done: int, total: int, waited_for: str) -> None:
        delay = WAIT_SECONDS if waited_for else DELAY_SECONDS
        if self._silent or self._clock() - self._started < delay:
            return
        waiting = f"; waiting for {visible(waited_for)}" if waited_for else ""
        self._stream.write(f"{_ERASE}archfit: {done} of {total} images{waiting}")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Takes the line away, if it was shown."""
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()
            self._shown = False
