"""Whose certificates count, which servers the operator named, and what each may then do."""

import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Found, Unknown
from archfit.options.hosts import host_pattern
from archfit.options.settings import Operator
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.registry_errors import RegistryError
from fake_registry import Answer, FakeRegistry
from lookup_runs import Runs, lookup_with
from tls_files import tls_files

BOTH = ["linux/amd64", "linux/arm64"]


@pytest.fixture
def safe(real):
    with FakeRegistry(tls_files().context()) as running:
        running.index("a", "1", BOTH)
        yield running


@pytest.fixture
def other(real):
    """The same certificate at another port."""
    with FakeRegistry(tls_files().context()) as running:
        running.index("b", "1", BOTH)
        yield running


def runs_at(folder: Path, *servers: FakeRegistry) -> Runs:
    """Each server asked for its own images, under its own name."""
    runs = Runs(folder, "")
    runs.set(mirrors=(), allow_hosts=tuple(server.host for server in servers))
    return runs


def folder_of(runs: Runs, server: FakeRegistry) -> Path:
    """The directory of hosts.toml for a server; `--hosts-dir` is set."""
    made = runs.folder / "certs.d" / server.host
    made.mkdir(parents=True, exist_ok=True)
    runs.set(hosts_dir=str(runs.folder / "certs.d"))
    return made


class TestTls:
    def test_ca_file_counts_for_every_server_beside_the_usual(self, safe, other, tmp_path):
        runs = runs_at(tmp_path, safe, other)
        assert "is not trusted" in runs.cause(f"{safe.host}/a:1")
        runs.set(ca_file=str(tls_files().ca))
        assert runs.names(f"{safe.host}/a:1") == runs.names(f"{other.host}/b:1") == BOTH

    @pytest.mark.parametrize("place", ["file", "folder", "certifi"])
    def test_the_cas_of_the_system_count_else_those_of_certifi(self, safe, tmp_path, monkeypatch, place):
        """OpenSSL takes the places of the system's CAs from the process, and archfit its variables from `environ`."""
        ca, folder = tls_files().ca, tmp_path / "certs"
        folder.mkdir()
        hashed = ["openssl", "x509", "-noout", "-hash", "-in", str(ca)]
        name = subprocess.run(hashed, check=True, capture_output=True, text=True).stdout.strip()
        (folder / (f"{name}.0" if place == "folder" else "README")).symlink_to(ca)
        monkeypatch.setenv("SSL_CERT_DIR", str(folder))
        monkeypatch.setenv("SSL_CERT_FILE", str(ca if place == "file" else tmp_path / "none.pem"))
        monkeypatch.setattr("certifi.where", lambda: str(ca if place == "certifi" else tmp_path / "none.pem"))
        unrelated = tmp_path / "unrelated.pem"  # contexts of the same files are shared
        unrelated.write_bytes(tls_files().client.read_bytes())
        runs = runs_at(tmp_path, safe)
        runs.set(ca_file=str(unrelated))
        assert runs.names(f"{safe.host}/a:1") == BOTH

    @pytest.mark.usefixtures("real")
    def test_a_server_that_also_speaks_http_2_is_asked_for_http_1(self, tmp_path):
        context = tls_files().context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        seen: list[str | None] = []

        class Connection(ssl.SSLSocket):
            def do_handshake(self, block: bool = False) -> None:
                super().do_handshake(block)
                seen.append(self.selected_alpn_protocol())

        context.sslsocket_class = Connection
        with FakeRegistry(context) as server:
            server.index("a", "1", BOTH)
            runs = runs_at(tmp_path, server)
            runs.set(ca_file=str(tls_files().ca))
            assert runs.names(f"{server.host}/a:1") == BOTH
        assert seen == ["http/1.1"]

    @pytest.mark.parametrize("form", ["hosts.toml", "certs.d"])
    def test_a_servers_ca_counts_for_that_server_alone(self, safe, other, tmp_path, form):
        runs = runs_at(tmp_path, safe, other)
        folder = folder_of(runs, safe)
        (folder / ("corp.pem" if form == "hosts.toml" else "corp.crt")).write_bytes(
            tls_files().ca.read_bytes()
        )
        if form == "hosts.toml":
            (folder / "hosts.toml").write_text('ca = "corp.pem"')
        answers = runs.ask(f"{safe.host}/a:1", f"{other.host}/b:1")
        assert isinstance(answers[f"{safe.host}/a:1"], Found)
        assert "is not trusted" in str(answers[f"{other.host}/b:1"])

    def test_skip_verify_is_for_one_server_and_said_loudly(self, safe, other, tmp_path):
        runs = runs_at(tmp_path, safe, other)
        (folder_of(runs, safe) / "hosts.toml").write_text("skip_verify = true")
        answers = runs.ask(f"{safe.host}/a:1", f"{other.host}/b:1")
        assert isinstance(answers[f"{safe.host}/a:1"], Found)
        assert "is not trusted" in str(answers[f"{other.host}/b:1"])
        assert [
            text for text in runs.messages if f"https://{safe.host} is asked without verification" in text
        ]
        assert not [text for text in runs.messages if other.host in text]

    def test_a_redirect_takes_no_trust_along(self, safe, other, tmp_path):
        runs = runs_at(tmp_path, safe, other)
        (folder_of(runs, safe) / "hosts.toml").write_text("skip_verify = true")
        safe.always(Answer(307, headers={"Location": f"{other.url}/v2/b/manifests/1"}))
        assert "is not trusted" in runs.cause(f"{safe.host}/a:1")

    @pytest.mark.parametrize("form", ["hosts.toml", "one-file", "certs.d"])
    @pytest.mark.real
    def test_a_client_certificate_is_shown_to_its_server_alone(self, tmp_path, form):
        files = tls_files()
        with (
            FakeRegistry(files.context(wants_client=True)) as wants,
            FakeRegistry(files.context(wants_client=True)) as stranger,
        ):
            wants.index("a", "1", BOTH)
            runs = runs_at(tmp_path, wants, stranger)
            runs.set(ca_file=str(files.ca))
            assert isinstance(runs.ask(f"{wants.host}/a:1")[f"{wants.host}/a:1"], Unknown)
            folder = folder_of(runs, wants)
            if form == "hosts.toml":
                text = f'client = [["{files.client}", "{files.client_key}"]]'
                (folder / "hosts.toml").write_text(text)
            elif form == "one-file":
                (folder / "both.pem").write_bytes(files.client.read_bytes() + files.client_key.read_bytes())
                (folder / "hosts.toml").write_text('client = "both.pem"')
            else:
                (folder / "me.cert").write_bytes(files.client.read_bytes())
                (folder / "me.key").write_bytes(files.client_key.read_bytes())
            assert runs.names(f"{wants.host}/a:1") == BOTH
            wants.always(Answer(307, headers={"Location": f"{stranger.url}/v2/a/manifests/1"}))
            runs.set(no_cache=True)
            runs.cause(f"{wants.host}/a:1")
            assert stranger.asked == []

    def test_a_client_key_with_a_password_is_an_error_and_not_a_question(self, safe, tmp_path):
        import subprocess

        key = tmp_path / "locked.key"
        command = ["openssl", "ec", "-aes256", "-passout", "pass:x", "-in", str(tls_files().client_key)]
        subprocess.run([*command, "-out", str(key)], check=True, capture_output=True)
        runs = runs_at(tmp_path, safe)
        (folder_of(runs, safe) / "hosts.toml").write_text(f'client = [["{tls_files().client}", "{key}"]]')
        assert "cannot be used" in runs.cause(f"{safe.host}/a:1")

    def test_a_ca_that_hosts_toml_names_has_to_be_there(self, safe, tmp_path):
        runs = runs_at(tmp_path, safe)
        (folder_of(runs, safe) / "hosts.toml").write_text('ca = "/dev/null/ca.pem"')
        with pytest.raises(UsageError, match=r"there is no file '/dev/null/ca\.pem': correct the path"):
            runs.ask(f"{safe.host}/a:1")

    def test_an_insecure_registry_of_registries_conf_is_asked_over_tls_first(self, safe, tmp_path):
        runs = runs_at(tmp_path, safe)
        (tmp_path / "registries.conf").write_text(f'[[registry]]\nlocation = "{safe.host}"\ninsecure = true')
        runs.set(registries_conf=str(tmp_path / "registries.conf"))
        assert runs.names(f"{safe.host}/a:1") == BOTH
        assert f"https://{safe.host} is asked without verification" in " ".join(runs.messages)

    @pytest.mark.usefixtures("registry_test")
    def test_neither_a_mirror_nor_a_proxy_makes_anything_insecure(self, safe, tmp_path):
        runs = Runs(tmp_path, safe.url)
        assert "is not trusted" in runs.cause("x.io/a:1")
        runs = Runs(tmp_path, "https://registry.test")
        runs.environ["https_proxy"] = safe.url
        assert "is not trusted" in runs.cause("x.io/a:1")
        assert runs.messages == []

    @pytest.mark.usefixtures("registry_test")
    def test_nor_does_an_insecure_server_make_its_proxy_so(self, other, tmp_path):
        runs = Runs(tmp_path, "")
        runs.set(mirrors=(), allow_hosts=("registry.test",), hosts_dir=str(tmp_path))
        (tmp_path / "registry.test").mkdir()
        (tmp_path / "registry.test/hosts.toml").write_text("skip_verify = true")
        runs.environ["https_proxy"] = other.url
        assert "is not trusted" in runs.cause("registry.test/a:1")
        assert other.asked == []


@pytest.mark.parametrize(
    ("patterns", "place", "good"),
    [
        pytest.param(("a.io",), ("a.io", 443), True, id="a-host-is-port-443"),
        pytest.param(("a.io",), ("a.io", 5000), False, id="and-no-other"),
        pytest.param(("A.io:5000",), ("a.IO", 5000), True, id="host-and-port-in-any-case"),
        pytest.param(("*.a.io",), ("x.y.a.io", 443), True, id="a-domain-is-all-below-it"),
        pytest.param(("*.a.io",), ("a.io", 443), False, id="but-not-itself"),
        pytest.param(("*.a.io",), ("xa.io", 443), False, id="whole-labels"),
        pytest.param(("*.a.io:5000",), ("x.a.io", 5000), True, id="a-domain-with-a-port"),
        pytest.param(("[::1]:5000",), ("::1", 5000), True, id="ipv6"),
        pytest.param((), ("a.io", 443), False, id="nothing"),
    ],
)
def test_allow_host(patterns, place, good):
    policy = HostPolicy(allowed=map(host_pattern, patterns))
    assert policy.is_named(*place) is policy.is_trusted(*place) is good


def test_a_key_of_a_credentials_file_names_its_host_but_not_as_one_to_send_others_credentials_to():
    policy = HostPolicy(mentioned=lambda: ["harbor.corp", "localhost:5000"])
    assert policy.is_named("harbor.corp", 443)
    assert policy.is_named("localhost", 5000)
    assert not policy.is_named("harbor.corp", 5000)
    assert not policy.is_trusted("harbor.corp", 443)


@pytest.mark.parametrize(
    ("denied", "place", "good"),
    [
        pytest.param(("bad.io",), ("bad.io", 443), False, id="a-host-on-any-port"),
        pytest.param(("bad.io",), ("bad.io", 5000), False, id="a-host-on-another-port"),
        pytest.param(("bad.io:1",), ("bad.io", 443), True, id="a-port-is-that-port"),
        pytest.param(("*.bad.io",), ("x.bad.io", 443), False, id="a-domain"),
        pytest.param(("bad.io",), ("good.io", 443), True, id="no-other"),
        pytest.param(("allowed.io",), ("allowed.io", 443), False, id="denied-beats-allowed"),
        pytest.param(("*",), ("allowed.io", 443), True, id="all-but-the-allowed"),
        pytest.param(("*",), ("other.io", 443), False, id="all-others"),
    ],
)
def test_deny_host(denied, place, good):
    policy = HostPolicy(
        allowed=[host_pattern("allowed.io")], denied=[host_pattern(text, every=True) for text in denied]
    )
    if good:
        policy.check(*place)
    else:
        with pytest.raises(RegistryError, match="--deny-host forbids it"):
            policy.check(*place)


class TestHosts:
    def test_a_denied_registry_is_not_even_resolved(self, tmp_path, monkeypatch):
        asked: list[object] = []
        monkeypatch.setattr(
            "archfit.registry.http.connections._resolve", lambda *given, **_: asked.append(given)
        )
        runs = Runs(tmp_path, "")
        runs.set(mirrors=(), deny_hosts=("*",))
        assert "x.io:443 is not asked: --deny-host forbids it" in runs.cause("x.io/a:1")
        runs.environ["https_proxy"] = "http://127.0.0.1:9"
        assert "--deny-host forbids it" in runs.cause("x.io/a:1")
        assert asked == []

    def test_nor_is_a_redirect_or_realm_that_is_denied(self, safe, other, tmp_path):
        runs = runs_at(tmp_path, safe, other)
        runs.set(ca_file=str(tls_files().ca), deny_hosts=(other.host,))
        safe.once(Answer(307, headers={"Location": f"{other.url}/v2/b/manifests/1"}))
        assert "--deny-host forbids it" in runs.cause(f"{safe.host}/a:1")
        safe.bearer(realm=f"{other.url}/token")
        assert "--deny-host forbids it" in runs.cause(f"{safe.host}/a:1")
        assert other.connections == 0

    @pytest.mark.parametrize(
        "named",
        [
            pytest.param("", id="nobody"),
            pytest.param("allow", id="allow-host"),
            pytest.param("login", id="a-key-of-the-credentials-file"),
            pytest.param("hosts", id="a-directory-of-hosts-toml"),
            pytest.param("conf", id="registries-conf"),
        ],
    )
    def test_who_names_a_server_on_loopback(self, safe, tmp_path, named):
        runs = Runs(tmp_path, "")
        runs.set(mirrors=(), ca_file=str(tls_files().ca))
        if named == "allow":
            runs.set(allow_hosts=(safe.host,))
        elif named == "login":
            runs.login(safe.host)
        elif named == "hosts":
            folder_of(runs, safe)
        elif named == "conf":
            (tmp_path / "registries.conf").write_text(f'[[registry]]\nlocation = "{safe.host}"')
            runs.set(registries_conf=str(tmp_path / "registries.conf"))
        if named:
            assert runs.names(f"{safe.host}/a:1") == BOTH
        else:
            assert "a loopback address" in runs.cause(f"{safe.host}/a:1")

    @pytest.mark.parametrize(
        ("allowed", "sent"),
        [
            pytest.param(False, False, id="a-login-of-its-own-is-not-enough"),
            pytest.param(True, True, id="allow-host-is"),
        ],
    )
    def test_which_token_service_elsewhere_is_sent_a_registrys_credentials(
        self, safe, other, tmp_path, allowed, sent
    ):
        runs = runs_at(tmp_path, safe, *([other] if allowed else []))
        runs.set(ca_file=str(tls_files().ca))
        runs.login(safe.host)
        # The same address would be the same site; the name is another one.
        runs.login(f"localhost:{other.port}", "someone", "else")
        if allowed:
            runs.set(allow_hosts=(safe.host, f"localhost:{other.port}"))
        safe.bearer(realm=f"https://localhost:{other.port}/token")
        other.always(Answer(403))
        runs.cause(f"{safe.host}/a:1")
        assert ["authorization" in asked.headers for asked in other.asked] == [sent]

    @pytest.mark.parametrize(
        ("only_named", "allowed", "dialled"),
        [
            pytest.param(False, (), True, id="the-command-line-trusts-the-references-own-registry"),
            pytest.param(True, (), False, id="servers-and-plugins-do-not"),
            pytest.param(True, ("x.io",), True, id="unless-the-operator-named-it"),
        ],
    )
    def test_a_private_registry_that_only_a_reference_names(self, monkeypatch, only_named, allowed, dialled):
        connected: list[str] = []

        def connect(address: str, *_: object) -> socket.socket:
            connected.append(address)
            raise ConnectionRefusedError

        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.9.8.7", 443))]
        monkeypatch.setattr("archfit.registry.http.connections._resolve", lambda *_, **__: found)
        monkeypatch.setattr("archfit.registry.http.connections._connect", connect)
        operator = Operator(no_cache=True, allow_hosts=tuple(map(host_pattern, allowed)))
        lookup = lookup_with(operator, wait=lambda _: None, named_hosts_only=only_named)
        answer = lookup.resolve(["x.io/a:1"])["x.io/a:1"]
        lookup.close()
        assert isinstance(answer, Unknown)
        assert bool(connected) is dialled
        assert ("a private address, 10.9.8.7" in answer.cause) is not dialled
