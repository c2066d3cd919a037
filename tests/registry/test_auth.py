"""Challenges, realms and tokens, without a network."""

import base64
from typing import Any

import pytest

from archfit.registry.credentials.credential import Credential
from archfit.registry.credentials.tokens import Tokens, parse_token, token_get
from archfit.registry.http.challenges import (
    Challenge,
    challenges,
    check_realm,
    choose,
    may_have_credentials,
    scope_of,
)
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.request import Reply, Request
from archfit.registry.registry_errors import RegistryError

REALM = "https://auth.example/token"
HUB = 'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull"'


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(["word, " * 1000], id="words-in-one-header"),
        pytest.param(["word " * 1000], id="words-without-commas"),
        pytest.param([HUB] * 1000, id="headers"),
        pytest.param([", ".join([HUB] * 1000)], id="challenges-in-one-header"),
    ],
)
def test_no_more_than_16_challenges_are_read(headers):
    assert len(challenges(headers)) <= 16


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param([HUB], Challenge("bearer", "https://auth.docker.io/token", "registry.docker.io", "repository:a/b:pull"), id="docker-hub"),
        pytest.param(['bEARER Realm="https://auth.example/token"'], Challenge("bearer", REALM), id="mixed-case"),
        pytest.param([f"Bearer realm={REALM}"], Challenge("bearer", REALM), id="unquoted"),
        pytest.param([f'Bearer  realm = "{REALM}" , service = "s"'], Challenge("bearer", REALM, "s"), id="blanks"),
        pytest.param(
            [f'Bearer realm="{REALM}",scope="repository:a/b:pull,push",error="insufficient_scope"'],
            Challenge("bearer", REALM, "", "repository:a/b:pull,push", "insufficient_scope"),
            id="commas-in-quotes",
        ),
        pytest.param([r'Basic realm="a \"quoted\" \\ realm"'], Challenge("basic", 'a "quoted" \\ realm'), id="escapes"),
        pytest.param(['Basic realm="x"', f'Bearer realm="{REALM}"'], Challenge("bearer", REALM), id="several-headers"),
        pytest.param([f'Basic realm="x", Bearer realm="{REALM}"'], Challenge("bearer", REALM), id="several-in-one-header"),
        pytest.param(["Negotiate", "NTLM TlRMTVNTUAAB==", 'Basic realm="x"'], Challenge("basic", "x"), id="skips-others"),
        pytest.param(["Negotiate abc==, Basic realm=x"], Challenge("basic", "x"), id="skips-a-token68"),
        pytest.param(['Bearer service="s"', "Basic"], Challenge("basic"), id="bearer-without-realm-is-useless"),
        pytest.param(["Negotiate"], None, id="nothing-for-us"),
        pytest.param([], None, id="no-header"),
        pytest.param(['Bearer realm="unterminated'], None, id="unterminated"),
        pytest.param(['= , "", ;;; Bearer'], None, id="rubbish"),
        pytest.param(["," * 100_000], None, id="long-rubbish"),
    ],
)  # fmt: skip
def test_challenges_are_read_and_bearer_goes_first(headers, expected):
    assert choose(challenges(headers)) == expected


@pytest.mark.parametrize(
    ("offered", "scope"),
    [
        pytest.param("", "repository:a/b:pull", id="none"),
        pytest.param("repository:hub/a/b:pull", "repository:hub/a/b:pull", id="another-name"),
        pytest.param("repository:a/b:pull,push", "repository:a/b:pull", id="never-more-than-pull"),
        pytest.param("registry:catalog:*", "repository:a/b:pull", id="never-something-else"),
        pytest.param("repository:a/b:pull repository:c:pull", "repository:a/b:pull", id="one-scope-for-a-token"),
    ],
)  # fmt: skip
def test_the_scope_asked_for(offered, scope):
    assert scope_of("a/b", Challenge("bearer", REALM, "", offered)) == scope


@pytest.mark.parametrize(
    ("realm", "origin"),
    [
        pytest.param(REALM, "https://registry.example", id="https"),
        pytest.param("https://registry.example:5000/token?x=1", "https://registry.example:5000", id="same-host"),
        pytest.param("http://10.0.0.1:5000/token", "http://10.0.0.1:5000", id="http-on-the-same-host-and-port"),
        pytest.param("http://mirror/token", "http://mirror", id="http-on-the-default-port"),
        pytest.param("https://mirror/token", "http://mirror", id="https-for-an-http-registry"),
    ],
)  # fmt: skip
def test_a_realm_that_may_be_asked(realm, origin):
    check_realm(realm, origin)


@pytest.mark.parametrize(
    ("realm", "origin"),
    [
        pytest.param("http://auth.example/token", "https://registry.example", id="downgrade"),
        pytest.param("http://registry.example/token", "https://registry.example", id="downgrade-same-host"),
        pytest.param("http://10.0.0.1:5001/token", "http://10.0.0.1:5000", id="http-on-another-port"),
        pytest.param("http://10.0.0.2:5000/token", "http://10.0.0.1:5000", id="http-on-another-host"),
        pytest.param("https://user:pass@auth.example/token", "https://registry.example", id="userinfo"),
        pytest.param("https://auth.example@evil.example/", "https://registry.example", id="userinfo-as-a-trick"),
        pytest.param("https:///token", "https://registry.example", id="no-host"),
        pytest.param("/token", "https://registry.example", id="relative"),
        pytest.param("file:///etc/passwd", "https://registry.example", id="file"),
        pytest.param("https://auth.example/a b", "https://registry.example", id="blank"),
        pytest.param("https://auth.example/\r\nX: y", "https://registry.example", id="line-end"),
        pytest.param("https://auth.example:port/", "https://registry.example", id="port"),
        pytest.param("https://[::1/", "https://registry.example", id="bracket"),
        pytest.param("https://auth.example/#x", "https://registry.example", id="fragment"),
        pytest.param("https://auth.example/" + "x" * 4000, "https://registry.example", id="long"),
    ],
)  # fmt: skip
def test_a_realm_that_is_refused(realm, origin):
    with pytest.raises(RegistryError):
        check_realm(realm, origin)


@pytest.mark.parametrize(
    ("origin", "realm", "trusted"),
    [
        pytest.param("https://registry-1.docker.io", "https://auth.docker.io/token", True, id="docker-hub"),
        pytest.param("https://quay.io", "https://quay.io/v2/auth", True, id="same-host"),
        pytest.param("https://quay.io", "https://auth.quay.io/t", True, id="below-the-registry"),
        pytest.param("https://registry.gitlab.com", "https://gitlab.com/jwt/auth", True, id="the-parent"),
        pytest.param("https://registry.corp.example", "https://sso.corp.example/t", True, id="a-sibling"),
        pytest.param("https://registry.corp.example", "https://evil.example/t", False, id="a-stranger"),
        pytest.param("https://quay.io", "https://evil.io/t", False, id="same-top-level-domain"),
        pytest.param("https://registry.co.uk", "https://evil.co.uk/t", False, id="a-public-suffix"),
        pytest.param("https://me.azurecr.io", "https://you.azurecr.io/t", False, id="a-shared-parent"),
        pytest.param("https://10.0.0.1:5000", "https://10.0.0.2:5000/t", False, id="addresses-have-no-site"),
        pytest.param("https://[fd00::1]", "https://[fd00::2]/t", False, id="ipv6-addresses-neither"),
        pytest.param("https://example.com", "https://example.com.evil.io/t", False, id="a-suffix-trick"),
    ],
)
def test_who_may_have_the_credentials(origin, realm, trusted):
    assert may_have_credentials(realm, origin) is trusted


class Service:
    """Takes the requests for tokens. named: hosts that the operator named."""

    def __init__(self, *named: str) -> None:
        self.policy = HostPolicy({(host, 443) for host in named})
        self.sent: list[Request] = []

    def send(self, request: Request) -> Reply:
        self.sent.append(request)
        return Reply(200, {}, b'{"token": "t"}', request.url)


@pytest.mark.parametrize(
    "login",
    [Credential("user", "hush"), Credential(identity_token="hush")],
    ids=["password", "identity-token"],
)
@pytest.mark.parametrize(
    ("realm", "named", "has_it"),
    [
        pytest.param("https://sso.corp.example/t", (), True, id="own-site"),
        pytest.param("https://evil.example/t", (), False, id="a-stranger"),
        pytest.param("https://evil.example/t", ("evil.example",), True, id="named-by-the-operator"),
    ],
)
def test_a_stranger_is_asked_for_a_token_without_credentials(login, realm, named, has_it):
    service: Any = Service(*named)
    challenge = Challenge("bearer", realm)
    Tokens(service).bearer(challenge, "repository:a:pull", login, "https://registry.corp.example", "")
    (sent,) = service.sent
    assert ("authorization" in sent.headers or b"hush" in sent.content) is has_it


def test_an_anonymous_token_request_keeps_the_realms_query():
    challenge = Challenge("bearer", REALM + "?account=x", "my service")
    request = token_get(challenge, "repository:a/b:pull", None, "https://r.io")
    assert request.url == f"{REALM}?account=x&service=my%20service&scope=repository%3Aa/b%3Apull"
    assert (request.method, request.content) == ("GET", b"")
    assert "authorization" not in request.headers


def test_a_password_goes_as_basic():
    request = token_get(Challenge("bearer", REALM), "s", Credential("user", "pä:ss"), "https://r.io")
    assert request.headers["authorization"] == "Basic " + base64.b64encode("user:pä:ss".encode()).decode()


@pytest.mark.parametrize(
    ("body", "token", "seconds"),
    [
        pytest.param(b'{"token": "t", "expires_in": 300}', "t", 295.0, id="token"),
        pytest.param(b'{"access_token": "t", "expires_in": 300}', "t", 295.0, id="access-token"),
        pytest.param(b'{"token": "t"}', "t", 55.0, id="60-seconds-by-default"),
        pytest.param(b'{"token": "t", "expires_in": null}', "t", 55.0, id="null-life"),
        pytest.param(b'{"token": "t", "expires_in": 1}', "t", 1.0, id="short-life"),
        pytest.param(b'{"token": "t", "expires_in": -5}', "t", 55.0, id="negative-life"),
        pytest.param(b'{"token": "t", "expires_in": 1e300}', "t", 86395.0, id="endless-life"),
        pytest.param(b'{"token": "t", "expires_in": 1%s}' % (b"0" * 400), "t", 86395.0, id="400-digits"),
    ],
)
def test_a_token_and_its_life(body, token, seconds):
    assert parse_token(body) == (token, seconds)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"token": 5}',
        b'{"token": ""}',
        b'{"token": "a\\r\\nb"}',
        b'{"token": "a b"}',
        b"[" * 99999,
    ],
    ids=lambda body: repr(body[:20]),
)
def test_a_token_that_cannot_be_a_header_is_refused(body):
    with pytest.raises(RegistryError, match="no usable token"):
        parse_token(body)
