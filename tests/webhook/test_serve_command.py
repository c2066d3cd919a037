"""`archfit serve`: its addresses, its defaults, and the extra that it needs."""

import json
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

import machine
from admission_reviews import pod
from archfit.base.errors import UsageError
from archfit.base.packages import EXTRAS, install_command
from archfit.webhook import command, server_process
from archfit.webhook.listen_address import ListenAddress, listen, listen_address
from program import PROGRAM
from tls_files import tls_files
from webhook_server import WebhookServer, until


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
def test_an_address_is_host_and_port(text, expected, loopback):
    found = listen_address(text, "--listen")
    assert (found.host, found.port, found.is_loopback) == (*expected, loopback)


@pytest.mark.parametrize(
    "text", ["", ":", "localhost:80", "1.2.3.4", ":65536", ":-1", "::1", "[::1]", ":٣", "http://127.0.0.1:80"]
)
def test_what_is_no_address_is_wrong_usage(text):
    with pytest.raises(UsageError, match="is not an address: write :8443"):
        listen_address(text, "--listen")


def test_every_address_means_ipv4_too():
    with listen(ListenAddress("", 0), "--listen") as made:
        socket.create_connection(("127.0.0.1", made.getsockname()[1]), 5).close()


def started(monkeypatch: pytest.MonkeyPatch, *words: str, **environ: str) -> tuple[Any, Any]:
    """The options of placement and those of the server that it would get."""
    found: list[Any] = []
    monkeypatch.setattr(server_process, "serve", lambda chosen, own, *_: found.append((chosen, own)) or 0)
    assert command.serve(["--tls-dir", "x", *words], sys.stderr, environ) == 0
    return found[0][0].options, found[0][1]


@pytest.mark.parametrize(
    ("words", "level"),
    [
        pytest.param((), "info", id="default"),
        pytest.param(("-q",), "warning", id="quiet"),
        pytest.param(("-q", "--log-level", "error"), "error", id="quiet-and-less"),
        pytest.param(("--log-level", "debug"), "debug", id="debug"),
    ],
)
def test_quiet_leaves_warnings_and_errors_in_the_log(monkeypatch, words, level):
    assert started(monkeypatch, *words)[1].log_level == level


@pytest.mark.parametrize(
    ("words", "environ", "on_unknown"),
    [
        pytest.param((), {}, "leave", id="by default pods are admitted"),
        pytest.param(("--on-unknown", "fail"), {}, "fail", id="flag"),
        pytest.param((), {"ARCHFIT_ON_UNKNOWN": "fail"}, "fail", id="variable"),
    ],
)
def test_what_the_operator_says_wins(monkeypatch, words, environ, on_unknown):
    options, _ = started(monkeypatch, *words, **environ)
    assert (options.on_absent, options.on_conflict, options.strict) == ("leave", "leave", False)
    assert options.on_unknown == on_unknown


@pytest.mark.parametrize("package", ["uvicorn", "prometheus_client", "uvloop", "httptools"])
def test_without_the_extra_the_error_says_what_to_install(package):
    code = (
        f"import sys; sys.modules[{package!r}] = None; from archfit.cli.main import main; "
        "sys.exit(main(['serve', '--insecure-http', '--listen', '127.0.0.1:0']))"
    )
    done = machine.run([sys.executable, "-c", code])
    assert done.returncode == 1
    assert done.stderr == (
        f"archfit: error: archfit serve needs packages that are not installed ({package}): "
        f"{install_command(*EXTRAS['serve'])}\n"
    )


def test_plain_http_is_what_the_log_says_and_a_server_that_drains_is_not_ready(tmp_path):
    log = tmp_path / "log"
    ports = ["--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0"]
    words = [PROGRAM, "serve", "--insecure-http", "--offline", *ports, "--drain-delay", "1h"]

    def status(url: str) -> int:
        try:
            with urllib.request.urlopen(url, timeout=20) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    with log.open("wb") as stream, subprocess.Popen(words, stderr=stream) as process:
        try:
            until("it listens", lambda: b'"listening"' in log.read_bytes())
            line = json.loads(log.read_text().splitlines()[0])
            probes = line["probes"]
            assert (status(line["webhook"]), status(f"{probes}/readyz")) == (405, 200)
            process.terminate()
            until("it drains", lambda: b'"draining"' in log.read_bytes())
            assert (status(f"{probes}/readyz"), status(f"{probes}/livez")) == (503, 200)
            process.terminate()  # without the delay
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_it_answers_over_tls_alone_until_a_signal(real, tmp_path):
    with WebhookServer(tmp_path, "--offline") as server:
        assert server.review(pod("app:1")).allowed
        plain = server.url.replace("https://", "http://", 1)
        with pytest.raises(OSError, match=r"closed|reset|refused"):
            urllib.request.urlopen(plain, timeout=20)
        assert server.probe("/readyz")[0] == 200
        assert server.end() == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param("", "archfit serve needs a certificate: add --tls-dir DIR", id="no certificate"),
        pytest.param("--tls-dir nowhere", "cannot read 'nowhere/tls.crt'", id="missing files"),
        pytest.param("{no_key}", "cannot be used", id="no key in it"),
        pytest.param("{another_key}", "does not belong to the certificate", id="another key"),
        pytest.param("{no_certificate}", "(it holds no certificate): write one in PEM there", id="not a certificate"),
        pytest.param("{tls} --listen 127.0.0.1:{port}", "cannot listen", id="port taken"),
        pytest.param("{tls} --lock-file none.lock", "there is no 'none.lock'", id="lock"),
        pytest.param("{tls} --authfile none", "--authfile", id="credentials"),
        pytest.param("{tls} --drain-delay 5", "is not a duration", id="delay"),
        pytest.param("{tls} --memory-limit 64Mi", "give it 320Mi", id="small limit"),
        pytest.param("{tls} --pull-secret hub", "NAMESPACE/NAME", id="secret"),
        pytest.param("{tls} --log-level loud", "debug, info", id="level"),
        pytest.param("--insecure-http", "is for loopback only", id="plain HTTP for all"),
        pytest.param("--insecure-http --tls-dir x", "plain HTTP knows no certificates", id="both"),
        pytest.param("{tls} --client-ca none.crt", "cannot read 'none.crt'", id="client CA"),
        pytest.param("--insecure-http --listen 127.0.0.1:0 --client-ca x", "plain HTTP knows no certificates", id="client CA without TLS"),
        pytest.param("{tls} pod.yaml", "takes flags alone", id="a file"),
    ],
)  # fmt: skip
def test_a_mistake_ends_before_anything_is_started(words, message, real, tmp_path):
    files = tls_files()
    pairs = {
        "tls": (files.certificate, files.key),
        "no_key": (files.certificate, files.ca),
        "another_key": (files.certificate, files.client_key),
        "no_certificate": (files.key, files.key),
    }
    flags = {}
    for name, (certificate, key) in pairs.items():
        (tmp_path / name).mkdir()
        shutil.copy(certificate, tmp_path / name / "tls.crt")
        shutil.copy(key, tmp_path / name / "tls.key")
        flags[name] = f"--tls-dir {tmp_path / name}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = words.format(port=taken.getsockname()[1], **flags)
        with pytest.raises(UsageError, match=re.escape(message)):
            command.serve(given.split(), sys.stderr, {})


def test_a_platform_without_spawn_is_named(monkeypatch):
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["fork"])
    with pytest.raises(UsageError, match="cannot start processes by spawn: run it on Linux or macOS"):
        command.serve(["--insecure-http", "--listen", "127.0.0.1:0"], sys.stderr, {})
