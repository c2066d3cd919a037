"""The webhook's process: TLS, load, registries that fail, and its end."""

import signal
import socket
import ssl
import threading
from typing import Any

import pytest

from admission_reviews import pod, review
from fake_registry import FakeRegistry
from machine import run, tool
from tls_files import tls_files
from webhook_server import WebhookServer, finished_load, started_load, until

AMD = ["linux/amd64"]


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        running.index("quay.io/app", "1", AMD)
        yield running


@pytest.fixture
def server(fake, tmp_path):
    with WebhookServer(tmp_path / "server", *mirrored(fake)) as running:
        yield running


def mirrored(fake: FakeRegistry) -> tuple[str, ...]:
    """quay.io is asked at the fake."""
    return ("--mirror", f"*={fake.url}")


@pytest.fixture(autouse=True)
def by_name(fake):
    """`app` at quay.io; a mirror of everything sees the repository alone."""
    fake.index("app", "1", AMD)


def test_a_pod_of_a_new_image_is_placed(server, fake):
    answered = server.review(pod("quay.io/app:1"))
    assert answered.patch
    assert answered.warnings == []
    assert server.review(pod("quay.io/app:1")) == answered
    assert fake.count("manifest") == 1
    assert server.metric('archfit_lookups_total{origin="registry",outcome="found"}') == 1
    assert server.metric('archfit_lookups_total{origin="memory",outcome="found"}') == 1
    assert server.metric(f'archfit_registry_requests_total{{code="200",host="{fake.host}"}}') == 1


def test_pods_cannot_make_the_server_ask_a_private_address(fake, tmp_path):
    with WebhookServer(tmp_path / "server") as server:
        answered = server.review(pod(f"127.0.0.1:{fake.port}/app:1", "10.0.0.1/app:1", "localhost/app:1"))
        assert (answered.allowed, answered.patch, len(answered.warnings)) == (True, None, 3)
        assert fake.connections == 0


def test_tls_1_1_is_refused(server):
    context = ssl.create_default_context(cafile=str(tls_files().ca))
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection(("127.0.0.1", server.port), 20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        assert connection.version() == "TLSv1.2"
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname = False
    old.verify_mode = ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="deprecated"):
        old.minimum_version = ssl.TLSVersion.TLSv1_1
    with pytest.warns(DeprecationWarning, match="deprecated"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("DEFAULT:@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", server.port), 20) as plain, pytest.raises(ssl.SSLError):
        old.wrap_socket(plain, server_hostname="localhost")


def test_after_sigterm_it_is_not_ready_goes_on_answering_and_ends_what_is_under_way(fake, tmp_path):
    goes_on = threading.Event()
    fake.index("slow", "1", AMD)
    fake.on(lambda asked: fake.stored(asked).held(goes_on) if asked.repository == "slow" else None)
    with WebhookServer(
        tmp_path / "server", *mirrored(fake), "--drain-delay", "2s", "--timeout", "120s"
    ) as server:
        assert server.probe("/readyz") == (200, "ok\n")
        answers: list[Any] = []

        def wait() -> None:
            answers.append(server.review(pod("quay.io/slow:1"), timeout="30s"))

        waiting = threading.Thread(target=wait)
        waiting.start()
        until("the slow lookup is under way", lambda: server.metric("archfit_lookups_running"))
        value = review(pod("quay.io/app:1"), uid="UID")
        running = started_load(server, value, "-rate", "200", "-for", "1500ms", "-c", "4")
        until("requests come", lambda: fake.count() == 2)
        server.process.send_signal(signal.SIGTERM)
        until("it is not ready", lambda: server.probe("/readyz")[0] == 503)
        assert server.probe("/livez")[0] == 200
        counted = finished_load(running)
        assert (counted["failed"], counted["unchanged"]) == (0, 0)
        assert counted["changed"] == counted["requests"] > 0
        until("no connection is taken", lambda: refused(server.port))
        goes_on.set()
        waiting.join(20)
        assert answers[0].patch
        assert server.process.wait(20) == 0
        assert [line["message"] for line in server.log()][-1] == "stopped"


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_new_lock_file_counts_without_a_restart(tmp_path):
    lock = tmp_path / "archfit.lock"

    def write(*platforms: str) -> None:
        listed = ", ".join(f'"{platform}"' for platform in platforms)
        entry = f'{{"digest": "sha256:{"a" * 64}", "kind": "index", "platforms": [{listed}]}}'
        lock.write_text(f'{{"version": 1, "images": {{"quay.io/app:1": {entry}}}}}', encoding="utf-8")

    write("linux/amd64")
    with WebhookServer(tmp_path / "server", "--lock-file", str(lock), "--locked") as server:
        before = server.review(pod("quay.io/app:1")).patch
        lock.write_text("{", encoding="utf-8")
        until("it is told", lambda: server.metric('archfit_lock_file_reloads_total{result="failure"}'))
        assert server.review(pod("quay.io/app:1")).patch == before
        write("linux/arm64")
        until("it is read", lambda: server.metric('archfit_lock_file_reloads_total{result="success"}'))
        assert server.review(pod("quay.io/app:1")).patch != before
        other = server.review(pod("quay.io/other:1"))
        assert (other.allowed, other.patch) == (True, None)
        assert "--locked forbids asking" in other.warnings[0]


def test_promtool_finds_nothing_wrong_with_the_metrics(server):
    server.review(pod("quay.io/app:1"))
    server.send(b"{")
    text = server.probe("/metrics")[1]
    done = run([tool("promtool"), "check", "metrics"], input=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "quay.io/app" not in text


def test_the_log_holds_no_body_and_no_credential(fake, tmp_path):
    authfile = tmp_path / "auth.json"
    authfile.write_text(
        f'{{"auths": {{"{fake.host}": {{"auth": "dXNlcjpodXNoLTQ3MTE="}}}}}}', encoding="utf-8"
    )
    fake.bearer(user="user:other")
    words = (*mirrored(fake), "--authfile", str(authfile), "--log-level", "debug")
    with WebhookServer(tmp_path / "server", *words) as server:
        assert server.review(pod("quay.io/app:1")).warnings
        server.send(b'{"hush-4711":')
        assert server.end() == 0
        text = str(server.log())
        assert "hush-4711" not in text
        assert "dXNlcjpodXNoLTQ3MTE=" not in text
