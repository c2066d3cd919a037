"""What the tests' control plane makes of an answer that is an error (tests/support/control_plane.py)."""

from __future__ import annotations

import httpx
import pytest

from control_plane import refused


@pytest.mark.parametrize(
    ("status", "content", "message"),
    [
        pytest.param(403, b'{"kind": "Status", "message": "forbidden"}', "forbidden", id="a Status"),
        pytest.param(429, b"Too many requests\n", "Too many requests", id="text"),
        pytest.param(502, b"", "Bad Gateway", id="no body"),
        pytest.param(500, b'{"kind": "Sta', '{"kind": "Sta', id="half a body"),
        pytest.param(500, b'"a text"', '"a text"', id="no Status"),
    ],
)
def test_an_error_is_told_in_the_servers_words(status: int, content: bytes, message: str):
    found = refused(httpx.Response(status, content=content))
    assert (found.status, str(found)) == (status, message)
