"""Which answer belongs to which request where a connection serves several of them."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from archfit.registry.http.byte_stream import ByteStream, TcpStream, TlsStream, has_ended
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.limits import LargeBodies
from archfit.registry.http.request import Request, Unreachable
from archfit.registry.manifest import OCI_INDEX
from fake_registry import Answer, Asked, FakeRegistry, as_json, descriptor
from http_clients import http_to, pool_to
from lookup_runs import Runs
from socket_server import SocketServer
from tls_files import tls_files

T = TypeVar("T")
SURPLUS = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def nested(fake: FakeRegistry) -> None:
    """`a:1` is an index in an index: its second request follows its first on the same connection."""
    inner = fake.index("a", "inner", ["linux/amd64"])
    body = fake.documents["/v2/a/manifests/inner"].body
    assert inner == descriptor(OCI_INDEX, body)["digest"]
    entries = [descriptor(OCI_INDEX, body)]
    fake.put("a", "1", OCI_INDEX, as_json({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}))


@pytest.mark.parametrize(
    ("surplus", "connections"),
    [
        pytest.param(b"", 1, id="none"),
        pytest.param(SURPLUS, 2, id="one answer"),
        pytest.param(SURPLUS * 100, 2, id="many answers"),
        pytest.param(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", 2, id="without a body"),
        pytest.param(SURPLUS[:20], 2, id="half an answer"),
    ],
)
def test_an_answer_that_came_before_its_request_is_nobodys(fake, tmp_path, surplus, connections):
    nested(fake)

    def script(asked: Asked) -> Answer | None:
        honest = fake.stored(asked)
        if not asked.path.endswith("/1"):
            return None
        headers = {**honest.headers, "Content-Length": str(len(honest.body))}
        return Answer(200, honest.body + surplus, headers)

    fake.on(script)
    runs = Runs(tmp_path, fake.url)
    assert runs.names("x.io/a:1") == ["linux/amd64"]
    assert fake.connections == connections


class ServerTls:
    """The server's side of TLS over anything that sends and receives bytes, so over another one too."""

    def __init__(
        self, context: ssl.SSLContext, recv: Callable[[int], bytes], sendall: Callable[[bytes], None]
    ) -> None:
        self._recv, self._sendall = recv, sendall
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._done(self._tls.do_handshake)

    def recv(self, size: int) -> bytes:
        return self._done(lambda: self._tls.read(size))

    def sendall(self, data: bytes, *, surplus: bytes = b"", ends: bool = False) -> None:
        """Everything at once, in a record each: the data, what is too much, and the end."""
        for one in filter(None, (data, surplus)):
            self._tls.write(one)
        if ends:
            with pytest.raises(ssl.SSLWantReadError):
                self._tls.unwrap()
        self._sendall(self._outgoing.read())

    def _done(self, step: Callable[[], T]) -> T:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._sendall(self._outgoing.read())
                self._incoming.write(self._recv(65536))
            else:
                self._sendall(self._outgoing.read())
                return result


@pytest.mark.real
@pytest.mark.parametrize("layers", [pytest.param(1, id="direct"), pytest.param(2, id="through a TLS proxy")])
@pytest.mark.parametrize(
    ("surplus", "ends", "ended"),
    [
        pytest.param(b"", True, True, id="ended with its answer"),
        pytest.param(SURPLUS, False, True, id="sent another answer"),
        pytest.param(b"", False, False, id="noop: is idle"),
    ],
)
def test_what_follows_an_answer_ends_a_connection(layers, surplus, ends, ended):
    """A connection that has ended is not used again, also where its end came with the answer."""
    context = tls_files().context()
    listening = socket.create_server(("127.0.0.1", 0))
    place = listening.getsockname()
    done = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            top = ServerTls(context, connection.recv, connection.sendall)
            if layers == 2:
                top = ServerTls(context, top.recv, top.sendall)
            top.recv(1)
            top.sendall(b"answer", surplus=surplus, ends=ends)
            answered.set()
            done.wait(30)

    answered = threading.Event()
    server = threading.Thread(target=serve, daemon=True)
    server.start()
    trust = ssl.create_default_context(cafile=str(tls_files().ca))
    left = lambda: 10.0  # noqa: E731 - a clock
    stream: ByteStream = TcpStream(socket.create_connection(place), left)
    with listening, contextlib.closing(stream):
        for _ in range(layers):
            stream = TlsStream(stream, trust, "localhost", 10)
        stream.write(b"?", 10)
        assert stream.read(65536, 10) == b"answer"
        assert answered.wait(30)
        assert has_ended(stream) is ended
        done.set()
        server.join(30)


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "closed"])
def test_a_registry_that_hangs_up_at_the_beginning_of_tls_is_asked_again(tmp_path, reset):
    def hang_up(connection: socket.socket) -> None:
        connection.recv(65536)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with SocketServer(hang_up) as server:
        runs = Runs(tmp_path, f"https://127.0.0.1:{server.port}")
        assert f"the connection to 127.0.0.1:{server.port} broke" in runs.cause("x.io/a:1")
    assert runs.waits


@pytest.mark.parametrize(
    "linger", [pytest.param(b"", id="closed"), pytest.param(struct.pack("ii", 1, 0), id="reset")]
)
@pytest.mark.parametrize(
    ("content", "requests"),
    [pytest.param(b"", 3, id="a GET"), pytest.param(b"a=b", 2, id="noop: a POST, which is not idempotent")],
)
def test_a_connection_that_ends_as_a_request_comes_is_no_answer_of_its_server(linger, content, requests):
    """A server may end an idle connection at any time: the same request goes to it once more (RFC 9110, 9.2.2)."""
    heads: list[bytes] = []

    def hang_up_on_the_second(connection: socket.socket) -> None:
        heads.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        heads.append(connection.recv(65536))
        if linger:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    with SocketServer(hang_up_on_the_second) as server:
        url = f"http://127.0.0.1:{server.port}"
        http = http_to(server.port)
        request = Request("ping", "POST" if content else "GET", f"{url}/v2/", {}, url, 100, content)
        assert http.exchange(request).body == b"{}"
        if content:
            with pytest.raises(Unreachable, match="broke"):
                http.exchange(request)
        else:
            assert http.exchange(request).body == b"{}"
        http.close()
    assert len([head for head in heads if head]) == requests


@pytest.mark.parametrize(
    ("resolved", "dialled"),
    [
        pytest.param(["2::1", "2::2", "2::3", "1.1.1.1"], ["2::1", "1.1.1.1"], id="ipv6-leads-nowhere"),
        pytest.param(["1.1.1.1", "1.1.1.2", "2::1"], ["1.1.1.1"], id="ipv4-first"),
        pytest.param(["2::1", "2::2"], ["2::1", "2::2"], id="one-kind"),
    ],
)
def test_addresses_of_both_kinds_are_dialled_by_turns_and_silent_ones_last(
    fake, monkeypatch, resolved, dialled
):
    """As Go's programs get through where IPv6 is there and leads nowhere."""
    asked: list[str] = []

    def connect(address: str, *_: object) -> socket.socket:
        asked.append(address)
        if ":" in address:
            raise TimeoutError
        return socket.create_connection(("127.0.0.1", fake.port))

    found = [(0, 0, 0, "", (address, 80)) for address in resolved]
    monkeypatch.setattr("archfit.registry.http.connections._resolve", lambda *_, **__: found)
    monkeypatch.setattr("archfit.registry.http.connections._connect", connect)
    pool = pool_to()
    reached = "1.1.1.1" in resolved
    for _ in range(2):
        with contextlib.nullcontext() if reached else pytest.raises(Unreachable, match="in time"):
            pool.take(pool.way("http", "x.io", 80, other_host=False)).close()
    again = ["1.1.1.1"] if reached else dialled
    assert asked == [*dialled, *again]


def test_a_thread_that_outlasts_the_run_leaves_no_connection_open(fake):
    """The deadline ends a run while its threads still wait; what they come home with is closed at once."""
    pool = pool_to(fake.port)
    http = HttpClient(pool, LargeBodies(lambda: 9.0))
    http.close()
    http.exchange(Request("ping", "GET", f"{fake.url}/v2/", {}, fake.url, 100))
    assert not any(pool._idle.values())


class _Records:
    """Both what is below TLS and TLS itself: a context of one connection. part: how much a write takes."""

    def __init__(self, part: int = 1) -> None:
        self.part = part
        self.sent = b""

    def wrap_bio(self, *_sides: object, server_hostname: str) -> _Records:
        assert server_hostname
        return self

    def do_handshake(self) -> None:
        return None

    def read(self, *most: int) -> bytes:
        if len(most) == 1:
            raise ssl.SSLWantReadError
        return b"a record without content"

    def write(self, data: bytes, *_seconds: float) -> int:
        self.sent += bytes(data[: self.part])
        return self.part

    def close(self) -> None:
        return None


@pytest.mark.parametrize("seconds", [0, 0.05])
def test_records_without_content_do_not_keep_a_read_longer_than_it_may_wait(seconds):
    records: Any = _Records()
    stream = TlsStream(records, records, "localhost", 10)
    with pytest.raises(TimeoutError):
        stream.read(1, seconds)


@pytest.mark.parametrize("part", [1, 4, 5, 9])
def test_what_tls_takes_in_parts_arrives_whole(part):
    records: Any = _Records(part)
    TlsStream(records, records, "localhost", 10).write(b"a body", 1)
    assert records.sent == b"a body"
