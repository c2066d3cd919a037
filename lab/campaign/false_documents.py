"""Answers whose HTTP is well and whose content is not; each as `campaign.faults` has them."""

import gzip
import random

from archfit.registry import manifest as media
from campaign.wire import Asked, Connection, Honest, answer

MIB = 1024 * 1024


def bomb(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """Documents of 4 MiB that cost memory or time."""
    body = drawn.choice(
        [
            b'{"schemaVersion":2,"manifests":[' + b"{}," * (4 * MIB // 3 - 64) + b"{}]}",
            b"[" * (4 * MIB),
            b'{"a":' * (MIB // 2),
            b'{"schemaVersion":2,"manifests":[' + b"1," * 199_990 + b"1]}",
            b'{"schemaVersion":' + b"9" * MIB + b"}",
            b"x" * (5 * MIB),
        ]
    )
    answer(wire, asked, 200, [("Content-Type", media.OCI_INDEX)], body)


def packed(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """Compressed, though nobody asked for it; 64 MiB of zeros unpacked, or the truth."""
    body = gzip.compress(drawn.choice([honest.body, b"0" * (64 * MIB)]))
    answer(wire, asked, honest.status, [*honest.headers, ("Content-Encoding", "gzip")], body)


def wrong_digest(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """Bytes or a header that do not belong together."""
    digest = drawn.choice(
        [f"sha256:{'0' * 64}", "sha256:xyz", "sha512:" + "0" * 128, "md5:1", "\u00ff" * 99, ""]
    )
    headers = [pair for pair in honest.headers if pair[0] != "Docker-Content-Digest"]
    pinned = "sha256:" in asked.path
    body = honest.body.replace(b"amd64", b"arm64") if pinned and drawn.random() < 0.7 else honest.body
    answer(wire, asked, honest.status, [*headers, ("Docker-Content-Digest", digest)], body)


def schema_1(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    kind = f"application/vnd.docker.distribution.manifest.v1{drawn.choice(['+prettyjws', '+json'])}"
    answer(wire, asked, 200, [("Content-Type", kind)], b'{"schemaVersion": 1, "architecture": "arm64"}')


def wrong_type(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """The truth as a page, as an artifact, as another kind of document."""
    said = [
        "text/html",
        "application/vnd.oci.artifact.manifest.v1+json",
        media.OCI_CONFIG,
        "a\u00ff",
        "",
        ";",
    ]
    said += [
        "application/vnd.cncf.helm.config.v1+json",
        media.OCI_INDEX,
        media.OCI_MANIFEST,
        media.DOCKER_MANIFEST,
    ]
    headers = [pair for pair in honest.headers if pair[0] != "Content-Type"]
    answer(wire, asked, honest.status, [*headers, ("Content-Type", drawn.choice(said))], honest.body)


def no_document(wire: Connection, asked: Asked, honest: Honest, drawn: random.Random) -> None:
    """JSON that is no manifest, and what is no JSON."""
    body = drawn.choice(
        [
            *(
                b"",
                b"null",
                b"[]",
                b'"x"',
                b"{}",
                b"NaN",
                b"\xef\xbb\xbf{}",
                b"\xff\xfe{\x00}\x00",
                b'{"a":"\xff"}',
            ),
            b'{"schemaVersion":2,"manifests":null}',
            b'{"schemaVersion":2,"manifests":{"a":1}}',
            b'{"schemaVersion":2,"manifests":[null,3,"x",[]]}',
            b'{"schemaVersion":2,"manifests":[],"config":{}}',
            b'{"schemaVersion":2,"manifests":[{"digest":5,"platform":[],"size":1e999}]}',
            b'{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:x"}}',
            b'{"schemaVersion":2,"annotations":{"x":' + b"9" * 5000 + b"}}",
            b'{"token":"\\ud800","access_token":5,"expires_in":' + b"9" * 400 + b"}",
            b'{"token":"a\\nb: c","expires_in":-1}',
            b'{"token":""}',
        ]
    )
    answer(wire, asked, 200, [("Content-Type", drawn.choice([media.OCI_INDEX, "application/json"]))], body)


FALSE_DOCUMENTS = (bomb, packed, wrong_digest, schema_1, wrong_type, no_document)
