"""The security checklist, as far as this core goes: each test fails when its guard is removed.

Two servers on loopback play registry and stranger. `Runs.also` names a server as an operator would, which is what
lets loopback be dialled at all.
"""

import base64
import re
import socket
import ssl
from collections.abc import Callable

import pytest

from archfit.images.platforms import Unknown
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.request import Request, origin_of
from archfit.registry.http.servers import leads
from archfit.registry.http.tls import untrusted
from archfit.registry.manifest import ACCEPT
from archfit.registry.registry_errors import RegistryError
from fake_registry import Answer, Asked, FakeRegistry, as_json
from http_clients import http_to
from lookup_runs import Runs
from tls_files import tls_files

BOTH = ["linux/amd64", "linux/arm64"]
WANTED = "Basic " + base64.b64encode(b"user:hush").decode()


def names_to(*addresses: str) -> Callable[..., list[object]]:
    """A resolver for which every name has these addresses."""

    def resolve(_host: str, port: int, **_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return resolve


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "169.254.169.254", "0.0.0.0", "224.0.0.1", "fe80::1", "fd00:ec2::254", "100.100.100.200",
            "::ffff:169.254.169.254",
        ],
    )  # fmt: skip
    def test_special_addresses_are_refused_even_where_the_operator_named_the_server(
        self, runs, monkeypatch, address
    ):
        monkeypatch.setattr("archfit.registry.http.connections._resolve", names_to(address))
        assert f"special address, {address}, and archfit does not connect to it" in runs.cause("x.io/a:1")
        assert runs.waits == []

    @pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    @pytest.mark.parametrize(
        "host", ["x.io", "localhost:5000", "127.1:5000", "2130706433:5000", "0x7f.1:5000"]
    )
    def test_loopback_is_refused_where_only_a_reference_names_it(self, runs, monkeypatch, address, host):
        runs.set(mirrors=())
        monkeypatch.setattr("archfit.registry.http.connections._resolve", names_to(address))
        cause = runs.cause(f"{host}/a:1")
        assert f"leads to a loopback address, {address}, and archfit does not connect to it" in cause
        assert "name the server with --allow-host" in cause
        assert re.search(r"or with --mirror (\S+)=http://\1 where it speaks plain http", cause)

    def test_the_hosts_own_spellings_of_loopback_are_seen_through(self, runs):
        runs.set(mirrors=())
        for host in ("localhost:1", "127.0.0.1:1", "[::1]:1"):
            assert "a loopback address" in runs.cause(f"{host}/a:1")

    def test_plain_http_is_never_chosen_by_itself(self, fake, runs):
        runs.set(mirrors=())
        runs.cause(f"{fake.host}/a:1")
        assert fake.connections == 0

    @pytest.mark.parametrize(
        ("place", "other_host", "address", "good"),
        [
            pytest.param(("own.example", 443), False, "10.0.0.1", True, id="private-for-the-references-own-registry"),
            pytest.param(("own.example", 443), True, "10.0.0.1", False, id="but-not-when-something-pointed-there"),
            pytest.param(("own.example", 8443), False, "10.0.0.1", False, id="nor-on-another-port"),
            pytest.param(("own.example", 443), False, "127.0.0.1", False, id="nor-loopback"),
            pytest.param(("named.example", 443), True, "10.0.0.1", True, id="private-where-named"),
            pytest.param(("named.example", 443), True, "127.0.0.1", True, id="loopback-where-named"),
            pytest.param(("named.example", 443), True, "169.254.169.254", False, id="metadata-never"),
            pytest.param(("other.example", 443), True, "10.0.0.1", False, id="private-elsewhere"),
            pytest.param(("other.example", 443), True, "8.8.8.8", True, id="public-anywhere"),
        ],
    )  # fmt: skip
    def test_who_may_be_where(self, place, other_host, address, good):
        policy = HostPolicy({("named.example", 443)})
        policy.referenced.add(("own.example", 443))
        if good:
            assert policy.permitted(*place, [address], other_host=other_host) == [address]
        else:
            with pytest.raises(RegistryError, match="does not connect to it"):
                policy.permitted(*place, [address], other_host=other_host)

    def test_only_the_good_ones_of_several_addresses_are_dialled(self):
        good = HostPolicy().permitted("x.io", 443, ["10.0.0.1", "8.8.8.8", "::1"], other_host=False)
        assert good == ["8.8.8.8"]

    def test_the_judged_address_is_the_one_dialled(self, fake, runs, monkeypatch):
        """The name means loopback only once; a second look-up would give the metadata service."""
        fake.index("a", "1", BOTH)
        answers = [["127.0.0.1"], ["169.254.169.254"]]
        seen: list[str] = []

        def resolve(host: str, port: int, **_: object) -> list[object]:
            seen.append(host)
            return names_to(*answers.pop(0))(host, port)

        runs.set(mirrors=())
        runs.also("*", f"http://rebinding.example:{fake.port}")
        monkeypatch.setattr("archfit.registry.http.connections._resolve", resolve)
        assert runs.names("x.io/a:1") == BOTH
        assert seen == ["rebinding.example"]

    def test_a_proxy_is_not_told_to_dial_special_addresses(self, stranger, runs):
        runs.set(mirrors=())
        runs.environ["https_proxy"] = stranger.url
        for host in ("127.0.0.1:5000", "[::1]"):
            assert "and archfit does not connect to it" in runs.cause(f"{host}/a:1")
        assert stranger.connections == 0


class TestRealms:
    @pytest.mark.parametrize(
        "realm",
        [
            pytest.param("http://169.254.169.254/latest", id="another-host-over-http"),
            pytest.param("http://127.0.0.1:1/token", id="another-port-over-http"),
            pytest.param("https://user:pass@x.io/token", id="userinfo"),
            pytest.param("file:///etc/passwd", id="file"),
        ],
    )
    def test_a_forged_realm_is_never_asked(self, fake, runs, realm):
        fake.bearer(realm=realm)
        runs.login(fake.host)
        assert "names a token service" in runs.cause("x.io/a:1")
        assert fake.kinds() == ["manifest"]

    def test_an_https_realm_on_loopback_is_refused(self, fake, runs):
        fake.bearer(realm="https://127.0.0.1:9/token")
        assert "a loopback address" in runs.cause("x.io/a:1")

    @pytest.mark.parametrize(
        ("realm_host", "users"),
        [
            pytest.param("localhost", [None], id="a-stranger-gets-none"),
            pytest.param("127.0.0.1", [WANTED], id="the-registrys-own-host-gets-them"),
        ],
    )
    @pytest.mark.real
    def test_who_is_sent_credentials(self, fake, tmp_path, monkeypatch, realm_host, users):
        monkeypatch.setattr("archfit.registry.http.host_policy.kind_of", lambda _: "public")
        files = tls_files()
        with FakeRegistry(files.context()) as service:
            runs = Runs(tmp_path, fake.url, SSL_CERT_FILE=str(files.ca))
            fake.bearer(realm=f"https://{realm_host}:{service.port}/token")
            service.always(Answer(403))
            runs.login(fake.host)
            cause = runs.cause("x.io/a:1")
            assert [asked.headers.get("authorization") for asked in service.asked] == users
            assert ("were not sent, because it is not" in cause) is (users == [None])

    def test_a_token_request_follows_no_redirect_elsewhere(self, fake, stranger, runs):
        runs.also("stranger.io", stranger.url)
        fake.bearer()
        fake.once(Answer(307, headers={"Location": f"{stranger.url}/token"}), kind="token")
        runs.login(fake.host)
        assert "redirects to another host: refused" in runs.cause("x.io/a:1")
        assert stranger.asked == []


class TestRedirects:
    def blob_elsewhere(self, fake: FakeRegistry, stranger: FakeRegistry) -> None:
        """Configs of `fake` are at `stranger`, as registries keep them in object stores."""
        fake.single("a", "1", "linux/arm64")
        stranger.single("a", "1", "linux/arm64")

        def script(asked: Asked) -> Answer | None:
            if asked.kind != "blob" or "hop" in asked.path:
                return None
            return Answer(307, headers={"Location": f"{stranger.url}{asked.path}?X-Signature=secret"})

        fake.on(script)

    def test_a_blob_elsewhere_is_got_without_authorization(self, fake, stranger, runs):
        runs.also("stranger.io", stranger.url)
        self.blob_elsewhere(fake, stranger)
        fake.bearer(user="user:hush")
        runs.login(fake.host)
        assert runs.names("x.io/a:1") == ["linux/arm64"]
        assert "authorization" in fake.asked[-1].headers
        assert [set(asked.headers) & {"authorization", "cookie"} for asked in stranger.asked] == [set()]

    @pytest.mark.parametrize("tokens", [False, True], ids=["open", "tokens-for-anybody"])
    def test_an_index_elsewhere_is_asked_for_as_at_home(self, fake, stranger, runs, tokens):
        runs.also("stranger.io", stranger.url)
        fake.on(lambda asked: Answer(307, headers={"Location": f"{stranger.url}{asked.path}"}))
        stranger.index("a", "1", BOTH)
        if tokens:
            stranger.bearer()
        assert runs.names("x.io/a:1") == BOTH
        assert {one.headers["accept"] for one in stranger.asked if one.kind == "manifest"} == {ACCEPT}

    def test_authorization_stays_with_the_same_origin(self, fake, runs):
        fake.index("a", "1", BOTH)
        moved = {"Location": "/v2/a/manifests/1?again"}
        fake.on(lambda asked: Answer(307, headers=moved) if asked.path == "/v2/a/manifests/1" else None)
        fake.bearer(user="user:hush")
        runs.login(fake.host)
        assert runs.names("x.io/a:1") == BOTH
        assert fake.asked[-1].headers["authorization"].startswith("Bearer ")

    def test_authorization_does_not_come_back(self, fake, stranger, runs):
        runs.also("stranger.io", stranger.url)
        self.blob_elsewhere(fake, stranger)
        stranger.on(lambda asked: Answer(307, headers={"Location": f"{fake.url}/hop{asked.path}"}))
        fake.bearer(user="user:hush")
        runs.login(fake.host)
        assert isinstance(runs.ask("x.io/a:1")["x.io/a:1"], Unknown)
        back = [asked for asked in fake.asked if asked.path.startswith("/hop")]
        assert back
        assert all("authorization" not in asked.headers for asked in back)

    @pytest.mark.parametrize(
        ("scheme", "kinds"), [("Basic", ["blob"]), ("Bearer", ["blob", "token"])], ids=["basic", "bearer"]
    )
    def test_a_401_of_the_target_gets_no_credential(self, fake, stranger, runs, scheme, kinds):
        runs.also("stranger.io", stranger.url)
        self.blob_elsewhere(fake, stranger)
        asks = {"WWW-Authenticate": f'{scheme} realm="{stranger.url}/token"'}
        stranger.always(Answer(401, headers=asks))
        runs.login(fake.host)
        runs.login(stranger.host)
        cause = runs.cause("x.io/a:1")
        assert stranger.kinds() == kinds
        assert all("authorization" not in asked.headers for asked in stranger.asked)
        assert "secret" not in cause

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    @pytest.mark.parametrize("own", [False, True], ids=["asks for nothing", "asks for a login itself"])
    def test_a_target_with_tokens_for_anybody_is_read(self, fake, stranger, runs, status, own):
        """A name in front of another registry, as containerd reads it."""
        runs.also("stranger.io", stranger.url)
        stranger.index("a", "1", BOTH)
        stranger.bearer()
        fake.on(
            lambda asked: (
                Answer(status, headers={"Location": f"{stranger.url}{asked.path}"})
                if asked.kind != "token"
                else None
            )
        )
        if own:
            fake.bearer(user="user:hush")
            runs.login(fake.host)
        assert runs.names("x.io/a:1") == BOTH
        assert all("token-" in asked.headers.get("authorization", "token-") for asked in stranger.asked)
        with runs.lookup() as lookup:
            messages = lookup.elsewhere(["x.io/a:1", "stranger.io/b:1"])
            assert [message.text for message in messages] == [leads(fake.url, stranger.url)]

    @pytest.mark.parametrize("tokens", [False, True], ids=["open", "tokens-for-anybody"])
    def test_a_404_of_a_target_does_not_say_that_the_registry_has_no_such_image(
        self, fake, stranger, runs, tokens
    ):
        runs.also("stranger.io", stranger.url)
        fake.always(Answer(302, headers={"Location": f"{stranger.url}/v2/a/manifests/1"}))
        if tokens:
            stranger.bearer()
        assert f"{stranger.url} answered 404 for a:1" in runs.cause("x.io/a:1")
        assert f"{stranger.url} answered 404 for the tags of a" in runs.list("x.io/a:1").why

    def test_a_target_that_refuses_is_named_with_the_flag_that_asks_it(self, fake, stranger, runs):
        runs.also("stranger.io", stranger.url)
        fake.always(Answer(302, headers={"Location": f"{stranger.url}/v2/a/manifests/1"}))
        stranger.always(Answer(401))
        assert f"ask it in its place, with --mirror {fake.host}={stranger.url}" in runs.cause("x.io/a:1")

    def test_a_target_behind_a_challenge_of_the_registrys_own_gets_none_either(self, fake, stranger, runs):
        runs.also("stranger.io", stranger.url)
        moved = Answer(307, headers={"Location": f"{stranger.url}/v2/a/manifests/1"})
        fake.always(moved)
        fake.bearer(user="user:hush")
        asks = {"WWW-Authenticate": f'Bearer realm="{stranger.url}/token"'}
        stranger.always(Answer(401, headers=asks))
        runs.login(fake.host)
        assert "gives no anonymous access" in runs.cause("x.io/a:1")
        assert set(stranger.kinds()) == {"manifest", "token"}
        assert all("hush" not in str(asked.headers) for asked in stranger.asked)
        assert fake.kinds()[:3] == ["manifest", "token", "manifest"]
        assert fake.count("token") == fake.count("manifest") - 1

    def test_a_target_on_loopback_is_refused_where_nobody_named_it(self, fake, stranger, runs):
        self.blob_elsewhere(fake, stranger)
        cause = runs.cause("x.io/a:1")
        assert "leads to a loopback address" in cause
        assert "secret" not in cause
        assert stranger.connections == 0

    def test_at_most_five(self, fake, runs):
        fake.on(lambda asked: Answer(302, headers={"Location": asked.path + "x"}))
        assert "redirects more than 5 times" in runs.cause("x.io/a:1")
        assert fake.count() == 6

    @pytest.mark.parametrize(
        "location",
        [
            pytest.param("file:///etc/passwd", id="file"),
            pytest.param("ftp://x.io/", id="ftp"),
            pytest.param("//user:pass@127.0.0.1/", id="userinfo"),
            pytest.param("http://[::1/", id="bracket"),
            pytest.param("http://x.io:port/", id="port"),
        ],
    )
    def test_to_nothing_but_http(self, fake, runs, location):
        fake.always(Answer(302, headers={"Location": location}))
        assert "refused" in runs.cause("x.io/a:1")
        assert fake.count() == 1

    @pytest.mark.real
    def test_never_from_https_to_http(self, fake, tmp_path):
        files = tls_files()
        with FakeRegistry(files.context()) as safe:
            runs = Runs(tmp_path, safe.url, SSL_CERT_FILE=str(files.ca))
            runs.also("stranger.io", fake.url)
            safe.always(Answer(302, headers={"Location": f"{fake.url}/v2/a/manifests/1"}))
            assert "redirects from https to plain http: refused" in runs.cause("x.io/a:1")
            assert fake.asked == []

    def test_a_manifest_from_elsewhere_is_still_verified(self, fake, stranger, runs):
        runs.also("stranger.io", stranger.url)
        pin = fake.index("a", "", BOTH)
        fake.on(lambda asked: Answer(307, headers={"Location": f"{stranger.url}{asked.path}"}))
        lie = as_json({"schemaVersion": 2, "manifests": []})
        stranger.always(Answer(200, lie, {"Docker-Content-Digest": pin}))
        assert "do not have the digest" in runs.cause(f"x.io/a@{pin}")


class TestTls:
    @pytest.mark.real
    def test_an_unknown_ca_is_refused_at_once_and_named(self, tmp_path):
        with FakeRegistry(tls_files().context()) as safe:
            runs = Runs(tmp_path, safe.url)
            assert "certificate of 127.0.0.1 is not trusted" in runs.cause("x.io/a:1")
            assert (safe.asked, runs.waits) == ([], [])

    @pytest.mark.parametrize(
        ("code", "why", "remedy"),
        [
            pytest.param(10, "certificate has expired", "renew it, or set the clock of this machine right", id="expired"),
            pytest.param(9, "not yet valid", "renew it, or set the clock of this machine right", id="not-yet-valid"),
            pytest.param(62, "Hostname mismatch", "use a name that the certificate has, or let one be made for r.example", id="another-name"),
            pytest.param(20, "unable to get issuer", "name the CA with --ca-file or in SSL_CERT_FILE", id="unknown-ca"),
        ],
    )  # fmt: skip
    def test_the_remedy_for_a_certificate_depends_on_what_is_wrong(self, code, why, remedy):
        error = ssl.SSLCertVerificationError(1, "refused")
        error.verify_code, error.verify_message = code, why
        assert untrusted("r.example", error) == (
            f"the TLS certificate of r.example is not trusted ({why}): {remedy}"
        )

    def test_plain_http_where_tls_was_expected_is_said(self, fake, tmp_path):
        runs = Runs(tmp_path, fake.url.replace("http:", "https:"))
        shown = fake.url.removeprefix("http://")
        assert runs.cause("x.io/a:1").endswith(
            f"{shown} answers without TLS. If it serves plain http, write --mirror *=http://{shown}"
        )
        assert runs.waits == []
        fake.single("a", "1", "linux/amd64")
        runs.set(mirrors=())
        runs.also("*", f"http://{shown}")
        assert runs.names("x.io/a:1") == ["linux/amd64"]

    def test_a_ca_file_that_cannot_be_read_is_said(self, fake, tmp_path):
        url = fake.url.replace("http:", "https:")
        runs = Runs(tmp_path, url, SSL_CERT_FILE="/nowhere.pem")
        assert "the CA certificates in /nowhere.pem cannot be read" in runs.cause("x.io/a:1")
        runs = Runs(tmp_path, url)
        runs.set(ca_file="/dev/null/ca.pem")
        assert "the CA certificates in /dev/null/ca.pem cannot be read" in runs.cause("x.io/a:1")


class TestSecrets:
    def test_no_cookie_is_kept(self, fake, runs):
        fake.single("a", "1", "linux/amd64")
        document = fake.stored
        fake.on(
            lambda asked: Answer(
                200, document(asked).body, {**document(asked).headers, "Set-Cookie": "a=b; Path=/"}
            )
        )
        runs.found("x.io/a:1")
        assert all("cookie" not in asked.headers for asked in fake.asked)

    def test_a_mirrors_credentials_are_its_own(self, fake, runs):
        fake.index("a", "1", BOTH)
        asks = Answer(401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        fake.on(lambda asked: asks if "authorization" not in asked.headers else None)
        runs.login("x.io", "origin")
        assert "gives no anonymous access" in runs.cause("x.io/a:1")
        runs.login(fake.host, "mirror")
        assert runs.names("x.io/a:1") == BOTH
        assert fake.asked[-1].headers["authorization"] == "Basic " + base64.b64encode(b"mirror:hush").decode()

    def test_what_a_registry_says_is_cut_and_cleaned(self, fake, runs):
        words = "\x1b]0;title\x07" + "x" * 5000
        fake.always(Answer(403, as_json({"errors": [{"code": "DENIED", "message": words}]})))
        cause = runs.cause("x.io/a:1")
        assert "\x1b" not in cause
        assert len(cause) < 600


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("HTTPS://Example.COM:443/x", "https://example.com"),
        ("http://example.com:80", "http://example.com"),
        ("http://example.com:443/", "http://example.com:443"),
        ("https://[::1]:5000/v2/", "https://[::1]:5000"),
    ],
)
def test_origins_are_compared_in_one_spelling(url, origin):
    assert origin_of(url) == origin


def test_no_connection_is_used_after_the_deadline():
    http = http_to(left=lambda: 0.0)
    request = Request("ping", "GET", "http://127.0.0.1:9/", {}, "http://127.0.0.1:9", 10)
    with pytest.raises(RegistryError, match="before the deadline: try again, or allow more with --timeout"):
        http.exchange(request)
    http.close()
