"""Connections of the server: which one gives way to a new one, and how a response leaves."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

from archfit.webhook.server.connection import MOST_HEADER_BYTES, Connection, Connections
from archfit.webhook.server.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Coroutine


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


async def answer(_scope: Any, receive: Any, send: Any) -> None:
    """An application that answers once the body is there."""
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


class Site:
    """A server for plain HTTP with some connections. closed: what was closed for others."""

    def __init__(self, most: int, application: Any = answer) -> None:
        self.closed: list[str] = []
        self.connections = Connections(most, self.closed.append)
        self._server = HttpServer(application, self.connections)

    async def __aenter__(self) -> Site:
        self._port = socket.create_server(("127.0.0.1", 0))
        self._serving = asyncio.ensure_future(self._server.serve([self._port]))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.should_exit = True
        await self._serving

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._port.getsockname()
        return host, port

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self._port.getsockname())

    @staticmethod
    async def ask(one: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> bytes:
        reader, writer = one
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return (await reader.readuntil(b"\r\n\r\n"))[:12]


def test_the_oldest_connection_without_an_answer_goes_first_then_the_one_answered_longest_ago():
    async def test() -> None:
        async with Site(3) as site:
            one, two = await site.connect(), await site.connect()
            assert await site.ask(one) == b"HTTP/1.1 200"
            assert await site.ask(two) == b"HTTP/1.1 200"
            silent = await site.connect()
            late = await site.connect()
            assert await silent[0].read() == b"", "it had no answer yet"
            assert await site.ask(late) == b"HTTP/1.1 200"
            assert await site.ask(one) == b"HTTP/1.1 200"
            last = await site.connect()
            assert await site.ask(last) == b"HTTP/1.1 200"
            assert await two[0].read() == b"", "it was answered longest ago"
            assert await site.ask(one) == b"HTTP/1.1 200"
            assert (site.closed, site.connections.held) == (["connection"] * 2, 3)
            for _, writer in (one, two, silent, late, last):
                writer.close()

    run(test())


def test_two_thousand_idle_connections_of_one_client_keep_nobody_out():
    async def test() -> None:
        async with Site(20) as site:
            idle = [await site.connect() for _ in range(200)]
            good = await site.connect()
            assert await site.ask(good) == b"HTTP/1.1 200"
            assert site.connections.held <= 20
            for _, writer in (*idle, good):
                writer.close()

    run(test())


def test_where_all_have_a_request_under_way_the_new_one_waits():
    async def test() -> None:
        goes_on = asyncio.Event()
        under_way = asyncio.Semaphore(0)

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            under_way.release()
            await goes_on.wait()
            await answer(scope, receive, send)

        async with Site(2, slow) as site:
            ones = [await site.connect() for _ in range(2)]
            asking = [asyncio.ensure_future(site.ask(one)) for one in ones]
            for _ in ones:
                await under_way.acquire()
            ones.append(await site.connect())
            asking.append(asyncio.ensure_future(site.ask(ones[2])))
            await asyncio.wait(asking, timeout=0.2)
            assert (site.connections.held, site.closed) == (2, [])
            goes_on.set()
            assert await asyncio.gather(*asking[:2]) == [b"HTTP/1.1 200"] * 2
            assert await asking[2] == b"HTTP/1.1 200"
            for _, writer in ones:
                writer.close()

    run(test())


def test_a_connection_whose_request_is_unread_is_never_closed():
    async def test() -> None:
        goes_on = asyncio.Event()
        under_way = asyncio.Semaphore(0)

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] == "/slow":
                under_way.release()
                await goes_on.wait()
            await answer(scope, receive, send)

        async with Site(3, slow) as site:
            held = [await site.connect() for _ in range(2)]
            for _, writer in held:
                writer.write(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
                await under_way.acquire()
            # Both have connected and sent their request before the server looks at either.
            late = [socket.create_connection(site.address) for _ in range(6)]
            for one in late:
                one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                one.setblocking(False)
            loop = asyncio.get_running_loop()
            for one in late:
                assert (await loop.sock_recv(one, 100))[:12] == b"HTTP/1.1 200"
            goes_on.set()
            for one in late:
                one.close()
            for _, writer in held:
                writer.close()

    run(test())


class Wire(asyncio.Transport):
    """Where a connection writes to. written: each call. ended: how the connection was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.ended = ""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.ended
        self.written.append(bytes(data))

    def close(self) -> None:
        self.ended = self.ended or "close"

    def abort(self) -> None:
        self.ended = "abort"

    def is_closing(self) -> bool:
        return bool(self.ended)

    def pause_reading(self) -> None:
        """Nothing more arrives anyway."""

    resume_reading = pause_reading


class Line:
    """One connection, without a socket."""

    def __init__(self, application: Any) -> None:
        server = HttpServer(application, Connections(10))
        config = server.config
        config.load()
        protocol: Any = config.http_protocol_class
        self.connection: Connection = protocol(config=config, server_state=server.server_state, app_state={})
        self.wire = Wire()
        self.connection.connection_made(self.wire)

    async def sent(self, *parts: bytes) -> list[bytes]:
        """What is written in answer, by calls."""
        for part in parts:
            self.connection.data_received(part)
            for _ in range(5):
                await asyncio.sleep(0)
        return self.wire.written

    @property
    def timed(self) -> bool:
        """Whether the connection is closed unless more arrives."""
        return self.connection._slow is not None


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n"


async def hello(_scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the body and says hello."""
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.mark.parametrize(
    ("request_line", "answered"),
    [
        (b"GET / HTTP/1.1\r\n", [HEAD + b"\r\nhello"]),
        (b"HEAD / HTTP/1.1\r\n", [HEAD + b"\r\n"]),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n", [HEAD + b"connection: close\r\n\r\nhello"]),
        (b"HEAD / HTTP/1.1\r\nConnection: close\r\n", [HEAD + b"connection: close\r\n\r\n"]),
        (
            b"POST / HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n",
            [b"HTTP/1.1 100 Continue\r\n\r\n", HEAD + b"\r\nhello"],
        ),
    ],
)
def test_a_response_is_written_in_one_piece(request_line: bytes, answered: list[bytes]):
    async def test() -> None:
        line = Line(hello)
        assert (
            await line.sent(request_line + b"Host: x\r\n\r\n", b"x" * (b"POST" in request_line)) == answered
        )
        assert line.wire.ended == ("close" if b"close" in request_line else "")
        line.connection.connection_lost(None)

    run(test())


def test_requests_that_arrive_together_have_a_response_each():
    async def test() -> None:
        line = Line(hello)
        assert await line.sent(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3) == [HEAD + b"\r\nhello"] * 3
        line.connection.connection_lost(None)

    run(test())


def test_an_application_that_fails_after_its_head_closes_the_connection_behind_it():
    async def fails(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        raise ValueError

    async def test() -> None:
        line = Line(fails)
        assert await line.sent(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") == [HEAD + b"\r\n"]
        assert line.wire.ended == "close"
        line.connection.connection_lost(None)

    run(test())


def test_only_a_request_that_is_not_complete_is_timed():
    async def test() -> None:
        line = Line(hello)
        assert line.timed, "nothing has arrived yet"
        await line.sent(b"POST / HTTP/1.1\r\nContent-Length: 2\r\nHost: x\r\n\r\nab")
        assert not line.timed
        for part in (b"P", b"OST / HTTP/1.1\r\nContent-Length: 2\r\n", b"Host: x\r\n\r\n", b"a"):
            await line.sent(part)
            assert line.timed
        await line.sent(b"bGET")
        assert line.timed, "the next request has begun"
        await line.sent(b" / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert not line.timed
        assert line.wire.written == [HEAD + b"\r\nhello"] * 3
        line.connection.connection_lost(None)

    run(test())


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize(
    "before", [b"", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" + b"x" * 50]
)
@pytest.mark.parametrize(("more", "status"), [(-200, b"200"), (200, b"431")])
def test_a_head_is_bounded_however_it_arrives(parts: int, before: bytes, more: int, status: bytes):
    async def test() -> None:
        line = Line(hello)
        head = b"GET / HTTP/1.1\r\nHost: x\r\nLong: %s\r\n\r\n" % (b"y" * (MOST_HEADER_BYTES + more))
        size = len(head) // parts + 1
        first, *rest = [head[at : at + size] for at in range(0, len(head), size)]
        written = await line.sent(before + first, *rest)
        assert written[-1].split(b" ", 2)[1] == status
        assert line.wire.ended == ("close" if status == b"431" else "")
        line.connection.connection_lost(None)

    run(test())
