"""The project's own registry answers as a real one does: the same documents, digests and types."""

import hashlib
import http.client
import json
from urllib.parse import urlsplit

import pytest
from image_documents import DOCKER, OCI, image, name_of
from registry import Registry, pinned

from debian_registry import DebianRegistry

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
def registry():
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
def test_it_answers_as_distribution_does(registry, tmp_path):
    paths = ["/v2/docker.io/library/redis/manifests/nowhere", "/v2/quay.io/team/app/blobs/sha256:" + "1" * 64]
    for reference, platforms in IMAGES.items():
        name, made = name_of(reference), image(reference, platforms)
        assert name is not None
        repository = f"/v2/{name.host.replace(':', '-')}/{name.repository}"
        paths += [f"{repository}/manifests/{name.tag}"]
        paths += [f"{repository}/manifests/{manifest.digest}" for manifest in made.manifests]
        paths += [f"{repository}/blobs/{blob.digest}" for blob in made.blobs]
    with DebianRegistry(tmp_path, IMAGES) as real:
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


def test_pins_are_rewritten_to_what_it_serves(registry):
    old = "quay.io/team/pinned:3@sha256:" + "0" * 64
    text, images = pinned(f"image: {old}\nother: quay.io/team/app:1\n".encode(), IMAGES)
    new = next(reference for reference in images if "@" in reference)
    digest = new.partition("@")[2]
    assert text == f"image: {new}\nother: quay.io/team/app:1\n".encode()
    assert images[new] == BOTH
    assert old not in images
    status, _, body = ask(registry.url, f"/v2/quay.io/team/pinned/manifests/{digest}")
    assert (status, "sha256:" + hashlib.sha256(body).hexdigest()) == (200, digest)
