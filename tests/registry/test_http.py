"""HTTP/1.1 as archfit speaks it: what is sent, which answers count, and which URLs can be asked."""

import re
import socket
import ssl
from collections.abc import Mapping

import pytest

from archfit.registry.http.http_client import AGENT
from archfit.registry.http.request import Reply, Request, Unreachable
from archfit.registry.http.tls import refusal
from archfit.registry.registry_errors import RegistryError
from http_clients import http_to
from socket_server import SocketServer

OK = b"HTTP/1.1 200 OK\r\n"
EMPTY = OK + b"Content-Length: 0\r\n\r\n"
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class RawServer(SocketServer):
    """Answers each connection's first request with the same bytes, then ends it. heads: what came."""

    def __init__(self, answer: bytes) -> None:
        self.heads: list[bytes] = []
        self._answer = answer
        super().__init__(self._answered)

    def _answered(self, connection: socket.socket) -> None:
        self.heads.append(_received(connection))
        connection.sendall(self._answer)


def _received(connection: socket.socket) -> bytes:
    """One request, whole: head and body may come one by one."""
    data = b""
    while (more := connection.recv(65536)) or not data:
        data += more
        head, ended, content = data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not more or (ended and len(content) >= int(length[1] if length else 0)):
            break
    return data


def asked(
    server: RawServer, *, method: str = "GET", headers: Mapping[str, str] | None = None, content: bytes = b""
) -> Reply:
    http = http_to(server.port)
    url = f"http://127.0.0.1:{server.port}"
    try:
        return http.exchange(Request("manifest", method, f"{url}/v2/", headers or {}, url, 100, content))
    finally:
        http.close()


@pytest.fixture
def answering(request):
    with RawServer(request.param) as server:
        yield server


@pytest.mark.parametrize(
    ("answering", "headers", "body"),
    [
        pytest.param(OK + b"Content-Length: 2\r\n\r\n{}", {"content-length": "2"}, b"{}", id="usual"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nX: y\r\n\r\n", {"transfer-encoding": "chunked"}, b"{}", id="chunked"),
        pytest.param(OK + b"A: b\r\n\r\n{}", {"a": "b"}, b"{}", id="until-the-connection-ends"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n{}", {}, b"{}", id="http-1.0"),
        pytest.param(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\n{}", {"content-length": "2"}, b"{}", id="after-1xx"),
        pytest.param(OK + b"X: a\r\n  b\r\nContent-Length: 0\r\n\r\n", {"x": "a b", "content-length": "0"}, b"", id="folded"),
        pytest.param(OK + b"X: \xc3\xa9\r\nX: b\r\nContent-Length: 0\r\n\r\n", {"x": "é, b", "content-length": "0"}, b"", id="utf-8"),
        pytest.param(OK + b"X: \xe9\r\nContent-Length: 0\r\n\r\n", {"x": "é", "content-length": "0"}, b"", id="latin-1"),
    ],
    indirect=["answering"],
)  # fmt: skip
def test_an_answer_is_read(answering, headers, body):
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
            OK + b"Content-Length: 5\r\n\r\nab", "peer closed connection without sending complete message body (received 2 bytes, expected 5)", id="half-a-body"
        ),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
            "peer closed connection without sending complete message body (incomplete chunked read)",
            id="half-a-chunk",
        ),
        pytest.param(OK + b"Content-Length: x\r\n\r\n", "bad Content-Length", id="length"),
        pytest.param(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", "conflicting Content-Length headers", id="two-lengths"),
        pytest.param(OK + b"Transfer-Encoding: gzip\r\n\r\n", "Only Transfer-Encoding: chunked is supported", id="coding"),
    ],
    indirect=["answering"],
)  # fmt: skip
def test_an_answer_that_is_none_is_said_and_may_be_asked_for_again(answering, why):
    with pytest.raises(Unreachable) as raised:
        asked(answering)
    assert str(raised.value) == f"the connection to 127.0.0.1:{answering.port} broke: {why}"
    assert raised.value.retryable


@pytest.mark.parametrize("answering", [EMPTY], indirect=True, ids=["empty"])
def test_what_is_sent(answering):
    asked(answering, headers={"accept": "a/b", "authorization": "Bearer x"})
    asked(answering, method="POST", headers={"content-type": "c/d"}, content=b"e=f")
    same = f"Host: 127.0.0.1:{answering.port}\r\n"
    rest = f"connection: keep-alive\r\nuser-agent: {AGENT}\r\naccept-encoding: identity\r\n"
    assert [head.decode() for head in answering.heads if head] == [
        f"GET /v2/ HTTP/1.1\r\n{same}accept: a/b\r\n{rest}authorization: Bearer x\r\n\r\n",
        f"POST /v2/ HTTP/1.1\r\n{same}accept: */*\r\n{rest}content-type: c/d\r\nContent-Length: 3\r\n\r\ne=f",
    ]


@pytest.mark.parametrize("answering", [EMPTY], indirect=True, ids=["empty"])
@pytest.mark.parametrize(
    "value", ["hush\r\nB: c", "hush\nb", "hush\0", "hushé", " hush", "hush ", "hush\x7f"]
)
def test_a_header_that_cannot_be_sent_is_an_error_that_does_not_show_it(answering, value):
    with pytest.raises(RegistryError, match=r"one of its headers is not valid$") as raised:
        asked(answering, headers={"authorization": value})
    assert "hush" not in str(raised.value)
    assert not any(answering.heads)


@pytest.mark.parametrize("answering", [EMPTY], indirect=True, ids=["empty"])
@pytest.mark.parametrize(
    ("path", "target"),
    [
        pytest.param("/a/../b/./c/..", "/b/", id="dots"),
        pytest.param("/../.evil.example/@a", "/.evil.example/@a", id="dots-do-not-end-the-host"),
        pytest.param("//[a", "//[a", id="no-second-host"),
        pytest.param("/a?b=c?d#e?f", "/a?b=c?d", id="query-and-fragment"),
        pytest.param("?", "/", id="no-path"),
        pytest.param('/a b/é"<>', "/a%20b/%C3%A9%22%3C%3E", id="what-a-path-may-not-hold"),
        pytest.param("/%2F%41", "/%2F%41", id="escapes-stay"),
        pytest.param("/a HTTP/1.1", "/a%20HTTP/1.1", id="nothing-ends-the-target"),
    ],
)
def test_the_target_of_a_request(answering, path, target):
    http, origin = http_to(answering.port), f"http://127.0.0.1:{answering.port}"
    http.exchange(Request("ping", "GET", f"{origin}{path}", {}, origin, 100))
    http.close()
    assert [head.splitlines()[0].decode() for head in answering.heads if head] == [f"GET {target} HTTP/1.1"]


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://[fe80::x]/",
        "http://1.2.3.999/",
        "http://\u2603.io/",
        "http://\uff41.io/",
        "http://b\u00fccher.example/",
        "http://a b.example/",
        "http://10%2e0.0.1/",
        "http://.a.example/",
        "http://a..example/",
        f"http://{'a' * 64}.example/",
        "http://a.io:port/",
        "http://a.io:65536/",
        "http://a.io/\n",
        "http://a.io/\x7f",
        "http:///a",
        "http://a.io/" + "a" * 70000,
    ],
    ids=lambda url: url[:20],
)
def test_a_url_that_no_request_can_have_is_refused(url, monkeypatch):
    dialled: list[object] = []
    monkeypatch.setattr(
        "archfit.registry.http.connections._resolve", lambda *given, **_: dialled.append(given)
    )
    with pytest.raises(RegistryError):
        http_to().exchange(Request("ping", "GET", url, {}, "http://a.io", 100))
    assert dialled == []


def test_the_name_that_is_resolved(monkeypatch):
    names: list[str] = []

    def nowhere(host: str, *_: object, **__: object) -> list[object]:
        names.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr("archfit.registry.http.connections._resolve", nowhere)
    with pytest.raises(Unreachable, match="cannot be resolved"):
        http_to().exchange(Request("ping", "GET", "https://A.Example/a", {}, "https://A.Example", 100))
    assert names == ["a.example"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_leads_from_https_to_http(monkeypatch, status):
    http = http_to()
    asked: list[str] = []

    def exchange(request: Request) -> Reply:
        asked.append(request.url)
        return Reply(status, {"location": "http://a.io/b"}, b"", request.url)

    monkeypatch.setattr(http, "exchange", exchange)
    with pytest.raises(RegistryError, match="redirects from https to plain http: refused"):
        http.send(Request("manifest", "GET", "https://a.io/a", {}, "https://a.io", 100))
    assert asked == ["https://a.io/a"]


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
def test_a_redirect_to_no_url_is_refused(answering):
    with pytest.raises(RegistryError, match="redirects to an invalid URL: refused"):
        asked(answering)


@pytest.mark.parametrize(("port", "server"), [(443, "h.example"), (5000, "h.example:5000")])
def test_the_remedy_for_a_server_without_tls_names_it_as_an_image_does(port, server):
    error = ssl.SSLError()
    error.reason = "WRONG_VERSION_NUMBER"
    assert f"write --mirror {server}=http://{server}" in str(refusal("h.example", port, error))
