"""Connections of the server: which one gives way to a new one, and how a response leaves."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import ssl
from typing import Any

import pytest

from archfit.webhook.connection import (
    CONNECTION_BYTES,
    MOST_HEADER_BYTES,
    Connections,
    HttpServer,
    most_connections,
)
from archfit.webhook.server_metrics import ServerMetrics
from tls_files import tls_files


async def answer(_scope: Any, receive: Any, send: Any) -> None:
    """An application that answers once the body is there."""
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


class Site:
    """A server for plain HTTP with some connections."""

    def __init__(self, most: int, application: Any = answer, context: ssl.SSLContext | None = None) -> None:
        self.connections = Connections(most, ServerMetrics())
        self._port = socket.create_server(("127.0.0.1", 0))
        self._server = HttpServer(application, self._port, self.connections, context)

    async def __aenter__(self) -> Site:
        self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop()

    @property
    def closed(self) -> float | None:
        """How many were closed for others."""
        metrics = self.connections.metrics.registry
        return metrics.get_sample_value("archfit_connections_closed_total", {"what": "connection"})

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._port.getsockname()
        return host, port

    async def connect(self, **more: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self._port.getsockname(), **more)

    @staticmethod
    async def ask(one: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> bytes:
        reader, writer = one
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return (await reader.readuntil(b"\r\n\r\n"))[:12]


async def test_the_oldest_connection_without_an_answer_goes_first_then_the_one_answered_longest_ago():
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
        assert (site.closed, len(site.connections.all)) == (2, 3)
        for _, writer in (one, two, silent, late, last):
            writer.close()


async def test_where_all_have_a_request_under_way_the_new_one_waits():
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
        assert (len(site.connections.all), site.closed) == (2, 0)
        goes_on.set()
        assert await asyncio.gather(*asking[:2]) == [b"HTTP/1.1 200"] * 2
        assert await asking[2] == b"HTTP/1.1 200"
        for _, writer in ones:
            writer.close()


async def test_a_connection_whose_request_is_unread_is_never_closed():
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


@pytest.mark.real
async def test_of_many_handshakes_at_once_none_is_closed_for_another(monkeypatch):
    monkeypatch.setattr("archfit.webhook.connection.TURN_SECONDS", 60.0)
    files = tls_files()
    trusting = ssl.create_default_context(cafile=str(files.ca))

    async def one() -> bytes:
        connected = await site.connect(ssl=trusting, server_hostname="localhost")
        answered = await site.ask(connected)
        connected[1].close()
        return answered

    async with Site(8, context=files.context()) as site:
        assert await asyncio.gather(*(one() for _ in range(40))) == [b"HTTP/1.1 200"] * 40


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n"


@pytest.mark.parametrize(
    ("request_line", "answered"),
    [
        (b"GET / HTTP/1.1\r\n", HEAD + b"\r\n"),
        (b"HEAD / HTTP/1.1\r\n", HEAD + b"\r\n"),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n", HEAD + b"connection: close\r\n\r\n"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n", b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"\r\n"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2 + b"GET / HTTP/1.1\r\n", (HEAD + b"\r\n") * 3),
    ],
    ids=["GET", "HEAD", "close", "continue", "three at once"],
)  # fmt: skip
async def test_each_request_has_a_response(request_line, answered):
    async with Site(10) as site:
        reader, writer = await site.connect()
        writer.write(request_line + b"Host: x\r\n\r\n" + b"x" * (b"POST" in request_line))
        assert await reader.readexactly(len(answered)) == answered
        if b"close" in request_line:
            assert await reader.read() == b""
        writer.close()


async def test_an_application_that_fails_after_its_head_closes_the_connection_behind_it():
    async def fails(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        raise ValueError

    async with Site(10, fails) as site:
        reader, writer = await site.connect()
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await reader.read() == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"
        writer.close()


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize(
    "before", [b"", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" + b"x" * 50]
)
@pytest.mark.parametrize(("more", "status"), [(-200, b"200"), (200, b"431")])
async def test_a_head_is_bounded_however_it_arrives(parts, before, more, status):
    head = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nLong: %s\r\n\r\n" % (
        b"y" * (MOST_HEADER_BYTES + more)
    )
    size = len(head) // parts + 1
    async with Site(10) as site:
        reader, writer = await site.connect()
        reading = asyncio.ensure_future(reader.read())
        for at in range(0, len(head), size):
            if not reading.done():  # the server closes the connection once it has read enough
                writer.write(before * (at == 0) + head[at : at + size])
                await asyncio.sleep(0.01)
        assert (await reading).rpartition(b"HTTP/1.1 ")[2].startswith(status)
        writer.close()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1000, id="requests before an answer"),
        pytest.param(
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"t: v\r\n" * 1000, id="trailers"
        ),
    ],
)  # fmt: skip
async def test_what_no_api_server_sends_is_refused_before_it_takes_memory(content):
    async with Site(10) as site:
        reader, writer = await site.connect()
        writer.write(content)
        answered = await reader.read()
        assert answered.count(b"HTTP/1.1 ") == 1
        assert answered.startswith(b"HTTP/1.1 431 ")
        writer.close()


@pytest.mark.parametrize(
    ("memory", "files", "most"),
    [
        pytest.param(100 * CONNECTION_BYTES, 1024, 100, id="memory"),
        pytest.param(9000 * CONNECTION_BYTES, 1024, 896, id="descriptors"),
        pytest.param(9000 * CONNECTION_BYTES, resource.RLIM_INFINITY, 9000, id="descriptors without a limit"),
        pytest.param(9000 * CONNECTION_BYTES, 64, 1, id="next to no descriptors"),
    ],
)
def test_the_smaller_of_memory_and_descriptors_bounds_connections(monkeypatch, memory, files, most):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert most_connections(memory) == most


async def test_where_no_file_is_left_the_oldest_connection_makes_room(monkeypatch):
    accept = asyncio.get_running_loop().sock_accept
    errors = [None, OSError(errno.EMFILE, "Too many open files")]

    async def short(port: socket.socket) -> Any:
        plain, address = await accept(port)
        error = errors.pop(0)
        if error:
            plain.close()
            raise error
        return plain, address

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_accept", short)
    async with Site(1000) as site:
        oldest = await site.connect()
        assert await site.ask(oldest) == b"HTTP/1.1 200"
        late = await site.connect()
        assert await oldest[0].read() == b""
        assert site.closed == 1
        for _, writer in (oldest, late):
            writer.close()
