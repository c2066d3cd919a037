"""Progress is for people who wait: on a terminal, after half a second, and gone afterwards."""

import io

import pytest

from archfit.base.terminal import DELAY_SECONDS, Progress


class Terminal(io.StringIO):
    def __init__(self, *, tty):
        super().__init__()
        self.tty = tty

    def isatty(self):
        return self.tty


@pytest.mark.parametrize(
    ("tty", "seconds", "shown"),
    [
        pytest.param(True, DELAY_SECONDS, "\r\x1b[Karchfit: 3 of 40 images\r\x1b[K", id="terminal-late"),
        pytest.param(True, DELAY_SECONDS - 0.1, "", id="noop-terminal-early"),
        pytest.param(False, 60, "", id="noop-pipe"),
    ],
)
def test_progress_shows_only_to_those_who_wait(tty, seconds, shown):
    now = [0.0]
    terminal = Terminal(tty=tty)
    progress = Progress(terminal, lambda: now[0])
    now[0] = seconds
    progress(3, 40, "")
    progress.clear()
    assert terminal.getvalue() == shown
