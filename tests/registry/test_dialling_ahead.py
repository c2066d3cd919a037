"""Connections that are made before anything can be asked over them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import threading
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from archfit.images.platforms import Found
from archfit.images.reference import parse
from archfit.options.mirrors import mirror
from archfit.options.option_entries import RequestRate
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.registry_errors import RegistryError
from archfit.registry.registry_questions import Question
from archfit.registry.registry_session import RegistrySession
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.host_policy import HostPolicy
from archfit.registry.transport.request import Request
from archfit.registry.transport.request_budget import RequestBudget
from archfit.registry.transport.trust import Trust
from fake_registry import Answer, Asked, FakeRegistry
from lookup_runs import Runs
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

BOTH = ["linux/amd64", "linux/arm64"]


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with FakeRegistry() as running:
        running.index("a", "1", BOTH)
        yield running


def connected(fake: FakeRegistry, environ: Mapping[str, str], budget: RequestBudget | None = None) -> bool:
    """Whether `dial_ahead` has made a connection."""
    policy = HostPolicy({("127.0.0.1", fake.port)})
    connections = Connections("test", environ, lambda: 9.0, policy, Trust(), budget)
    made: list[object] = []
    connections._dialer.dial_ahead = lambda *where: made.append(where)  # type: ignore[method-assign]
    connections.dial_ahead(fake.url)
    connections.close()
    return bool(made)


def test_the_first_server_is_connected_to(fake: FakeRegistry) -> None:
    assert connected(fake, {})


def test_nothing_is_dialled_ahead_where_requests_are_to_be_rare(fake: FakeRegistry) -> None:
    budget = RequestBudget([RequestRate("*", 1.0)], lambda: 0.0, lambda _: None)
    assert not connected(fake, {}, budget)


def test_nor_where_a_proxy_makes_the_connection(fake: FakeRegistry) -> None:
    assert not connected(fake, {"http_proxy": "http://127.0.0.1:1"})
    assert connected(fake, {"http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"})


def test_a_server_that_is_denied_is_not_connected_to() -> None:
    connections = Connections("test", {}, lambda: 9.0, HostPolicy(denied=[]), Trust())
    connections.policy.check = _refuse  # type: ignore[method-assign]
    with pytest.raises(RegistryError):
        connections.dial_ahead("http://127.0.0.1:1")


def _refuse(*_: object) -> None:
    raise RegistryError("refused")


def test_the_connection_is_the_one_that_is_asked_over(fake: FakeRegistry, tmp_path: Path) -> None:
    fake.index("b", "1", BOTH)
    Runs(tmp_path, fake.url).ask("x.io/a:1", "x.io/b:1")
    assert fake.connections <= 2
    assert fake.count() == 2


def test_what_went_wrong_is_said_by_the_request_and_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def nowhere(*given: object, **_: object) -> list[object]:
        tried.append(given)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr("archfit.registry.transport.dialer._resolve", nowhere)
    assert "the name 'x.io' cannot be resolved" in Runs(tmp_path, "https://x.io").cause("x.io/a:1")
    assert len(tried) == 1


def session_at(fake: FakeRegistry) -> RegistrySession:
    operator = Operator(mirrors=(mirror("x.io", fake.url),))
    keychain = Keychain("", {"HOME": "/nowhere"})
    ends = monotonic() + 9
    left = lambda: max(0.0, ends - monotonic())  # noqa: E731 - a clock
    routes = Routes(operator)
    return RegistrySession(operator, {}, lambda: 0.0, lambda _: None, left, lambda *_: None, keychain, routes)


def test_a_signal_is_handled_while_answers_are_waited_for_whichever_thread_gets_it(
    fake: FakeRegistry,
) -> None:
    """Python handles signals in the main thread, which another thread's signal does not wake."""
    handled = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: handled.set())

    def script(asked: Asked) -> Answer:
        os.kill(os.getpid(), signal.SIGUSR1)
        return fake.stored(asked).held(handled)

    def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})

    fake.on(script)
    session = session_at(fake)
    questions = [Question(parse("x.io/a:1"))]
    try:
        answers = session.fetcher.ask(questions, session.fetcher.routes(questions), block, None)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.signal(signal.SIGUSR1, before)
        session.close()
    assert [type(answer) for answer in answers] == [Found]


def test_what_cannot_be_loaded_is_an_error_and_leaves_no_thread_behind(fake: FakeRegistry) -> None:
    session = session_at(fake)
    questions = [Question(parse("x.io/a:1"))]
    before = set(threading.enumerate())

    def broken() -> None:
        raise MemoryError

    with contextlib.closing(session):
        with pytest.raises(MemoryError):
            session.fetcher.ask(questions, session.fetcher.routes(questions), broken, None)
        for thread in set(threading.enumerate()) - before:
            # The registry may begin a thread just now, and one that has not begun cannot be waited for.
            if "serve" not in thread.name and "process_request" not in thread.name:
                thread.join(30)
                assert not thread.is_alive()
    assert fake.asked == []


@pytest.mark.real
def test_a_registrys_tls_begins_while_a_token_is_asked_for_elsewhere(tmp_path: Path) -> None:
    """The token service answers only once the registry has read the beginning of TLS."""
    files = tls_files()
    greeted = threading.Event()

    class Registry(FakeRegistry):
        def accepted(self, connection: socket.socket) -> None:
            connection.recv(1, socket.MSG_PEEK)
            greeted.set()

    with Registry(files.context()) as registry, FakeRegistry(files.context()) as service:
        registry.index("a", "1", BOTH)
        registry.index("b", "1", BOTH)
        given: dict[str, str] = {}

        def token(asked: Asked) -> Answer:
            greeted.wait(30)
            given[asked.query["scope"][0]] = "t"
            return Answer(body=b'{"token": "t"}' if greeted.is_set() else b"{}")

        def challenge(asked: Asked) -> Answer | None:
            if asked.headers.get("authorization") == "Bearer t":
                return None
            realm = f'Bearer realm="{service.url}/token",service="s"'
            return Answer(401, headers={"WWW-Authenticate": realm})

        service.on(token)
        registry.on(challenge)
        runs = Runs(tmp_path, registry.url, SSL_CERT_FILE=str(files.ca))
        runs.set(allow_hosts=(service.host,))
        assert runs.names("x.io/a:1") == BOTH
        registry.forget()
        greeted.clear()
        assert runs.names("x.io/b:1") == BOTH
        assert (registry.count(), registry.connections) == (1, 1)


@pytest.mark.real
@pytest.mark.parametrize("context", ["untrusted", "none"])
def test_tls_that_goes_wrong_after_its_beginning_is_said_once(tmp_path: Path, context: str) -> None:
    with FakeRegistry(tls_files().context() if context == "untrusted" else None) as registry:
        runs = Runs(tmp_path, registry.url.replace("http:", "https:"))
        wanted = "is not trusted" if context == "untrusted" else "answers without TLS"
        assert wanted in runs.cause("x.io/a:1")
        assert runs.waits == []


def test_a_registry_that_hangs_up_at_the_beginning_of_tls_is_asked_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    connection.recv(1)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        runs = Runs(tmp_path, f"https://127.0.0.1:{port}")
        assert f"the connection to 127.0.0.1:{port} broke" in runs.cause("x.io/a:1")
        listening.shutdown(socket.SHUT_RDWR)
    assert runs.waits


@pytest.mark.real
@pytest.mark.parametrize("module", ["dialer", "http_transport"])
def test_a_connection_that_stayed_silent_for_long_is_not_asked_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    files, accepted = tls_files(), []
    monkeypatch.setattr(f"archfit.registry.transport.{module}.SILENT_SECONDS", -1.0)

    class Registry(FakeRegistry):
        def accepted(self, connection: socket.socket) -> None:
            accepted.append(connection)

    with Registry(files.context()) as registry:
        registry.index("a", "1", BOTH)
        runs = Runs(tmp_path, registry.url, SSL_CERT_FILE=str(files.ca))
        assert runs.names("x.io/a:1") == BOTH
        assert (registry.count(), runs.waits) == (1, [])
    assert len(accepted) == 2


def test_a_thread_that_outlasts_the_run_leaves_no_connection_open(fake: FakeRegistry) -> None:
    """The deadline ends a run while its threads still wait; what they come home with is closed at once."""
    connections = Connections("test", {}, lambda: 9.0, HostPolicy({("127.0.0.1", fake.port)}), Trust())
    request = Request("ping", "GET", f"{fake.url}/v2/", {}, fake.url, 100)
    connections.close()
    connections.dial_ahead(fake.url)
    assert not any(connections._dialer._ready.values())
    connections.send(request)
    assert connections._http
    connections._http.close()
    connections.send(request)
    assert not any(connections._http._idle.values())
