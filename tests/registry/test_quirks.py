"""What public registries are known to do, one after the other, on a server told to do it.

Where a real server shows a quirk, `test_real_servers` has it, too: distribution 2.8 answers 404 for an OCI index and
sends one child of a Docker list to clients that accept too little.
"""

import base64
from dataclasses import replace

import pytest

from archfit.images.platforms import Absent
from archfit.registry.http.challenges import may_have_credentials
from archfit.registry.quirks import HOSTS, quirk_of
from fake_registry import Answer, Asked, FakeRegistry, as_json

BOTH = ["linux/amd64", "linux/arm64"]
BASIC = "Basic " + base64.b64encode(b"user:hush").decode()


def bare(fake: FakeRegistry) -> None:
    """No digest header, ever."""
    fake.on(
        lambda asked: (
            None
            if asked.kind in {"token", "ping"}
            else replace(
                fake.stored(asked),
                headers={
                    name: value
                    for name, value in fake.stored(asked).headers.items()
                    if name != "Docker-Content-Digest"
                },
            )
        )
    )


def test_ecr_wants_basic_sends_no_digest_and_keeps_blobs_where_authorization_is_an_error(
    fake, stranger, runs
):
    fake.single("a", "1", "linux/arm64")
    stranger.single("a", "1", "linux/arm64")
    stranger.on(lambda asked: Answer(400) if "authorization" in asked.headers else None)
    bare(fake)
    fake.on(
        lambda asked: (
            Answer(307, headers={"Location": stranger.url + asked.path}) if asked.kind == "blob" else None
        )
    )
    asks = 'Basic realm="https://1.dkr.ecr.eu-west-1.amazonaws.com/",service="ecr.amazonaws.com"'
    fake.on(
        lambda asked: (
            None
            if asked.headers.get("authorization") == BASIC
            else Answer(401, headers={"WWW-Authenticate": asks})
        )
    )
    runs.also("s3.io", stranger.url)
    runs.login(fake.host)
    assert runs.names("x.io/a:1") == ["linux/arm64"]
    runs.later(7 * 3600)
    assert runs.names("x.io/a:1") == ["linux/arm64"]


def test_harbors_lengths_differ_between_head_and_get(fake, runs):
    fake.index("a", "1", BOTH)
    runs.found("x.io/a:1")
    runs.later(7 * 3600)

    def script(asked: Asked) -> Answer | None:
        stored = fake.stored(asked)
        return replace(stored, body=stored.body + b" " * 500) if asked.method == "HEAD" else None

    fake.on(script)
    assert runs.names("x.io/a:1") == BOTH


@pytest.mark.parametrize(
    "error",
    [
        pytest.param({"code": "UNKNOWN", "message": "not found"}, id="harbor"),
        pytest.param({"code": "UNKNOWN", "message": "Not Found"}, id="red-hat"),
        pytest.param({"code": "NAME_UNKNOWN", "message": "repository name not known"}, id="distribution"),
    ],
)
def test_404_means_absent_whatever_its_code_says(fake, runs, error):
    fake.always(Answer(404, as_json({"errors": [error]})))
    assert isinstance(runs.ask("x.io/a:1")["x.io/a:1"], Absent)


def test_a_304_that_comes_all_the_same_is_not_taken_for_an_image(fake, runs):
    fake.always(Answer(304))
    assert "answered 304" in runs.cause("x.io/a:1")


@pytest.mark.parametrize(
    "text",
    [
        "x.io/../../a:1", "x.io/a%2e%2e/b:1", "x.io/a?x=1", "x.io/a#b", "x.io/a:1?ns=evil", "x.io/a:..",
        "x.io/a/./b", "x.io//a", "x.io/a b", "x.io/a\r\nHost: evil", "user@x.io/a", "x.io\\@evil.io/a",
    ],
)  # fmt: skip
def test_no_part_of_a_url_comes_from_anything_but_the_grammar(fake, runs, text):
    runs.ask(text)
    assert fake.connections == 0


def test_urls_are_joined_from_the_parsed_parts_alone(fake, runs):
    runs.ask("x.io/a_b.c-d/e__f:v1.0_2-x")
    assert [asked.path for asked in fake.asked] == ["/v2/a_b.c-d/e__f/manifests/v1.0_2-x"]


WAYS = [
    # host, challenges, of_account, token services on other hosts that may have its credentials
    pytest.param("registry-1.docker.io", True, False, ["auth.docker.io"], id="docker-hub"),
    pytest.param("ghcr.io:443", True, False, [], id="with-a-port"),
    pytest.param("eu.gcr.io", True, False, [], id="gcr"),
    pytest.param("registry.suse.com", True, False, ["scc.suse.com"], id="suse"),
    pytest.param("registry.redhat.io", True, False, ["sso.redhat.com"], id="red-hat"),
    pytest.param("registry.connect.redhat.com", False, False, ["sso.redhat.com"], id="red-hat-partners"),
    pytest.param("rg.fr-par.scw.cloud", True, False, ["api.scaleway.com"], id="scaleway"),
    pytest.param(
        "acme-registry.cn-hangzhou.cr.aliyuncs.com",
        True,
        False,
        [f"dockerauth{kind}.cn-hangzhou.aliyuncs.com" for kind in ("", "-ee", "-vpc", "-ee-vpc")],
        id="alibaba-in-its-region",
    ),
    pytest.param("us-docker.pkg.dev", True, True, [], id="artifact-registry"),
    pytest.param("acme.azurecr.io", True, True, [], id="acr"),
    pytest.param("123456789012.dkr.ecr.eu-west-1.amazonaws.com", True, True, [], id="ecr"),
    pytest.param("123456789012.dkr-ecr.eu-west-1.on.aws", False, True, [], id="ecr-dual-stack"),
    pytest.param("public.ecr.aws", True, False, [], id="ecr-public"),
    pytest.param("ghcr.io.example", False, False, [], id="not-below-another-domain"),
    pytest.param("[::1]:5000", False, False, [], id="an-address"),
]


@pytest.mark.parametrize(("host", "challenges", "of_account", "services"), WAYS)
def test_a_hosts_way_is_a_row(host, challenges, of_account, services):
    quirk = quirk_of(host)
    assert (quirk.challenges, quirk.of_account) == (challenges, of_account)
    regions = ("cn-hangzhou", "cn-beijing")
    every = {
        service.replace(r"\1", region) for row in HOSTS for service in row.token_hosts for region in regions
    }
    every.add("scc.suse.com")
    trusted = {
        service for service in every if may_have_credentials(f"https://{service}/t", f"https://{host}")
    }
    assert trusted == set(services)


def test_each_row_has_a_host_that_shows_its_way():
    shown = {quirk_of(way.values[0]).hosts for way in WAYS}
    assert [row.hosts for row in HOSTS if row.hosts not in shown] == []
