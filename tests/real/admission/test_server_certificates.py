"""Certificates are read again when they change, and a pair that does not match is never served."""

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import machine
from admission_reviews import pod, review
from archfit.base.errors import ArchfitError
from archfit.webhook.certificate_files import Certificates
from control_plane import ControlPlane, Refused
from mutating_webhooks import webhook
from tls_files import handshake, tls_files
from webhook_server import Secret, WebhookServer, finished_load, issued, started_load, until


def expiry(path: Path) -> int:
    """What openssl reads."""
    words = ["openssl", "x509", "-in", path, "-noout", "-enddate"]
    done = machine.run(words, check=True)
    return int(ssl.cert_time_to_seconds(done.stdout.strip().partition("=")[2]))


@pytest.mark.parametrize("days", [0, 1, 365, 11_000, 40_000], ids=lambda days: f"{days} days")
def test_a_certificate_expires_when_openssl_says_also_one_that_has(tmp_path, days):
    pair = issued(tmp_path, "one", days)
    assert Certificates(*map(str, pair)).current.expires == expiry(pair[0])


def test_a_chain_expires_with_its_first_certificate(tmp_path):
    chain = tmp_path / "chain.crt"
    chain.write_text(tls_files().certificate.read_text() + tls_files().ca.read_text())
    assert Certificates(str(chain), str(tls_files().key)).current.expires == expiry(tls_files().certificate)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda _: "", id="empty"),
        pytest.param(lambda text: text[:200], id="cut off"),
        pytest.param(lambda text: text.replace("MII", "AAA", 1), id="not DER"),
        pytest.param(lambda text: text[:300] + "\n-----END CERTIFICATE-----\n", id="a part of DER"),
        pytest.param(lambda _: "\x00" * 1000, id="binary"),
    ],
)
def test_what_is_no_certificate_is_not_served(tmp_path, change):
    cert = tmp_path / "tls.crt"
    cert.write_text(change(tls_files().certificate.read_text()))
    with pytest.raises(ArchfitError, match=r"^--tls-dir.* cannot be used "):
        Certificates(str(cert), str(tls_files().key))


def shaken(certificates: Certificates, *client: Path) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Both ends of a new handshake, the server's first. client: its certificate and key. Raises SSLError."""
    context = ssl.create_default_context(cafile=str(tls_files().ca))
    if client:
        context.load_cert_chain(*client)
    return handshake(certificates.context, context)


def served(certificates: Certificates) -> str:
    """The common name of the certificate that a new handshake sees."""
    return common_name(shaken(certificates)[1].getpeercert())


def common_name(found: object) -> str:
    return dict(part for parts in found["subject"] for part in parts)["commonName"]


class TestFiles:
    @pytest.fixture
    def pairs(self, tmp_path):
        return [issued(tmp_path, name) for name in ("one", "two")]

    def test_files_that_vanish_leave_the_old_pair(self, pairs):
        certificates = Certificates(*map(str, pairs[0]))
        pairs[0][0].unlink()
        assert certificates.changed()
        with pytest.raises(ArchfitError, match="cannot read"):
            certificates.reload()
        assert not certificates.changed()
        assert served(certificates) == "one"

    def test_a_pair_that_belongs_together_is_served_however_often_it_moves(self, tmp_path, pairs):
        secret = Secret(tmp_path / "tls")
        folder = secret.write(*pairs[0])
        certificates = Certificates(str(folder / "tls.crt"), str(folder / "tls.key"))
        ends = threading.Event()

        def move() -> None:
            number = 0
            while not ends.is_set():
                number += 1
                secret.write(*pairs[number % 2])

        moving = threading.Thread(target=move)
        moving.start()
        try:
            for _ in range(300):
                with contextlib.suppress(ArchfitError):
                    certificates.reload()
                assert served(certificates) in {"one", "two"}
        finally:
            ends.set()
            moving.join()
        certificates.reload()
        assert not certificates.changed()

    def test_a_key_with_a_password_is_refused_without_asking(self, tmp_path, pairs):
        locked = tmp_path / "locked.key"
        words = ("openssl", "pkcs8", "-topk8", "-passout", "pass:hush", "-in", pairs[0][1], "-out", locked)
        subprocess.run(words, check=True, capture_output=True)
        with pytest.raises(ArchfitError, match="without a password"):
            Certificates(str(pairs[0][0]), str(locked))


def admitted(certificates: Certificates, *client: Path) -> bool:
    """Whether a client gets through a new handshake."""
    try:
        return shaken(certificates, *client)[0].getpeercert() is not None
    except ssl.SSLError:
        return False


class TestClientCa:
    @pytest.fixture
    def ca(self, tmp_path):
        return Path(shutil.copyfile(tls_files().ca, tmp_path / "client-ca.crt"))

    @pytest.fixture
    def certificates(self, ca):
        files = tls_files()
        return Certificates(str(files.certificate), str(files.key), str(ca))

    def test_only_clients_with_a_certificate_of_it_get_through(self, tmp_path, certificates):
        stranger = new_ca(tmp_path, "stranger")
        assert admitted(certificates, tls_files().client, tls_files().client_key)
        assert not admitted(certificates)
        assert not admitted(certificates, *stranger)

    def test_it_is_read_again_when_it_changes(self, tmp_path, ca, certificates):
        other, key = new_ca(tmp_path, "other")
        shutil.copyfile(other, ca)
        assert certificates.changed()
        assert not admitted(certificates, other, key)
        certificates.reload()
        assert admitted(certificates, other, key)
        assert not admitted(certificates, tls_files().client, tls_files().client_key)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param("", "holds no certificate in PEM", id="empty"),
            pytest.param("-----BEGIN CERTIFICATE-----", "holds no certificate in PEM", id="cut off"),
            pytest.param("a client", "holds a certificate that is no CA", id="no CA"),
            pytest.param("both", "holds a certificate that is no CA", id="a CA and one that is none"),
        ],
    )
    def test_a_file_that_is_no_ca_leaves_the_old_one(self, ca, certificates, content, message):
        client = tls_files().client.read_text()
        texts = {"a client": client, "both": tls_files().ca.read_text() + client}
        ca.write_text(texts.get(content, content))
        with pytest.raises(ArchfitError, match=message):
            certificates.reload()
        assert admitted(certificates, tls_files().client, tls_files().client_key)
        assert not admitted(certificates)

    def test_no_session_is_resumed_without_it(self, certificates):
        context = certificates.current.context
        assert (context.num_tickets, context.options & ssl.OP_NO_TICKET) == (0, ssl.OP_NO_TICKET)


def new_ca(folder: Path, name: str) -> tuple[Path, Path]:
    """A CA of its own and its key; it is a client, too."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    words = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-x509")
    subject = ("-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}")
    subprocess.run(["openssl", *words, *subject], check=True, capture_output=True)
    return cert, key


def seen(server: WebhookServer) -> str:
    context = ssl.create_default_context(cafile=str(tls_files().ca))
    with (
        socket.create_connection(("127.0.0.1", server.port), 20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        return common_name(connection.getpeercert())


def test_rotation_under_load_fails_no_handshake(tmp_path):
    pairs = {name: issued(tmp_path, name) for name in ("one", "two", "three")}
    secret = Secret(tmp_path / "tls")
    with WebhookServer(tmp_path / "server", "--offline", tls=secret.write(*pairs["one"])) as server:
        value = review(pod("quay.io/app:1"), uid="UID")
        running = started_load(server, value, "-for", "10s", "-c", "4", "-reconnect", "3", "-rate", "150")
        assert seen(server) == "one"
        secret.write(*pairs["two"])
        until("the new certificate is served", lambda: seen(server) == "two")
        secret.write(pairs["three"][0], pairs["one"][1])
        until(
            "the mismatch is told",
            lambda: server.metric('archfit_certificate_reloads_total{result="failure"}'),
        )
        assert seen(server) == "two"
        assert server.probe("/readyz")[0] == 200
        secret.write(*pairs["three"])
        until("the last certificate is served", lambda: seen(server) == "three")
        end = time.time()
        expires = server.metric("archfit_certificate_expiry_timestamp_seconds")
        assert expires == expiry(pairs["three"][0]) > end
        counted = finished_load(running)
        assert (counted["failed"], counted["first"]) == (0, "")
        assert counted["handshakes"] > 100
        told = [line for line in server.log() if line["message"].startswith("certificate")]
        assert [line["level"] for line in told] == ["info", "error", "info"]


def test_a_server_with_an_expired_certificate_is_not_ready(tmp_path):
    now = int(time.time())
    cert, key = issued(tmp_path, "brief", 1)
    late = tmp_path / "late.py"
    late.write_text(f"import time\n_real = time.time\ntime.time = lambda: _real() + {2 * 86400}\n")
    site = tmp_path / "site"
    site.mkdir()
    shutil.copyfile(late, site / "sitecustomize.py")
    folder = Secret(tmp_path / "tls").write(cert, key)
    with WebhookServer(tmp_path / "server", "--offline", tls=folder, PYTHONPATH=os.fspath(site)) as server:
        assert expiry(cert) < now + 2 * 86400
        status, text = server.probe("/readyz")
        assert (status, "expired" in text) == (503, True)
        assert server.probe("/livez")[0] == 200


def test_the_api_server_presents_a_certificate_as_the_page_says(tmp_path):
    page = (machine.ROOT / "docs" / "serve.md").read_text(encoding="utf-8").partition("## Who may call")[2]
    commands, configuration, users = re.findall(r"```(?:sh|yaml)\n(.*?)```", page, re.DOTALL)[:3]
    files = tmp_path / "admission"
    files.mkdir()
    subprocess.run(["bash", "-ec", commands], cwd=files, check=True, capture_output=True)
    words = ("--image-platforms", "quay.io/amd:1=amd64", "--client-ca", str(files / "ca.crt"))
    with WebhookServer(tmp_path / "one", *words) as server, WebhookServer(tmp_path / "two", *words) as other:
        for name, text in (("configuration.yaml", configuration), ("webhooks.yaml", users)):
            changed = text.replace("/etc/kubernetes/admission", str(files))
            (files / name).write_text(changed.replace("archfit.archfit.svc", f"127.0.0.1:{server.port}"))
        assert server.probe("/readyz")[0] == 200
        (tmp_path / "plane").mkdir()
        flag = f"--admission-control-config-file={files / 'configuration.yaml'}"
        with ControlPlane(tmp_path / "plane", flag) as plane:
            for name, url in (("admitted", server.url), ("refused", other.url)):
                plane.namespace(name)
                with webhook(plane, name, url, name, failure_policy="Fail"):
                    value = {
                        "kind": "Pod",
                        "metadata": {"name": "web", "namespace": name},
                        "spec": {"containers": [{"name": "c", "image": "quay.io/amd:1"}]},
                    }
                    told = plane.until("the webhook is called", lambda value=value: created(plane, value))
                    assert ("failed to call webhook" in told) is (name == "refused"), told
        assert server.metric('archfit_admission_requests_total{outcome="changed"}') > 0
        assert other.metric('archfit_admission_requests_total{outcome="changed"}') == 0


def created(plane: ControlPlane, value: dict[str, Any]) -> str:
    """What became of a dry-run create, "" where no webhook was called."""
    try:
        return str(plane.dry(value)["spec"].get("affinity", ""))
    except Refused as refused:
        return str(refused)
