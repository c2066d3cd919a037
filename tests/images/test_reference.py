"""References against the tables of distribution/reference (reference_test.go, normalize_test.go), restated.

Their `Parse` knows no defaults, ours always fills them in, so that rows of the first table show the normalised form.
"""

import pytest

from archfit.base.errors import InvalidReference
from archfit.images.reference import host_and_port, is_digest, is_host, parse

F64 = "sha256:" + "f" * 64
HEX64 = "1a3f5e7d9c1b3a5f7e9d1c3b5a7f9e1d3c5b7a9f1e3d5d7c9b1a3f5e7d9c1b3a"
PIN = "sha256:e6693c20186f837fc393390135d8a598a96a833917917789d63766cab6c59582"

PARSE = [
    ("test_com", "docker.io/library/test_com:latest"),
    ("test.com:tag", "docker.io/library/test.com:tag"),
    ("test.com:5000", "docker.io/library/test.com:5000"),
    ("test.com/repo:tag", "test.com/repo:tag"),
    ("test:5000/repo", "test:5000/repo:latest"),
    ("test:5000/repo:tag", "test:5000/repo:tag"),
    (f"test:5000/repo@{F64}", f"test:5000/repo@{F64}"),
    (f"test:5000/repo:tag@{F64}", f"test:5000/repo@{F64}"),
    ("lowercase:Uppercase", "docker.io/library/lowercase:Uppercase"),
    ("a/" * 127 + "a:tag-puts-this-over-max", "docker.io/" + "a/" * 127 + "a:tag-puts-this-over-max"),
    ("sub-dom1.foo.com/bar/baz/quux", "sub-dom1.foo.com/bar/baz/quux:latest"),
    ("sub-dom1.foo.com/bar/baz/quux:some-long-tag", "sub-dom1.foo.com/bar/baz/quux:some-long-tag"),
    ("b.gcr.io/test.example.com/my-app:test.example.com", "b.gcr.io/test.example.com/my-app:test.example.com"),
    ("xn--n3h.com/myimage:xn--n3h.com", "xn--n3h.com/myimage:xn--n3h.com"),
    (f"xn--7o8h.com/myimage:xn--7o8h.com@{F64}", f"xn--7o8h.com/myimage@{F64}"),
    ("foo_bar.com:8080", "docker.io/library/foo_bar.com:8080"),
    ("foo/foo_bar.com:8080", "docker.io/foo/foo_bar.com:8080"),
    ("192.168.1.1", "docker.io/library/192.168.1.1:latest"),
    ("192.168.1.1:tag", "docker.io/library/192.168.1.1:tag"),
    ("192.168.1.1:5000", "docker.io/library/192.168.1.1:5000"),
    ("192.168.1.1/repo", "192.168.1.1/repo:latest"),
    ("192.168.1.1:5000/repo", "192.168.1.1:5000/repo:latest"),
    ("192.168.1.1:5000/repo:5050", "192.168.1.1:5000/repo:5050"),
    ("[2001:db8::1]/repo", "[2001:db8::1]/repo:latest"),
    ("[2001:db8:1:2:3:4:5:6]/repo:tag", "[2001:db8:1:2:3:4:5:6]/repo:tag"),
    ("[2001:db8::1]:5000/repo", "[2001:db8::1]:5000/repo:latest"),
    ("[2001:db8::1]:5000/repo:tag", "[2001:db8::1]:5000/repo:tag"),
    (f"[2001:db8::1]:5000/repo@{F64}", f"[2001:db8::1]:5000/repo@{F64}"),
    (f"[2001:db8::1]:5000/repo:tag@{F64}", f"[2001:db8::1]:5000/repo@{F64}"),
    ("[2001:db8::]:5000/repo", "[2001:db8::]:5000/repo:latest"),
    ("[::1]:5000/repo", "[::1]:5000/repo:latest"),
    ("example.com/" + "a" * 255 + ":tag", "example.com/" + "a" * 255 + ":tag"),
    # sha512 is unknown there only because that test does not link it; containerd does.
    ("validname@sha512:" + "f" * 128, "docker.io/library/validname@sha512:" + "f" * 128),
]  # fmt: skip
NORMALISE = [
    ("docker/docker", "docker.io/docker/docker:latest"),
    ("library/debian", "docker.io/library/debian:latest"),
    ("debian", "docker.io/library/debian:latest"),
    ("localhost/library/debian", "localhost/library/debian:latest"),
    ("localhost/debian", "localhost/debian:latest"),
    ("LOCALDOMAIN/library/debian", "LOCALDOMAIN/library/debian:latest"),
    ("LOCALDOMAIN/debian", "LOCALDOMAIN/debian:latest"),
    ("docker.io/docker/docker", "docker.io/docker/docker:latest"),
    ("docker.io/library/debian", "docker.io/library/debian:latest"),
    ("docker.io/debian", "docker.io/library/debian:latest"),
    ("index.docker.io/docker/docker", "docker.io/docker/docker:latest"),
    ("index.docker.io/library/debian", "docker.io/library/debian:latest"),
    ("index.docker.io/debian", "docker.io/library/debian:latest"),
    ("127.0.0.1:5000/docker/docker", "127.0.0.1:5000/docker/docker:latest"),
    ("127.0.0.1:5000/debian", "127.0.0.1:5000/debian:latest"),
    ("192.168.0.1", "docker.io/library/192.168.0.1:latest"),
    ("192.168.0.1:80", "docker.io/library/192.168.0.1:80"),
    ("192.168.0.1:8/debian", "192.168.0.1:8/debian:latest"),
    ("192.168.0.2:25000/debian", "192.168.0.2:25000/debian:latest"),
    (
        "thisisthesongthatneverendsitgoesonandonandonthisisthesongthatnev",
        "docker.io/library/thisisthesongthatneverendsitgoesonandonandonthisisthesongthatnev:latest",
    ),
    ("[fc00::1]:5000/docker", "[fc00::1]:5000/docker:latest"),
    ("[fc00::1]:5000/docker/docker", "[fc00::1]:5000/docker/docker:latest"),
    ("[fc00:1:2:3:4:5:6:7]:5000/library/debian", "[fc00:1:2:3:4:5:6:7]:5000/library/debian:latest"),
    (f"docker.io/{HEX64}", f"docker.io/library/{HEX64}:latest"),
    ("Docker/docker", "Docker/docker:latest"),
    ("DOCKER/docker", "DOCKER/docker:latest"),
    ("docker-rules/docker", "docker.io/docker-rules/docker:latest"),
    ("docker---rules/docker", "docker.io/docker---rules/docker:latest"),
    ("doc/docker", "docker.io/doc/docker:latest"),
    ("d/docker", "docker.io/d/docker:latest"),
    ("jess/t", "docker.io/jess/t:latest"),
    ("dock__er/docker", "docker.io/dock__er/docker:latest"),
    # TestParseRepositoryInfo: familiar, full and ambiguous names mean the same
    ("localhost/fooo", "localhost/fooo:latest"),
    ("my_registry.example/app:1", "my_registry.example/app:1"),
    ("localhost/fooo/bar", "localhost/fooo/bar:latest"),
    ("LOCALDOMAIN/fooo", "LOCALDOMAIN/fooo:latest"),
    ("LOCALDOMAIN/fooo/bar", "LOCALDOMAIN/fooo/bar:latest"),
    ("fooo/bar", "docker.io/fooo/bar:latest"),
    ("docker.io/fooo/bar", "docker.io/fooo/bar:latest"),
    ("index.docker.io/fooo/bar", "docker.io/fooo/bar:latest"),
    ("ubuntu", "docker.io/library/ubuntu:latest"),
    ("docker.io/library/ubuntu", "docker.io/library/ubuntu:latest"),
    ("library/ubuntu", "docker.io/library/ubuntu:latest"),
    ("nonlibrary/ubuntu", "docker.io/nonlibrary/ubuntu:latest"),
    ("other/library", "docker.io/other/library:latest"),
    ("127.0.0.1:8000/private/moonbase", "127.0.0.1:8000/private/moonbase:latest"),
    ("127.0.0.1:8000/privatebase", "127.0.0.1:8000/privatebase:latest"),
    ("example.com/private/moonbase", "example.com/private/moonbase:latest"),
    ("example.com/privatebase", "example.com/privatebase:latest"),
    ("example.com:8000/private/moonbase", "example.com:8000/private/moonbase:latest"),
    ("example.com:8000/privatebasee", "example.com:8000/privatebasee:latest"),
    ("ubuntu-12.04-base", "docker.io/library/ubuntu-12.04-base:latest"),
    ("index.docker.io/library/ubuntu-12.04-base", "docker.io/library/ubuntu-12.04-base:latest"),
    ("docker.io/foo", "docker.io/library/foo:latest"),
    ("library/foo/bar", "docker.io/library/foo/bar:latest"),
    ("store/foo/bar", "docker.io/store/foo/bar:latest"),
    ("Foo/bar", "Foo/bar:latest"),
    ("FOO/bar", "FOO/bar:latest"),
    # TestNormalizedSplitHostname
    ("test.com/foo", "test.com/foo:latest"),
    ("test_com/foo", "docker.io/test_com/foo:latest"),
    ("docker/migrator", "docker.io/docker/migrator:latest"),
    ("test.com:8080/foo", "test.com:8080/foo:latest"),
    ("test-com:8080/foo", "test-com:8080/foo:latest"),
    ("foo", "docker.io/library/foo:latest"),
    ("xn--n3h.com/foo", "xn--n3h.com/foo:latest"),
    ("xn--n3h.com:18080/foo", "xn--n3h.com:18080/foo:latest"),
    # TestParseDockerRef
    ("busybox", "docker.io/library/busybox:latest"),
    ("busybox:latest", "docker.io/library/busybox:latest"),
    (f"busybox@{PIN}", f"docker.io/library/busybox@{PIN}"),
    ("gcr.io/library/busybox", "gcr.io/library/busybox:latest"),
    (f"gcr.io/library/busybox:latest@{PIN}", f"gcr.io/library/busybox@{PIN}"),
    # TestParseAnyReference, where a bare identifier is none
    ("dmcgowan/myapp:latest", "docker.io/dmcgowan/myapp:latest"),
    (HEX64[:-1], f"docker.io/library/{HEX64[:-1]}:latest"),
    ("dbcc1", "docker.io/library/dbcc1:latest"),
    # registry-1.docker.io is Docker Hub's API, but no other name for it
    ("registry-1.docker.io/library/x", "registry-1.docker.io/library/x:latest"),
]
INVALID = [
    ("", "the image is empty"),
    (":justtag", "has no repository"),
    (f"@{F64}", "has no repository"),
    ("repo@sha256:" + "f" * 34, "sha256 digest of 34 digits; it must have 64"),
    ("validname@invaliddigest:" + "f" * 64, "digest of unknown kind, 'invaliddigest'"),
    ("validname@sha256:" + "F" * 64, "not lower-case hexadecimal"),
    ("validname@", "digest of unknown kind"),
    ("Uppercase:tag", "upper-case letters in its repository, 'Uppercase'"),
    ("test:5000/Uppercase/lowercase:tag", "upper-case letters in its repository"),
    ("domain/" + "a" * 256 + ":tag", "a repository of 263 characters; at most 255"),
    ("domain/" + "a/" * 2044 + "a", "at most 255"),
    ("domain/" + "a/" * 1_000_000 + "a", "has 2,000,008 characters: no reference has more than 4,096"),
    ("domain/" + "a/" * 1_000_000 + "{{ tag }}", "placeholder"),
    ("aa/asdf$$^/aa", "malformed repository"),
    ("[2001:db8::1]", "has a host and no repository"),
    ("[2001:db8::1]:5000", "has a host and no repository"),
    ("[2001:db8::1]:tag", "has a host and no repository"),
    ("[fe80::1%eth0]:5000/repo", "not a DNS name, an IPv4 address or an IPv6 address"),
    ("[fe80::1%@invalidzone]:5000/repo", "not a DNS name, an IPv4 address or an IPv6 address"),
    ("https://github.com/docker/docker", "is a web page that names no image: write host/repository:tag"),
    ("https://hub.docker.com/_/nginx", "is a web page: write 'docker.io/library/nginx'"),
    ("https://hub.docker.com/r/bitnami/redis/tags", "is a web page: write 'docker.io/bitnami/redis'"),
    ("https://hub.docker.com/layers/library/nginx/1.27/images/x", "write 'docker.io/library/nginx:1.27'"),
    ("https://quay.io/repository/prometheus/node-exporter?tab=tags", "write 'quay.io/prometheus/node-exporter'"),
    ("https://github.com/Owner/repo/pkgs/container/app", "is a web page: write 'ghcr.io/owner/app'"),
    ("https://github.com/orgs/kedacore/packages/container/package/keda", "write 'ghcr.io/kedacore/keda'"),
    ("https://mcr.microsoft.com/en-us/product/dotnet/sdk/about", "write 'mcr.microsoft.com/dotnet/sdk'"),
    ("https://mcr.microsoft.com/artifact/mar/dotnet/sdk", "write 'mcr.microsoft.com/dotnet/sdk'"),
    ("https://gallery.ecr.aws/nginx/nginx", "is a web page: write 'public.ecr.aws/nginx/nginx'"),
    ("https://console.cloud.google.com/gcr/images/distroless/GLOBAL/static", "write 'gcr.io/distroless/static'"),
    ("https://console.cloud.google.com/artifacts/docker/p/europe-west1/repo/app", "write 'europe-west1-docker.pkg.dev/p/repo/app'"),
    ("docker://nginx:1", "is a URL: write 'nginx:1'"),
    ("oci://ghcr.io/a/b", "is a URL: write 'ghcr.io/a/b'"),
    ("http://localhost:5000/a:1", "is a URL: write 'localhost:5000/a:1'"),
    ("https://quay.io", "is a URL without a repository"),
    ("https://Foo bar", "is a URL; leave out 'https://'"),
    ("docker/Docker", "upper-case letters in its repository"),
    ("-docker", "malformed repository"),
    ("-docker/docker", "malformed repository"),
    ("-docker.io/docker/docker", "not a DNS name"),
    ("docker///docker", "malformed repository"),
    ("docker.io/docker/Docker", "upper-case letters"),
    ("docker.io/docker///docker", "malformed repository"),
    ("[fc00::1]", "has a host and no repository"),
    ("[fc00::1]:5000", "has a host and no repository"),
    ("fc00::1:5000/debian", "not a DNS name"),
    ("[::ffff:1.2.3.4]:5000/x", "not a DNS name"),
    ("[fe80::1%eth0]:5000/debian", "not a DNS name"),
    ("[2001:db8:3:4::192.0.2.33]:5000/debian", "not a DNS name"),
    (HEX64, "64 hexadecimal digits"),
    ("docker-/docker", "malformed repository"),
    ("-docker-/docker", "malformed repository"),
    ("____/____", "malformed repository"),
    ("_docker/_docker", "malformed repository"),
    ("dock..er/docker", "not a DNS name"),
    ("dock_.er/docker", "not a DNS name"),
    ("my_registry.example:5000/docker", "not a DNS name"),
    ("dock-.er/docker", "not a DNS name"),
    ("docker/", "malformed repository"),
    ("docker.io/", "has no repository"),
    ("this_is_not_a_valid_namespace_" * 10 + "x/docker", "at most 255"),
    ("-foo", "malformed repository"),
    ("busybox:-foo", "malformed tag, '-foo'"),
    ("busybox:", "malformed tag, ''"),
    ("busybox:" + "t" * 129, "malformed tag"),
    ("busybox@foo", "digest of unknown kind, 'foo'"),
    # Python's own traps: `$` before a last newline, `\w` beyond ASCII
    ("nginx\n", "holds a blank or a line end"),
    ("nginx:1.27\n", "holds a blank or a line end"),
    ("ngínx", "outside ASCII"),
    ("nginx:\u0661", "outside ASCII"),
    # what templates leave behind
    ("{{ .Values.image }}", "still holds a placeholder"),
    ("$(params.image)", "still holds a placeholder"),
    ("${IMAGE}:1", "still holds a placeholder"),
    ("ko://github.com/example/app", "names a Go package; let ko build it first: ko resolve -f FILE | archfit"),
    ("a b", "holds a blank"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "normalised"), PARSE + NORMALISE, ids=[text[:60] for text, _ in PARSE + NORMALISE]
)
def test_the_tables_of_distribution(text, normalised):
    assert parse(text).normalised == str(parse(text)) == normalised
    assert parse(normalised).normalised == normalised


@pytest.mark.parametrize(("text", "why"), INVALID, ids=[ascii(text[:60]) for text, _ in INVALID])
def test_what_is_no_reference_says_why(text, why):
    with pytest.raises(InvalidReference) as caught:
        parse(text)
    assert why in str(caught.value)


def test_parts_of_a_reference():
    reference = parse("localhost:5000/team/app:1.2")
    assert (reference.registry, reference.repository, reference.tag, reference.digest) == (
        "localhost:5000",
        "team/app",
        "1.2",
        "",
    )
    assert reference.name == "localhost:5000/team/app"
    assert reference.original == "localhost:5000/team/app:1.2"


def test_a_digest_beside_a_tag_wins_and_the_text_is_kept():
    reference = parse(f"nginx:1.27@{PIN}")
    assert (reference.tag, reference.digest, reference.original) == ("", PIN, f"nginx:1.27@{PIN}")


def test_a_very_long_text_is_cut_in_the_message():
    with pytest.raises(InvalidReference) as caught:
        parse("A" * 100_000)
    assert len(str(caught.value)) < 100_700


@pytest.mark.parametrize(
    ("text", "good"),
    [
        pytest.param(F64, True, id="sha256"),
        pytest.param("sha512:" + "0" * 128, True, id="sha512"),
        pytest.param(F64 + "\n", False, id="trailing-newline"),
        pytest.param("sha256:" + "f" * 63, False, id="too-short"),
        pytest.param("sha256:" + "F" * 64, False, id="upper-case"),
        pytest.param("sha1:" + "f" * 40, False, id="sha1-is-not-allowed"),
        pytest.param("sha256:../" + "f" * 61, False, id="path"),
    ],
)
def test_digests_are_checked_before_use(text, good):
    assert is_digest(text) is good


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("docker.io", ("docker.io", ""), id="a-name"),
        pytest.param("localhost:5000", ("localhost", "5000"), id="a-port"),
        pytest.param("[::1]", ("::1", ""), id="ipv6"),
        pytest.param("[::1]:5000", ("::1", "5000"), id="ipv6-with-a-port"),
        pytest.param("h:65535", ("h", "65535"), id="the-last-port"),
    ],
)
def test_a_host_and_its_port(text, parts):
    """One grammar for hosts of references, mirrors, patterns and the files of runtimes."""
    assert is_host(text)
    assert host_and_port(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "", "*", "h:", "h:0", "h:65536", "h:0000443", "h:x", "-h", "h-", "a..b", "a.-b", "a_b", "a_b.c:5000", "a_.b",
        "h/a", "u@h", "h\n", "::1", "[::1", "é",
    ],
)  # fmt: skip
def test_what_is_no_host(text):
    """Ports beyond 65535 and empty labels are refused wherever a host is written."""
    assert not is_host(text)
