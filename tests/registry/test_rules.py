"""Small pure rules: mirrors, addresses, retry policy, proxies."""

import pytest

from archfit.base.errors import Problem
from archfit.images.reference import parse
from archfit.options.hosts import mirror, mirror_pair
from archfit.options.settings import Operator
from archfit.registry.http.host_policy import kind_of
from archfit.registry.http.http_client import is_pull_limit, retry_after
from archfit.registry.http.proxies import proxy_for
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Routes

HUB = mirror("docker.io", "https://harbor.example/hub")
ALL = mirror("*", "http://127.0.0.1:5000")


@pytest.mark.parametrize(
    ("image", "mirrors", "expected"),
    [
        pytest.param("nginx", (), Endpoint("https://registry-1.docker.io", "registry-1.docker.io", "library/nginx", configured=False), id="docker-hub"),
        pytest.param("quay.io/a/b", (), Endpoint("https://quay.io", "quay.io", "a/b", configured=False), id="its-own-host"),
        pytest.param("Foo/bar", (), Endpoint("https://foo", "Foo", "bar", configured=False), id="upper-case-host"),
        pytest.param("localhost:443/b", (), Endpoint("https://localhost", "localhost:443", "b", configured=False), id="default-port"),
        pytest.param("localhost:5000/b", (), Endpoint("https://localhost:5000", "localhost:5000", "b", configured=False), id="no-automatic-http"),
        pytest.param("[::1]:5000/b", (), Endpoint("https://[::1]:5000", "[::1]:5000", "b", configured=False), id="ipv6"),
        pytest.param("nginx", (HUB,), Endpoint("https://harbor.example", "harbor.example", "hub/library/nginx", configured=True), id="path-is-a-prefix"),
        pytest.param("quay.io/a/b", (HUB,), Endpoint("https://quay.io", "quay.io", "a/b", configured=False), id="only-its-own-source"),
        pytest.param("quay.io/a/b", (HUB, ALL), Endpoint("http://127.0.0.1:5000", "127.0.0.1:5000", "a/b", configured=True), id="star"),
        pytest.param(
            "nginx", (ALL, HUB), Endpoint("https://harbor.example", "harbor.example", "hub/library/nginx", configured=True), id="a-named-source-beats-star"
        ),
        pytest.param("Foo/b", (mirror("foo", "https://m.example"),), Endpoint("https://m.example", "m.example", "b", configured=True), id="sources-ignore-case"),
        pytest.param(
            "a.io/b",
            (mirror("a.io", "https://docker.io"),),
            Endpoint("https://registry-1.docker.io", "registry-1.docker.io", "b", configured=True),
            id="docker-hub-as-a-mirror",
        ),
        pytest.param("a.io/b", (mirror_pair("a.io=https://m.example/"),), Endpoint("https://m.example", "m.example", "b", configured=True), id="final-slash"),
    ],
)  # fmt: skip
def test_where_a_reference_is_asked(image, mirrors, expected):
    (endpoint,) = Routes(Operator(mirrors=mirrors)).endpoints(parse(image))
    assert endpoint.replace(instead_of="", named_by="") == expected
    assert endpoint.instead_of == (parse(image).registry if endpoint.named_by else "")


@pytest.mark.parametrize(
    "text",
    [
        "docker.io=harbor.example", "docker.io=ftp://harbor.example", "docker.io=https://",
        "docker.io=https://user:hush@harbor.example", "docker.io=https://harbor.example/hub?x=1",
        "docker.io=https://harbor.example/../x", "docker.io=https://harbor.example/Hub",
        "docker.io/library=https://harbor.example", "=https://harbor.example",
        "docker.io=https://harbor.example\n/x", "docker.io=https://harbor.example:65536",
        "docker.io=https://harbor.example:0",
    ],
)  # fmt: skip
def test_a_mirror_that_cannot_be_used_is_an_error_without_its_secrets(text):
    with pytest.raises(Problem) as caught:
        mirror_pair(text)
    assert "write" in str(caught.value.message)
    assert "hush" not in str(caught.value.message)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("8.8.8.8", "public"),
        ("2606:4700::1111", "public"),
        ("127.0.0.1", "loopback"),
        ("127.8.9.10", "loopback"),
        ("::1", "loopback"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fd12::1", "private"),
        ("198.18.0.1", "private"),
        ("0.0.0.0", "refused"),
        ("0.1.2.3", "refused"),
        ("::", "refused"),
        ("169.254.169.254", "refused"),
        ("169.254.1.1", "refused"),
        ("fe80::1", "refused"),
        ("fe80::1%eth0", "refused"),
        ("fd00:ec2::254", "refused"),
        ("100.100.100.200", "refused"),
        ("168.63.129.16", "refused"),
        ("224.0.0.1", "refused"),
        ("ff02::1", "refused"),
        ("255.255.255.255", "refused"),
        ("240.0.0.1", "refused"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "refused"),
        ("::ffff:8.8.8.8", "public"),
        ("::ffff:10.0.0.1", "private"),
        ("64:ff9b::a9fe:a9fe", "refused"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::808:808", "public"),
        ("2002:a9fe:a9fe::1", "refused"),
        ("2002:7f00:1::1", "loopback"),
        ("2001::5601:5601", "refused"),
        ("2001::80ff:fffe", "loopback"),
        ("::127.0.0.1", "loopback"),
        ("::a9fe:a9fe", "refused"),
        ("::ffff:0:7f00:1", "loopback"),
        ("::ffff:0:a9fe:a9fe", "refused"),
        ("::ffff:0:808:808", "public"),
        ("fec0::1", "private"),
        ("5f00::1", "private"),
        ("192.88.99.1", "private"),
    ],
)
def test_kinds_of_addresses(address, kind):
    assert kind_of(address) == kind


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param("120", 120.0, id="seconds"),
        pytest.param("Wed, 21 Oct 2026 07:28:30 GMT", 30.0, id="http-date"),
        pytest.param("Wed, 21 Oct 2026 07:00:00 GMT", 0.0, id="a-date-in-the-past"),
        pytest.param("", None, id="nothing"),
        pytest.param("soon", None, id="rubbish"),
        pytest.param("-5", None, id="negative"),
        pytest.param("9" * 400, 999999999.0, id="huge"),
        pytest.param("٣", None, id="digits-of-other-scripts"),
    ],
)
def test_retry_after(header, seconds):
    assert retry_after(header, 1792567680.0) == seconds


@pytest.mark.parametrize(
    ("headers", "body", "limit"),
    [
        pytest.param(
            {},
            b'{"errors":[{"code":"TOOMANYREQUESTS","message":"You may increase the limit: https://www.docker.com/increase-rate-limit"}]}',
            True,
            id="docker-hubs-words",
        ),
        pytest.param({"ratelimit-remaining": "0;w=21600"}, b"", True, id="docker-hubs-header"),
        pytest.param({"ratelimit-remaining": "20;w=21600"}, b"", False, id="some-left"),
        pytest.param({}, b"Too Many Requests", False, id="the-flood-guard"),
        pytest.param({}, b'{"errors":[{"code":"TOOMANYREQUESTS","message":"Rate exceeded"}]}', False, id="ecr"),
    ],
)  # fmt: skip
def test_which_429_lasts_for_hours(headers, body, limit):
    assert is_pull_limit(headers, body) is limit


PROXY = {"HTTPS_PROXY": "http://proxy:3128", "http_proxy": "proxy:8080"}


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        pytest.param(("https", "a.io", 443), PROXY, "http://proxy:3128", id="https"),
        pytest.param(("http", "a.io", 80), PROXY, "http://proxy:8080", id="http-without-a-scheme"),
        pytest.param(("https", "a.io", 443), {"all_proxy": "http://p"}, "http://p", id="all"),
        pytest.param(("https", "a.io", 443), {}, "", id="none"),
        pytest.param(("https", "a.io", 443), {**PROXY, "NO_PROXY": "a.io"}, "", id="no-proxy-name"),
        pytest.param(("https", "x.a.io", 443), {**PROXY, "NO_PROXY": "b.io, a.io"}, "", id="no-proxy-below"),
        pytest.param(("https", "x.a.io", 443), {**PROXY, "NO_PROXY": ".a.io"}, "", id="no-proxy-dot"),
        pytest.param(("https", "xa.io", 443), {**PROXY, "NO_PROXY": "a.io"}, "http://proxy:3128", id="no-proxy-whole-labels"),
        pytest.param(("https", "a.io", 443), {**PROXY, "NO_PROXY": "*"}, "", id="no-proxy-all"),
        pytest.param(("https", "a.io", 5000), {**PROXY, "NO_PROXY": "a.io:5000"}, "", id="no-proxy-port"),
        pytest.param(("https", "a.io", 443), {**PROXY, "NO_PROXY": "a.io:5000"}, "http://proxy:3128", id="no-proxy-other-port"),
        pytest.param(("https", "10.0.0.1", 443), {**PROXY, "NO_PROXY": "10.0.0.1"}, "", id="no-proxy-address"),
        pytest.param(("https", "[::1]", 443), {**PROXY, "NO_PROXY": "::1"}, "", id="no-proxy-ipv6"),
        pytest.param(("https", "10.1.2.3", 443), {**PROXY, "NO_PROXY": "10.0.0.0/8"}, "", id="no-proxy-network"),
        pytest.param(("https", "[fd00::1]", 443), {**PROXY, "NO_PROXY": "fd00::/8"}, "", id="no-proxy-network-6"),
        pytest.param(("https", "11.1.2.3", 443), {**PROXY, "NO_PROXY": "10.0.0.0/8"}, "http://proxy:3128", id="no-proxy-other-network"),
        pytest.param(("https", "a.io", 443), {**PROXY, "NO_PROXY": "a/b"}, "http://proxy:3128", id="no-proxy-rubbish"),
        pytest.param(("http", "a.io", 80), {"HTTP_PROXY": "http://p", "REQUEST_METHOD": "GET"}, "", id="httpoxy"),
    ],
)  # fmt: skip
def test_which_proxy(url, environ, proxy):
    assert proxy_for(*url, environ) == proxy
