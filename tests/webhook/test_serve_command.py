"""`archfit serve`: its addresses, its defaults, and the extra that it needs."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from functools import partial
from typing import Any

import pytest
import uvicorn

from archfit.base.errors import UsageError
from archfit.base.packages import EXTRAS, install_command
from archfit.webhook import command as serve
from archfit.webhook.server import connection
from archfit.webhook.server.listen_address import ListenAddress, listen, listen_address


@pytest.mark.parametrize(
    ("text", "expected", "loopback"),
    [
        pytest.param(":8443", ("", 8443), False, id="every address"),
        pytest.param("8443", ("", 8443), False, id="a port"),
        pytest.param("127.0.0.1:0", ("127.0.0.1", 0), True, id="loopback"),
        pytest.param("[::1]:8443", ("::1", 8443), True, id="loopback, IPv6"),
        pytest.param("10.0.0.1:8443", ("10.0.0.1", 8443), False, id="an address"),
        pytest.param("[::]:8443", ("::", 8443), False, id="every address, IPv6"),
    ],
)
def test_an_address_is_host_and_port(text: str, expected: tuple[str, int], loopback: bool):
    found = listen_address(text, "--listen")
    assert (found.host, found.port, found.is_loopback) == (*expected, loopback)


@pytest.mark.parametrize(
    "text", ["", ":", "localhost:80", "1.2.3.4", ":65536", ":-1", "::1", "[::1]", ":٣", "http://127.0.0.1:80"]
)
def test_what_is_no_address_is_wrong_usage(text: str):
    with pytest.raises(UsageError, match="is not an address: write :8443"):
        listen_address(text, "--listen")


def test_every_address_means_ipv4_too():
    with listen(ListenAddress("", 0), "--listen") as made:
        socket.create_connection(("127.0.0.1", made.getsockname()[1]), 5).close()


def settings(monkeypatch: pytest.MonkeyPatch, *words: str, **environ: str) -> Any:
    """The settings that the server would get."""
    from archfit.webhook.server import server_process

    found: list[Any] = []
    monkeypatch.setattr(server_process, "serve", lambda chosen, *_: found.append(chosen) or 0)
    assert serve.run(["--tls-dir", "x", *words], sys.stderr, environ) == 0
    return found[0].options


@pytest.mark.parametrize(
    ("words", "level"),
    [
        pytest.param((), "info", id="default"),
        pytest.param(("-q",), "warning", id="quiet"),
        pytest.param(("-q", "--log-level", "error"), "error", id="quiet-and-less"),
        pytest.param(("--log-level", "debug"), "debug", id="debug"),
    ],
)
def test_quiet_leaves_warnings_and_errors_in_the_log(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], level: str
):
    from archfit.webhook.server import server_process

    found: list[Any] = []
    monkeypatch.setattr(server_process, "serve", lambda _, own, *__: found.append(own) or 0)
    assert serve.run(["--tls-dir", "x", *words], sys.stderr, {}) == 0
    assert found[0].log_level == level


def test_by_default_pods_are_admitted(monkeypatch: pytest.MonkeyPatch):
    options = settings(monkeypatch)
    assert (options.on_absent, options.on_unknown, options.on_conflict, options.strict) == (
        *["leave"] * 3,
        False,
    )


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        pytest.param(("--on-unknown", "fail"), {}, id="flag"),
        pytest.param((), {"ARCHFIT_ON_UNKNOWN": "fail"}, id="variable"),
    ],
)
def test_what_the_operator_says_wins(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], environ: dict[str, str]
):
    options = settings(monkeypatch, *words, **environ)
    assert (options.on_absent, options.on_unknown) == ("leave", "fail")


@pytest.mark.parametrize("package", ["uvicorn", "prometheus_client", "uvloop", "httptools"])
def test_without_the_extra_the_error_says_what_to_install(package: str):
    code = (
        f"import sys; sys.modules[{package!r}] = None; from archfit.cli.main import main; "
        "sys.exit(main(['serve', '--insecure-http', '--listen', '127.0.0.1:0']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"archfit: error: archfit serve needs packages that are not installed ({package}): "
        f"{install_command(*EXTRAS['serve'])}\n"
    )


@pytest.mark.parametrize(
    ("parts", "answered"),
    [
        pytest.param([b""], False, id="nothing"),
        pytest.param([b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n", b"1234"], False, id="half a body"),
        pytest.param([b"GET / HTTP/1.1\r\n", b"Host: x\r\n\r\n"], True, id="a request in two parts"),
    ],
)
def test_a_connection_that_sends_no_request_in_time_is_closed(
    monkeypatch: pytest.MonkeyPatch, parts: list[bytes], answered: bool
):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.3)

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def talk() -> bytes:
        protocol: Any = partial(connection.Connection, among=connection.Connections(10))
        config = uvicorn.Config(app, http=protocol, lifespan="off", log_config=None, ws="none")
        server = uvicorn.Server(config)
        with socket.create_server(("127.0.0.1", 0)) as made:
            serving = asyncio.ensure_future(server._serve([made]))
            reader, writer = await asyncio.open_connection(*made.getsockname())
            for part in parts:
                writer.write(part)
                await writer.drain()
            found = await asyncio.wait_for(reader.read(8), 10)
            writer.close()
            server.should_exit = True
            await serving
        return found

    assert (asyncio.run(talk()) == b"HTTP/1.1") is answered
