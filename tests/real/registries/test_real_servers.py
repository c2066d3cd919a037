"""The same promises against other people's registries: distribution 2.8 (Debian) and go-containerregistry."""

import pytest

from archfit.images.platforms import Found
from archfit.registry import manifest as media
from fake_registry import as_json, descriptor, platform_of
from lookup_runs import Runs
from real_registries import Running, TokenService, distribution
from tls_files import tls_files

BOTH = ["linux/amd64", "linux/arm64"]


def fill(server: Running, *, synced: bool) -> None:
    """One of each kind of document that a real registry accepts."""
    server.index("t/index", "1", [*BOTH, "linux/arm/v7"])
    server.index("t/list", "1", BOTH, docker=True)
    server.index("t/one", "1", ["linux/amd64"])
    server.single("t/oci", "1", "linux/arm64")
    server.single("t/docker", "1", "linux/amd64", docker=True)
    bare = [server.single("t/bare", "", text) for text in BOTH]
    server.push("t/bare/manifests/1", as_json({"schemaVersion": 2, "manifests": bare}), media.OCI_INDEX)
    half = [{**bare[0], "platform": platform_of(BOTH[0])}, bare[1]]
    inner = as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": half})
    server.push("t/bare/manifests/half", inner, media.OCI_INDEX)
    outer = {
        "schemaVersion": 2,
        "mediaType": media.OCI_INDEX,
        "manifests": [descriptor(media.OCI_INDEX, inner)],
    }
    server.push("t/bare/manifests/nested", as_json(outer), media.OCI_INDEX)
    windows = [
        {
            **server.single("t/windows", "", "windows/amd64"),
            "platform": {**platform_of("windows/amd64"), "os.version": version},
        }
        for version in ("10.0.17763.1", "10.0.20348.1")
    ]
    windows.append({**server.single("t/windows", "", "linux/amd64"), "platform": platform_of("linux/amd64")})
    body = {"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": windows}
    server.push("t/windows/manifests/1", as_json(body), media.OCI_INDEX)
    chart = b"{}"
    server.blob("t/chart", chart)
    body = {
        "schemaVersion": 2,
        "mediaType": media.OCI_MANIFEST,
        "config": descriptor("application/vnd.cncf.helm.config.v1+json", chart),
        "layers": [descriptor("application/vnd.cncf.helm.chart.content.v1.tar+gzip", chart)],
    }
    server.push("t/chart/manifests/1", as_json(body), media.OCI_MANIFEST)


@pytest.mark.parametrize(
    ("image", "platforms", "requests"),
    [
        pytest.param(
            "t/index:1", ["linux/amd64", "linux/arm/v7", "linux/arm64"], {"manifest": 1}, id="index"
        ),
        pytest.param("t/list:1", BOTH, {"manifest": 1}, id="docker-list-is-not-downgraded"),
        pytest.param("t/one:1", ["linux/amd64"], {"manifest": 1}, id="one-and-attestation"),
        pytest.param("t/oci:1", ["linux/arm64"], {"manifest": 1, "blob": 1}, id="oci-manifest"),
        pytest.param("t/docker:1", ["linux/amd64"], {"manifest": 1, "blob": 1}, id="docker-manifest"),
        pytest.param(
            "t/bare:1",
            ["linux/amd64"],
            {"manifest": 2, "blob": 1},
            id="no-platforms-so-runtimes-take-the-first",
        ),
        pytest.param("t/bare:half", BOTH, {"manifest": 2, "blob": 1}, id="one-has-no-platform"),
        pytest.param("t/bare:nested", BOTH, {"manifest": 3, "blob": 1}, id="nested"),
        pytest.param("t/windows:1", ["linux/amd64", "windows/amd64"], {"manifest": 1}, id="windows"),
        pytest.param("t/chart:1", [], {"manifest": 1}, id="chart"),
    ],
)
def test_what_it_offers_and_costs(server, tmp_path, image, platforms, requests):
    runs = Runs(tmp_path, server.url)
    found = runs.found(f"x.io/{image}")
    assert [str(platform) for platform in found.platforms] == platforms
    assert runs.requests == requests
    assert runs.found(f"x.io/{image}") == found.replace(origin="cache")
    assert runs.requests == {}
    runs.later(7 * 3600)
    assert runs.found(f"x.io/{image}") == found
    assert runs.requests == {"head": 1}
    assert runs.found(f"x.io/{image.partition(':')[0]}@{found.digest}").origin == "cache"


def test_a_missing_tag_and_repository_are_absent(server, tmp_path):
    runs = Runs(tmp_path, server.url)
    runs.absent("x.io/t/index:gone")
    runs.absent("x.io/nobody/nothing:1")


def test_a_tag_that_moved_is_got_by_digest(server, tmp_path):
    runs = Runs(tmp_path, server.url)
    server.index("t/moving", "1", BOTH)
    assert runs.names("x.io/t/moving:1") == BOTH
    moved = server.index("t/moving", "1", ["linux/s390x"])
    assert runs.names("x.io/t/moving:1") == BOTH
    runs.later(7 * 3600)
    found = runs.found("x.io/t/moving:1")
    assert (found.digest, [str(platform) for platform in found.platforms]) == (moved, ["linux/s390x"])
    assert runs.requests == {"head": 1, "manifest": 1}


def test_basic_over_tls(content, tmp_path):
    files = tls_files()
    with distribution(content, files, htpasswd=True) as server:
        runs = Runs(tmp_path, server.url, SSL_CERT_FILE=str(files.ca))
        assert "log in with `docker login" in runs.cause("x.io/t/index:1")
        runs.login(server.host)
        server.forget()
        images = [f"x.io/t/{name}:1" for name in ("index", "list", "oci", "docker")]
        assert {type(answer) for answer in runs.ask(*images).values()} == {Found}
        assert [status for _, _, status in server.asked()] == [200] * 6
        runs.login(server.host, password="not-this")
        runs.set(no_cache=True)
        cause = runs.cause("x.io/t/index:1")
        assert "gives the credentials from" in cause
        assert "not-this" not in cause


def test_tokens_over_tls_one_401_and_one_token_for_each_scope(content, tmp_path):
    files = tls_files()
    service = TokenService(tmp_path / "service", files, user="user:hush")
    try:
        with distribution(content, files, token=service) as server:
            runs = Runs(tmp_path, server.url, SSL_CERT_FILE=str(files.ca))
            runs.also("tokens.io", service.url)
            runs.login(server.host)
            images = [f"x.io/t/{name}:1" for name in ("index", "list", "oci", "docker", "bare", "one")]
            assert {type(answer) for answer in runs.ask(*images).values()} == {Found}
            statuses = [status for _, _, status in server.asked()]
            assert statuses.count(401) == 1
            assert service.fake.count("token") == 6
            server.forget()
            runs.later(7 * 3600)
            runs.ask(*images)
            assert [(method, status) for method, _, status in server.asked()] == [("HEAD", 200)] * 6
    finally:
        service.close()


def test_a_token_without_rights_is_an_error_after_one_more(content, tmp_path):
    files = tls_files()
    service = TokenService(tmp_path / "service", files, repositories=("t/index",))
    try:
        with distribution(content, files, token=service) as server:
            runs = Runs(tmp_path, server.url, SSL_CERT_FILE=str(files.ca))
            runs.also("tokens.io", service.url)
            assert len(runs.names("x.io/t/index:1")) == 3
            server.forget()
            before = service.fake.count("token")
            assert "found nothing, or gives no anonymous access" in runs.cause("x.io/t/list:1")
            assert [status for _, _, status in server.asked()] == [401, 401]
            assert service.fake.count("token") - before == 2
    finally:
        service.close()
