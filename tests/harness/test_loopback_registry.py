"""The project's own registry answers as a real one does: the same documents, digests and types."""

from __future__ import annotations

import hashlib
import http.client
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from image_documents import DOCKER, OCI, Name, image, name_of
from registry import Registry, pinned

import machine
from debian_registry import DebianRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOTH = ["linux/amd64", "linux/arm64/v8"]
IMAGES = {
    "redis": BOTH,
    "team/only:1": ["linux/amd64"],
    "quay.io/team/app:1": BOTH,
    "localhost:5000/tool:2": ["linux/arm64"],
    "quay.io/team/pinned:3@sha256:" + "0" * 64: BOTH,
}
ACCEPT = ", ".join((DOCKER["index"], DOCKER["manifest"], OCI["index"], OCI["manifest"]))


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry(IMAGES) as running:
        yield running


def ask(url: str, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    try:
        connection.request(method, path, headers={"Accept": ACCEPT})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@pytest.mark.real
def test_it_answers_as_distribution_does(registry: Registry, tmp_path: Path) -> None:
    paths = ["/v2/docker.io/library/redis/manifests/nowhere", "/v2/quay.io/team/app/blobs/sha256:" + "1" * 64]
    for reference, platforms in IMAGES.items():
        name, made = name_of(reference), image(reference, platforms)
        assert name is not None
        repository = f"/v2/{name.host.replace(':', '-')}/{name.repository}"
        paths += [f"{repository}/manifests/{name.tag}"]
        paths += [f"{repository}/manifests/{manifest.digest}" for manifest in made.manifests]
        paths += [f"{repository}/blobs/{blob.digest}" for blob in made.blobs]
    with DebianRegistry(machine.tool("docker-registry"), tmp_path, IMAGES) as real:
        for path in paths:
            for method in ("GET", "HEAD"):
                ours, theirs = ask(registry.url, path, method), ask(real.url, path, method)
                assert ours[0] == theirs[0], path
                assert ours[1].get("docker-content-digest") == theirs[1].get("docker-content-digest"), path
                if ours[0] == 200:
                    assert ours[2] == theirs[2], path
                    assert ours[1]["content-length"] == theirs[1]["content-length"], path
                    if "/manifests/" in path:
                        assert ours[1]["content-type"] == theirs[1]["content-type"], path
                elif method == "GET":
                    codes = [json.loads(body)["errors"][0]["code"] for body in (ours[2], theirs[2])]
                    assert codes[0] == codes[1], path
        assert len(real.requests()) == 2 * len(paths)


def test_requests_and_connections_are_counted(registry: Registry) -> None:
    connection = http.client.HTTPConnection(urlsplit(registry.url).netloc, timeout=20)
    for method, path in [
        ("GET", "/v2/"),
        ("HEAD", "/v2/quay.io/team/app/manifests/1"),
        ("GET", "/v2/quay.io/team/app/manifests/2"),
    ]:
        connection.request(method, path)
        connection.getresponse().read()
    connection.close()
    assert [(asked.method, asked.path, asked.status) for asked in registry.asked] == [
        ("GET", "/v2/", 200),
        ("HEAD", "/v2/quay.io/team/app/manifests/1", 200),
        ("GET", "/v2/quay.io/team/app/manifests/2", 404),
    ]
    assert registry.connections == 1
    assert registry.counts() == {("GET", "ping"): 1, ("HEAD", "head"): 1, ("GET", "manifest"): 1}
    registry.forget()
    assert (registry.asked, registry.connections) == ([], 0)


def test_a_tag_can_move_and_go(registry: Registry) -> None:
    path = "/v2/quay.io/team/app/manifests/1"
    before = ask(registry.url, path)[1]["docker-content-digest"]
    after = registry.put("quay.io/team/app:1", ["linux/amd64"])
    assert ask(registry.url, path)[1]["docker-content-digest"] == after != before
    assert ask(registry.url, f"/v2/quay.io/team/app/manifests/{before}")[0] == 200
    registry.remove("quay.io/team/app:1")
    assert ask(registry.url, path)[0] == 404


def test_delays_are_the_callers_business() -> None:
    seen: list[object] = []
    with Registry(
        IMAGES,
        before_request=lambda asked: seen.append((asked.method, asked.path, asked.status)),
        before_connection=lambda: seen.append("connection"),
    ) as registry:
        assert ask(registry.url, "/v2/quay.io/team/app/manifests/1")[0] == 200
    assert seen == ["connection", ("GET", "/v2/quay.io/team/app/manifests/1", 0)]


def test_mirrors_send_every_host_to_it(registry: Registry) -> None:
    assert registry.mirrors() == [
        *("--mirror", f"docker.io={registry.url}/docker.io"),
        *("--mirror", f"localhost:5000={registry.url}/localhost-5000"),
        *("--mirror", f"quay.io={registry.url}/quay.io"),
    ]


def test_pins_are_rewritten_to_what_it_serves(registry: Registry) -> None:
    old = "quay.io/team/pinned:3@sha256:" + "0" * 64
    text, images = pinned(f"image: {old}\nother: quay.io/team/app:1\n".encode(), IMAGES)
    new = next(reference for reference in images if "@" in reference)
    digest = new.partition("@")[2]
    assert text == f"image: {new}\nother: quay.io/team/app:1\n".encode()
    assert images[new] == BOTH
    assert old not in images
    status, _, body = ask(registry.url, f"/v2/quay.io/team/pinned/manifests/{digest}")
    assert (status, "sha256:" + hashlib.sha256(body).hexdigest()) == (200, digest)


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        pytest.param("redis", Name("docker.io", "library/redis", "latest", ""), id="Docker's defaults"),
        pytest.param("a/b:1", Name("docker.io", "a/b", "1", ""), id="a repository of Docker Hub"),
        pytest.param(
            "index.docker.io/b", Name("docker.io", "library/b", "latest", ""), id="Docker Hub's old name"
        ),
        pytest.param("localhost/x", Name("localhost", "x", "latest", ""), id="localhost"),
        pytest.param(
            "h:5000/x:1@sha256:aa", Name("h:5000", "x", "1", "sha256:aa"), id="port, tag and digest"
        ),
        pytest.param("x@sha256:aa", Name("docker.io", "library/x", "", "sha256:aa"), id="a digest alone"),
        pytest.param("ko://example.com/cmd", None, id="a placeholder"),
        pytest.param("$(params.IMAGE)", None, id="a parameter"),
        pytest.param("{{inputs.parameters.os-image}}", None, id="a template"),
        pytest.param("docker.io/{username}/grpc-ping-go", None, id="a template inside"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_references(reference: str, name: Name | None) -> None:
    assert name_of(reference) == name


def test_one_platform_is_a_manifest_and_several_are_an_index() -> None:
    tops = {reference: image(reference, platforms).top.media_type for reference, platforms in IMAGES.items()}
    assert list(tops.values()) == [
        DOCKER["index"],
        DOCKER["manifest"],
        OCI["index"],
        OCI["manifest"],
        OCI["index"],
    ]
    entries = json.loads(image("quay.io/team/app:1", BOTH).top.body)["manifests"]
    assert [entry["platform"]["architecture"] for entry in entries] == ["amd64", "arm64", "unknown"]
