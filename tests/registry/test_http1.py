"""HTTP/1.1 as archfit reads it: the usual answers as h11 reads them, all others by h11; URLs as httpx reads them.

Neither is loaded by a usual run (`tests/project/test_imports.py`), and both are the judges here.
"""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import h11
import httpx
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.hosts_toml import _FRAMING
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.host_policy import HostPolicy
from archfit.registry.transport.http1 import usual_head
from archfit.registry.transport.http_message import Head, InvalidHeader
from archfit.registry.transport.request import Reply, Request, Unreachable
from archfit.registry.transport.request_target import request_target
from archfit.registry.transport.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OK = b"HTTP/1.1 200 OK\r\n"
LINES = (
    b"Content-Length: 3",
    b"content-length:0",
    b"Content-Length: 3, 3",
    b"Content-Length: +3",
    b"Content-Length: " + b"1" * 30,
    b"Transfer-Encoding: chunked",
    b"Connection: close",
    b"Connection: Keep-Alive",
    b"Connection: keep-alive, Close",
    b"Connection: x",
    b"Content-Type: application/json; charset=utf-8",
    b"WWW-Authenticate: Bearer realm=\"https://a\",service='b'",
    b"X-Empty:",
    b"X-Blanks:  \t a b \t ",
    b"X-Tab: a\tb",
    b"X-Latin: \xe9",
    b"X.Dot: 1",
    b" folded",
    b"X_Under: 1",
    b"no colon",
    b"blank : 1",
    b": nothing",
    b"",
)
STATUS_LINES = (
    b"HTTP/1.1 200 OK",
    b"HTTP/1.1 200",
    b"HTTP/1.1 200 ",
    b"HTTP/1.1 404 Not Found",
    b"HTTP/1.1 204 No Content",
    b"HTTP/1.1 304 Not Modified",
    b"HTTP/1.1 100 Continue",
    b"HTTP/1.1 999 X",
    b"HTTP/1.1 20 OK",
    b"HTTP/1.1 2000 OK",
    b"HTTP/1.1  200 OK",
    b"HTTP/1.0 200 OK",
    b"HTTP/2 200",
    b"http/1.1 200 OK",
    b"HTTP/1.1 200 \xe9",
    b"HTTP/1.1 200OK",
)


def by_h11(head: bytes, method: str) -> tuple[int, list[tuple[str, str]], int, bool]:
    """Status, headers, length of the body, and whether the connection stays. Raises h11.RemoteProtocolError."""
    machine = h11.Connection(h11.CLIENT)
    machine.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
    machine.send(h11.EndOfMessage())
    machine.receive_data(head + b"\r\n\r\n" + b"x" * 70)
    event = machine.next_event()
    assert isinstance(event, h11.Response)
    length = 0
    while isinstance(part := machine.next_event(), h11.Data):
        length += len(part.data)
    headers = [(name.decode(), value.decode()) for name, value in event.headers]
    return event.status_code, headers, length, machine.their_state is h11.DONE


class TestUsualHeads:
    @given(
        st.sampled_from(STATUS_LINES),
        st.lists(st.sampled_from(LINES), max_size=5),
        st.sampled_from(["GET", "HEAD", "CONNECT"]),
        st.tuples(
            st.integers(0, 80), st.sampled_from([b"", b"\r", b"\n", b"\0", b" ", b"\xff", b"\x0b", b":"])
        ),
    )
    @example(b"HTTP/1.1 200 OK", [b"Content-Length: 3"], "GET", (0, b""))
    def test_what_is_read_as_usual_is_what_h11_reads(
        self, status_line: bytes, lines: list[bytes], method: str, put: tuple[int, bytes]
    ) -> None:
        head = b"\r\n".join((status_line, *lines))
        at, more = put
        head = head[:at] + more + head[at:]
        usual = usual_head(head, method)
        if usual is None or b"\r\n\r\n" in head + b"\r\n":
            return
        status, headers, length, stays = by_h11(head, method)
        assert (usual.status, usual.headers) == (status, headers)
        assert usual.length == length
        assert stays or not usual.stays or method == "CONNECT"  # from then on the bytes are a tunnel's

    @pytest.mark.parametrize(
        ("line", "method"),
        [
            pytest.param(b"Content-Length: 12", "GET", id="a-length"),
            pytest.param(b"content-type: a/b", "HEAD", id="head"),
            pytest.param(b"Connection: keep-alive\r\nContent-Length: 0", "GET", id="keep-alive"),
            pytest.param(b'Date: Mon\r\nETag: "a"\r\nContent-Length: 3', "GET", id="more-headers"),
        ],
    )
    def test_what_registries_send_needs_no_h11(self, line: bytes, method: str) -> None:
        head = usual_head(OK + line, method)
        assert head is not None
        assert head.stays

    @pytest.mark.parametrize("line", [line for line in LINES if line[:1] in b" :" or b"chunked" in line])
    def test_what_only_h11_may_read_is_left_to_it(self, line: bytes) -> None:
        assert usual_head(OK + b"Content-Length: 3\r\n" + line, "GET") is None


class TestRequests:
    @given(st.text(max_size=8), st.text(max_size=12))
    @example("accept", "a\tb")
    @example("x", " a")
    @example("X.y~", "")
    @example("HOST", "")
    def test_a_head_that_is_sent_is_one_that_h11_would_send(self, name: str, value: str) -> None:
        assume(name.lower() not in _FRAMING)  # they come once, from the transport
        head = Head("GET", "/", {"Host": "a", name: value})
        try:
            sent = head.encoded()
        except InvalidHeader:
            return
        wanted = h11.Request(method="GET", target="/", headers=[("Host", "a"), (name, value)])
        assert h11.Connection(h11.CLIENT).send(wanted) == sent

    @pytest.mark.parametrize("value", ["a\r\nB: c", "a\nb", "a\0", "é", " a", "a ", "\x7f"])
    def test_a_header_that_would_break_the_request_is_not_sent_and_not_shown(self, value: str) -> None:
        with pytest.raises(InvalidHeader) as raised:
            Head("GET", "/", {"Host": "a", "authorization": value}).encoded()
        assert str(raised.value) == ""

    @given(
        st.sampled_from(["http://", "https://"]),
        st.sampled_from(
            [
                *("a.io", "A.io", "a.io:80", "a.io:443", "a.io:5000", "127.0.0.1", "[::1]:5000", "a.io:"),
                *("a b.io", "a<b>^", 'a"|{}`', "a%20b", "b\xfccher.io", "fa\xdf.io:5000"),
            ]
        ),
        st.text(st.sampled_from("ab/.%4 é|\"<>{}`^[]\\'~+=&;:@!?#"), max_size=20),
    )
    @example("https://", "a.io", "/a/../b/./c/..")
    @example("https://", "a.io", "/a?b=c?d#e?f")
    @example("https://", "a.io", "?")
    def test_a_url_means_what_it_means_to_httpx(self, scheme: str, place: str, rest: str) -> None:
        url = scheme + place + (rest if rest[:1] in {"", "?", "#"} else f"/{rest}")
        judge = httpx.URL(url)
        found = request_target(url)
        assert found.target.encode() == judge.raw_path
        assert (found.scheme, found.host.encode(), found.authority.encode()) == (
            judge.scheme,
            judge.raw_host,
            judge.netloc,
        )
        assert found.port == (judge.port or {"http": 80, "https": 443}[judge.scheme])

    @pytest.mark.parametrize(
        "url",
        [
            "http://[::1",
            "http://[fe80::x]/",
            "http://1.2.3.999/",
            "http://\u2603.io/",
            "http://\uff41.io/",
            "http://a.io:port/",
            "http://a.io/\n",
            "http://a.io/\x7f",
            "http:///a",
            "http://a.io/" + "a" * 70000,
        ],
        ids=lambda url: url[:20],
    )
    def test_a_url_that_no_request_can_have_is_refused(self, url: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - urllib's own are ValueErrors without a common text
            request_target(url)

    def test_an_international_name_is_asked_under_its_name_in_dns(self) -> None:
        assert request_target("https://bücher.example/a").host == "xn--bcher-kva.example"
        assert request_target("https://faß.example/a").host == "xn--fa-hia.example"

    def test_no_name_can_end_the_target_of_a_request_line(self) -> None:
        assert request_target("https://a b.example:5000/a").authority == "a%20b.example:5000"


class RawServer:
    """Answers each connection's first request with the same bytes, then ends it. heads: what came."""

    def __init__(self, answer: bytes) -> None:
        self.heads: list[bytes] = []
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                self.heads.append(connection.recv(65536))
                connection.sendall(self._answer)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


def asked(
    server: RawServer, *, method: str = "GET", headers: Mapping[str, str] | None = None, content: bytes = b""
) -> Reply:
    connections = Connections("test/1", {}, lambda: 9.0, HostPolicy({("127.0.0.1", server.port)}), Trust())
    url = f"http://127.0.0.1:{server.port}"
    try:
        return connections.send(Request("manifest", method, f"{url}/v2/", headers or {}, url, 100, content))
    finally:
        connections.close()


@pytest.fixture
def answering(request: pytest.FixtureRequest) -> Iterator[RawServer]:
    server = RawServer(request.param)
    yield server
    server.close()


@pytest.mark.parametrize(
    ("answering", "headers", "body"),
    [
        pytest.param(OK + b"Content-Length: 2\r\n\r\n{}", {"content-length": "2"}, b"{}", id="usual"),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nX: y\r\n\r\n",
            {"transfer-encoding": "chunked"},
            b"{}",
            id="chunked",
        ),
        pytest.param(OK + b"A: b\r\n\r\n{}", {"a": "b"}, b"{}", id="until-the-connection-ends"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n{}", {}, b"{}", id="http-1.0"),
        pytest.param(
            b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\n{}",
            {"content-length": "2"},
            b"{}",
            id="after-1xx",
        ),
        pytest.param(
            OK + b"X: a\r\n  b\r\nContent-Length: 0\r\n\r\n",
            {"x": "a b", "content-length": "0"},
            b"",
            id="folded",
        ),
        pytest.param(
            OK + b"X: \xc3\xa9\r\nX: b\r\nContent-Length: 0\r\n\r\n",
            {"x": "é, b", "content-length": "0"},
            b"",
            id="utf-8",
        ),
        pytest.param(
            OK + b"X: \xe9\r\nContent-Length: 0\r\n\r\n", {"x": "é", "content-length": "0"}, b"", id="latin-1"
        ),
    ],
    indirect=["answering"],
)
def test_an_answer_is_read(answering: RawServer, headers: dict[str, str], body: bytes) -> None:
    reply = asked(answering)
    assert (reply.status, reply.headers, reply.body) == (200, headers, body)


@pytest.mark.parametrize(
    ("answering", "why"),
    [
        pytest.param(b"", "Server disconnected without sending a response", id="nothing"),
        pytest.param(OK + b"Content-Le", "Server disconnected without sending a response", id="half-a-head"),
        pytest.param(b"\x16\x03\x01", "illegal request line", id="bytes"),
        pytest.param(b"junk\r\n\r\n", "illegal status line: bytearray(b'junk')", id="no-http"),
        pytest.param(OK + b"bad\r\n\r\n", "illegal header line: bytearray(b'bad')", id="no-header"),
        pytest.param(
            OK + b"Content-Length: 5\r\n\r\nab",
            "peer closed connection without sending complete message body (received 2 bytes, expected 5)",
            id="half-a-body",
        ),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
            "peer closed connection without sending complete message body (incomplete chunked read)",
            id="half-a-chunk",
        ),
        pytest.param(OK + b"Content-Length: x\r\n\r\n", "bad Content-Length", id="length"),
        pytest.param(
            OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            "conflicting Content-Length headers",
            id="two-lengths",
        ),
        pytest.param(
            OK + b"Transfer-Encoding: gzip\r\n\r\n",
            "Only Transfer-Encoding: chunked is supported",
            id="coding",
        ),
        pytest.param(OK + b"X: " + b"a" * 200_000, "Receive buffer too long", id="endless-head"),
    ],
    indirect=["answering"],
)
def test_an_answer_that_is_none_is_said_and_may_be_asked_for_again(answering: RawServer, why: str) -> None:
    with pytest.raises(Unreachable) as raised:
        asked(answering)
    assert str(raised.value) == f"the connection to 127.0.0.1:{answering.port} broke: {why}"
    assert raised.value.retryable


@pytest.mark.parametrize("answering", [OK + b"Content-Length: 0\r\n\r\n"], indirect=True, ids=["empty"])
def test_what_is_sent(answering: RawServer) -> None:
    asked(answering, headers={"accept": "a/b", "authorization": "Bearer x"})
    asked(answering, method="POST", headers={"content-type": "c/d"}, content=b"e=f")
    same = f"Host: 127.0.0.1:{answering.port}\r\n"
    rest = "connection: keep-alive\r\nuser-agent: test/1\r\naccept-encoding: identity\r\n"
    assert [head.decode() for head in answering.heads if head] == [
        f"GET /v2/ HTTP/1.1\r\n{same}accept: a/b\r\n{rest}authorization: Bearer x\r\n\r\n",
        f"POST /v2/ HTTP/1.1\r\n{same}accept: */*\r\n{rest}content-type: c/d\r\ncontent-length: 3\r\n\r\ne=f",
    ]


@pytest.mark.parametrize("answering", [OK + b"Content-Length: 0\r\n\r\n"], indirect=True, ids=["empty"])
def test_a_header_that_cannot_be_sent_is_an_error_that_does_not_show_it(answering: RawServer) -> None:
    with pytest.raises(RegistryError, match=r"one of its headers is not valid$"):
        asked(answering, headers={"authorization": "hush\n"})
    assert not any(answering.heads)


@pytest.mark.parametrize(
    "answering",
    [
        pytest.param(
            b"HTTP/1.1 302 F\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % location, id=repr(location)
        )
        for location in (b"http://[::1", b"http://x:port/", b"http://1.2.3.999/", b"/a\x01b")
    ],
    indirect=True,
)
def test_a_redirect_to_no_url_is_refused(answering: RawServer) -> None:
    with pytest.raises(RegistryError, match="redirects to an invalid URL: refused"):
        asked(answering)
