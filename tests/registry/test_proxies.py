"""Requests through a proxy: http with the whole URL, https through a tunnel, TLS inside TLS where the proxy has TLS."""

import base64
import contextlib
import socket
import ssl
from pathlib import Path

import pytest

from fake_registry import Answer, Asked, FakeRegistry
from lookup_runs import Runs
from socket_server import SocketServer, relay
from tls_files import tls_files

BOTH = ["linux/amd64", "linux/arm64"]
REFUSED = "cannot be connected to (Connection refused)"
pytestmark = pytest.mark.usefixtures("registry_test")
CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Proxy(SocketServer):
    """A proxy that knows CONNECT. heads: what it was asked. answer: to each CONNECT."""

    def __init__(self, context: ssl.SSLContext | None, answer: bytes = CONNECTED) -> None:
        self.heads: list[str] = []
        self._context = context
        self._answer = answer
        super().__init__(self._answered)

    def _answered(self, client: socket.socket) -> None:
        with contextlib.ExitStack() as opened:
            if self._context:
                client = opened.enter_context(self._context.wrap_socket(client, server_side=True))
            head = client.recv(65536).decode()
            self.heads.append(head)
            client.sendall(self._answer)
            if self._answer == CONNECTED:
                host, _, port = head.split()[1].rpartition(":")
                relay(client, opened.enter_context(socket.create_connection((host, int(port)))))


def distant(url: str) -> str:
    """The address of a server on loopback, under a name that is asked through a proxy."""
    return url.replace("127.0.0.1", "registry.test")


@pytest.fixture
def safe():
    with FakeRegistry(tls_files().context()) as running:
        running.single("a", "1", "linux/arm64")
        running.index("b", "1", BOTH)
        yield running


@pytest.fixture
def proxy(request):
    scheme, *answer = request.param
    running = Proxy(tls_files().context() if scheme == "https" else None, *answer)
    yield running
    running.close()


def runs_through(folder: Path, registry: FakeRegistry, proxy: Proxy, url: str) -> Runs:
    runs = Runs(folder, distant(registry.url), SSL_CERT_FILE=str(tls_files().ca))
    runs.environ["https_proxy"] = url.format(port=proxy.port)
    return runs


@pytest.mark.real
@pytest.mark.parametrize(
    ("proxy", "url"),
    [
        pytest.param(("http",), "http://127.0.0.1:{port}", id="http"),
        pytest.param(("https",), "https://127.0.0.1:{port}", id="https"),
    ],
    indirect=["proxy"],
)
def test_a_registry_over_https_is_asked_through_a_tunnel_that_is_used_again(safe, proxy, url, tmp_path):
    runs = runs_through(tmp_path, safe, proxy, url)
    assert runs.names("x.io/a:1") == ["linux/arm64"]
    assert (safe.count(), safe.connections) == (2, 1)
    assert [head.splitlines()[0] for head in proxy.heads] == [f"CONNECT {distant(safe.host)} HTTP/1.1"]
    assert not any("authorization" in asked.headers for asked in safe.asked)


@pytest.mark.real
@pytest.mark.parametrize("proxy", [("https",)], indirect=True, ids=["https"])
def test_a_large_answer_comes_through_tls_inside_tls_whole(safe, proxy, tmp_path):
    padding = {"x": "y" * 400_000}
    safe.single("big", "1", "linux/arm64", **padding)
    runs = runs_through(tmp_path, safe, proxy, "https://127.0.0.1:{port}")
    assert runs.names("x.io/big:1") == ["linux/arm64"]


@pytest.mark.real
@pytest.mark.parametrize("proxy", [("http",)], indirect=True, ids=["http"])
def test_the_proxys_password_goes_to_the_proxy_alone(safe, proxy, tmp_path):
    runs = runs_through(tmp_path, safe, proxy, "http://me%40home:hu%3Ash@127.0.0.1:{port}")
    assert runs.names("x.io/b:1") == BOTH
    wanted = "proxy-authorization: Basic " + base64.b64encode(b"me@home:hu:sh").decode()
    assert [wanted in head for head in proxy.heads] == [True]
    assert not any("proxy-authorization" in asked.headers for asked in safe.asked)


@pytest.mark.real
@pytest.mark.parametrize(
    "proxy",
    [("http", b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")],
    indirect=True,
    ids=["http"],
)
def test_a_proxy_that_refuses_is_said_and_not_asked_again(safe, proxy, tmp_path):
    runs = runs_through(tmp_path, safe, proxy, "http://127.0.0.1:{port}")
    cause = runs.cause("x.io/a:1")
    assert cause.startswith(
        f"the proxy http://127.0.0.1:{proxy.port} (https_proxy), through which {distant(safe.host)} is asked, "
        f"refused a connection to {distant(safe.host)}: 407 Proxy Authentication Required: write user and password into https_proxy, as "
        f"http://USER:PASSWORD@127.0.0.1:{proxy.port}"
    )
    assert len(proxy.heads) == 1


@pytest.mark.real
@pytest.mark.parametrize("proxy", [("http",)], indirect=True, ids=["http"])
def test_a_certificate_that_is_not_trusted_is_the_registrys_and_not_the_proxys(safe, proxy, tmp_path):
    runs = Runs(tmp_path, distant(safe.url))
    runs.environ["https_proxy"] = f"http://127.0.0.1:{proxy.port}"
    assert "the TLS certificate of registry.test is not trusted" in runs.cause("x.io/a:1")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1:1",
        "http://[::1",
        "http:///a",
        "http://a:port",
        "http://hush:12/3@a:1",
        "http://hush#x@a:1",
    ],
)
def test_a_proxy_that_is_no_url_is_a_mistake_that_is_not_repeated(tmp_path, url):
    runs = Runs(tmp_path, "http://registry.test:1")
    runs.environ["http_proxy"] = url
    cause = runs.cause("x.io/a:1")
    assert "the proxy in the environment is not an http:// or https:// URL" in cause
    assert "hush" not in cause
    assert url not in cause


def test_a_proxy_that_speaks_socks_is_named_as_one_without_its_password(tmp_path):
    runs = Runs(tmp_path, "http://registry.test:1")
    runs.environ["http_proxy"] = "socks5://user:hush@127.0.0.1:1"
    cause = runs.cause("x.io/a:1")
    assert "URL (it begins with socks5://, which archfit does not speak): correct HTTPS_PROXY" in cause
    assert "hush" not in cause


def test_over_http_the_proxy_gets_the_whole_url_and_its_password(tmp_path):
    with FakeRegistry() as registry, FakeRegistry() as proxy:
        registry.index("a", "1", BOTH)

        def script(asked: Asked) -> Answer:
            return registry.stored(Asked(asked.method, asked.path.removeprefix(distant(registry.url)), {}))

        proxy.on(script)
        runs = Runs(tmp_path, distant(registry.url))
        runs.environ["http_proxy"] = f"http://me:hush@127.0.0.1:{proxy.port}"
        assert runs.names("x.io/a:1") == BOTH
        (asked,) = proxy.asked
        assert asked.path == f"{distant(registry.url)}/v2/a/manifests/1"
        assert asked.headers["host"] == distant(registry.host)
        assert asked.headers["proxy-authorization"] == "Basic " + base64.b64encode(b"me:hush").decode()


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        pytest.param("http://127.0.0.1:1", REFUSED, id="not-running"),
        pytest.param("http://me:hu-sh@127.0.0.1:1", REFUSED, id="with-a-password"),
        pytest.param("http://[:1", "", id="no-url"),
    ],
)
def test_a_proxy_that_does_not_work_is_named_and_the_way_around_it_works(fake, tmp_path, proxy, why):
    fake.single("a", "1", "linux/arm64")
    runs = Runs(tmp_path, distant(fake.url))
    runs.environ["HTTP_PROXY"] = proxy
    cause = runs.cause("x.io/a:1")
    if not why:
        assert "correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY" in cause
        return
    host = distant(fake.host)
    assert cause == (
        f"the proxy http://127.0.0.1:1 (HTTP_PROXY), through which {host} is asked, {why}: correct HTTP_PROXY, or ask "
        f"registry.test without it: NO_PROXY=registry.test (it is asked for x.io because of --mirror *={distant(fake.url)})"
    )
    assert "hu-sh" not in cause
    runs.environ["NO_PROXY"] = "registry.test"
    assert runs.names("x.io/a:1") == ["linux/arm64"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (UnicodeError("label empty or too long"), "label empty or too long"),
    ],
    ids=["unknown", "no-name"],
)
def test_a_proxy_whose_name_leads_nowhere_is_named(fake, tmp_path, monkeypatch, error, why):
    def nowhere(*_: object, **__: object) -> socket.socket:
        raise error

    monkeypatch.setattr(socket, "create_connection", nowhere)
    runs = Runs(tmp_path, distant(fake.url))
    runs.environ["all_proxy"] = "proxy.corp.example:3128"
    cause = runs.cause("x.io/a:1")
    assert cause.startswith("the proxy http://proxy.corp.example:3128 (all_proxy), through which")
    assert f"({why}): correct all_proxy" in cause


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_registry_on_this_machine_is_asked_without_a_proxy(fake, tmp_path, host):
    """As Docker, containerd and crane ask it: Go's net/http takes no proxy for loopback."""
    fake.single("a", "1", "linux/arm64")
    runs = Runs(tmp_path, fake.url.replace("127.0.0.1", host))
    runs.environ |= dict.fromkeys(("http_proxy", "all_proxy"), "http://127.0.0.1:1")
    assert runs.names("x.io/a:1") == ["linux/arm64"]
