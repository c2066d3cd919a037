"""Connections that are made before anything can be asked over them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import threading
from typing import TYPE_CHECKING

import pytest

from archfit.images.platforms import Found
from archfit.images.reference import parse
from archfit.options.hosts import mirror
from archfit.options.option_entries import RequestRate
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.fetcher import Fetcher
from archfit.registry.http.dialer import Dialer
from archfit.registry.http.limits import LargeBodies
from archfit.registry.http.request import Request
from archfit.registry.http.transport import HttpTransport
from archfit.registry.lookup_context import Deadline, LookupContext
from archfit.registry.registry_errors import RegistryError
from archfit.registry.registry_questions import Question
from archfit.registry.routing.routes import Routes
from fake_registry import Answer, Asked, FakeRegistry
from http_transports import dialer_to, transport_to
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


def connected(fake: FakeRegistry, environ: Mapping[str, str], *, ahead: bool = True) -> bool:
    """Whether `dial_ahead` has made a connection."""
    dialer = dialer_to(fake.port, environ=environ, ahead=ahead)
    dialer.dial_ahead(fake.url)
    made = any(dialer._ready.values())
    dialer.close()
    return made


def test_the_first_server_is_connected_to(fake: FakeRegistry) -> None:
    assert connected(fake, {})


def test_nothing_is_dialled_ahead_where_requests_are_to_be_rare(fake: FakeRegistry, tmp_path: Path) -> None:
    assert not connected(fake, {}, ahead=False)
    runs = Runs(tmp_path, fake.url)
    for rates, ahead in (((), True), ((RequestRate("*", 1.0),), False)):
        operator = runs.operator.replace(requests_per_second=rates)
        with contextlib.closing(fetcher_of(operator)) as fetcher:
            assert fetcher._dialer.ahead is ahead


def test_nor_where_a_proxy_makes_the_connection(fake: FakeRegistry) -> None:
    assert not connected(fake, {"http_proxy": "http://127.0.0.1:1"})
    assert connected(fake, {"http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"})


def test_nor_once_a_request_can_dial_for_itself(fake: FakeRegistry) -> None:
    dialer = dialer_to(fake.port)
    HttpTransport(dialer, LargeBodies(dialer.left))
    dialer.dial_ahead(fake.url)
    assert not any(dialer._ready.values())


def test_a_server_that_is_denied_is_not_connected_to() -> None:
    dialer = dialer_to()
    dialer.policy.check = _refuse  # type: ignore[method-assign]
    with pytest.raises(RegistryError):
        dialer.dial_ahead("http://127.0.0.1:1")


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

    monkeypatch.setattr("archfit.registry.http.dialer._resolve", nowhere)
    assert "the name 'x.io' cannot be resolved" in Runs(tmp_path, "https://x.io").cause("x.io/a:1")
    assert len(tried) == 1


def fetcher_of(operator: Operator) -> Fetcher:
    deadline = Deadline()
    deadline.start(9.0)
    context = LookupContext(
        {}, lambda: 0.0, lambda _: None, progress=None, named_hosts_only=False, deadline=deadline
    )
    keychain = Keychain("", {"HOME": "/nowhere"})
    return Fetcher(operator, context, lambda *_: None, keychain, Routes(operator))


def fetcher_at(fake: FakeRegistry) -> Fetcher:
    return fetcher_of(Operator(mirrors=(mirror("x.io", fake.url),)))


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
    fetcher = fetcher_at(fake)
    questions = [Question(parse("x.io/a:1"))]
    try:
        answers = fetcher.ask(questions, fetcher.routes(questions), block)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.signal(signal.SIGUSR1, before)
        fetcher.close()
    assert [type(answer) for answer in answers] == [Found]


def test_what_cannot_be_loaded_is_an_error_and_leaves_no_thread_behind(fake: FakeRegistry) -> None:
    fetcher = fetcher_at(fake)
    questions = [Question(parse("x.io/a:1"))]
    before = set(threading.enumerate())

    def broken() -> None:
        raise MemoryError

    with contextlib.closing(fetcher):
        with pytest.raises(MemoryError):
            fetcher.ask(questions, fetcher.routes(questions), broken)
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
@pytest.mark.parametrize("begins", [False, True], ids=["dialled", "with-tls-begun"])
def test_a_connection_that_stayed_silent_for_long_is_not_asked_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, begins: bool
) -> None:
    files, accepted = tls_files(), []
    begin_tls = Dialer.begin_tls

    def late(dialer: Dialer, origin: str) -> None:
        if begins:
            begin_tls(dialer, origin)
        monkeypatch.setattr("archfit.registry.http.dialer.SILENT_SECONDS", -1.0)

    monkeypatch.setattr(Dialer, "begin_tls", late)

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
    dialer = dialer_to(fake.port)
    dialer.close()
    dialer.dial_ahead(fake.url)
    assert not any(dialer._ready.values())
    transport = transport_to(fake.port)
    transport.close()
    transport.send(Request("ping", "GET", f"{fake.url}/v2/", {}, fake.url, 100))
    assert not any(transport._idle.values())


@pytest.mark.real
def test_tls_begins_once_on_a_connection_whichever_threads_want_it(tmp_path: Path) -> None:
    files = tls_files()
    with FakeRegistry(files.context()) as registry:
        dialer = dialer_to(registry.port, environ={"SSL_CERT_FILE": str(files.ca)})
        dialer.dial_ahead(registry.url)
        for _ in range(2):
            dialer.begin_tls(registry.url)
        transport = HttpTransport(dialer, LargeBodies(dialer.left))
        reply = transport.send(Request("ping", "GET", f"{registry.url}/v2/", {}, registry.url, 100))
        transport.close()
    assert (reply.status, registry.connections) == (404, 1)
