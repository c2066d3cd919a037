"""Whether a stream gets colours: the flag, then the variables that users know, then what the stream is."""

import io

import pytest

from archfit.base.terminal import colored


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("when", "environ", "on_a_terminal", "in_a_pipe"),
    [
        pytest.param("auto", {}, True, False, id="auto"),
        pytest.param("auto", {"TERM": "xterm-256color"}, True, False, id="auto-with-a-TERM"),
        pytest.param("auto", {"TERM": "dumb"}, False, False, id="dumb"),
        pytest.param("auto", {"CI": "true"}, False, False, id="ci"),
        pytest.param("auto", {"CI": ""}, True, False, id="empty-CI"),
        pytest.param("auto", {"NO_COLOR": "1"}, False, False, id="NO_COLOR"),
        pytest.param("auto", {"NO_COLOR": "0"}, False, False, id="any-NO_COLOR"),
        pytest.param("auto", {"NO_COLOR": ""}, True, False, id="empty-NO_COLOR"),
        pytest.param("auto", {"FORCE_COLOR": "1"}, True, True, id="FORCE_COLOR"),
        pytest.param("auto", {"FORCE_COLOR": ""}, True, False, id="empty-FORCE_COLOR"),
        pytest.param("auto", {"FORCE_COLOR": "1", "TERM": "dumb", "CI": "1"}, True, True, id="forced-in-CI"),
        pytest.param("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False, id="NO_COLOR-wins"),
        pytest.param("always", {"NO_COLOR": "1", "TERM": "dumb", "CI": "1"}, True, True, id="always"),
        pytest.param("never", {"FORCE_COLOR": "1"}, False, False, id="never"),
    ],
)
def test_colours(when, environ, on_a_terminal, in_a_pipe):
    assert colored(when, Terminal(), environ) is on_a_terminal
    assert colored(when, io.StringIO(), environ) is in_a_pipe
