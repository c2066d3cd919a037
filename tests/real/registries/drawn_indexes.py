"""Indexes as tools and accidents write them, drawn from a table of entries, the same in every run.

drawn()                                            some hundreds, and each entry of the table alone
built((plain("linux/amd64"), ..), OCI_INDEX)       one, with all its documents
"""

import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.real.registries.runtime_judge import Documents, digest_of

from archfit.images.platforms import Platform, normalised
from archfit.registry import manifest as media

SEED, INDEXES = 20, 600
UNKNOWN_TYPE = "application/vnd.example.unknown.v1+json"
SOCI = "application/vnd.amazon.soci.index.v2+json"
ATTESTATION = {"vnd.docker.reference.type": "attestation-manifest"}


class Entry(NamedTuple):
    """One entry of an index. platform: as the entry states it, None without one. built: the platform of its config.

    nested: it is an index with the one manifest; platform is then the nested index's.
    """

    platform: dict[str, Any] | None
    built: str
    media_type: str = media.OCI_MANIFEST
    artifact_type: str = ""
    annotations: dict[str, str] | None = None
    nested: bool = False

    @property
    def attests(self) -> bool:
        return self.annotations is not None


class Index(NamedTuple):
    entries: tuple[Entry, ...]
    media_type: str
    documents: Documents

    def platforms(self, **wanted: str) -> list[Entry]:
        """The entries whose platform, in normalised spelling, has these parts."""
        return [
            entry
            for entry in self.entries
            if entry.platform
            and entry.platform.get("architecture")
            and all(getattr(normal(entry.platform), part) == value for part, value in wanted.items())
        ]


def stated(text: str, **more: Any) -> dict[str, Any]:
    """The platform object for `linux/arm/v7`; an empty part is left out."""
    os, architecture, *variant = text.split("/")
    return {
        **({"os": os} if os else {}),
        "architecture": architecture,
        **({"variant": variant[0]} if variant else {}),
        **more,
    }


def normal(platform: dict[str, Any]) -> Platform:
    """The platform that an entry states, in normalised spelling."""
    return normalised(*(platform.get(part, "") for part in ("os", "architecture", "variant")))


def plain(text: str, **more: Any) -> Entry:
    """An entry that is built for what it states."""
    return Entry(stated(text), text, **more)


COMMON = [
    plain(text)
    for text in ("linux/amd64", "linux/arm64", "linux/arm64/v8", "linux/arm/v7", "linux/386", "linux/s390x")
]
SELDOM = [
    *map(plain, ("linux/amd64/v1", "linux/amd64/v2", "linux/amd64/v3", "linux/arm64/v8.0", "linux/arm64/v9")),
    *map(
        plain,
        ("linux/arm", "linux/arm/v5", "linux/arm/v6", "linux/arm/v8", "linux/ppc64le", "linux/s390x/z15"),
    ),
    *map(
        plain,
        ("linux/x86_64", "linux/aarch64", "linux/armhf", "Linux/AMD64", "linux/riscv64", "darwin/arm64"),
    ),
    *map(plain, ("wasi/wasm", "wasip1/wasm", "windows/amd64")),
    *(
        Entry(stated("windows/amd64", **{"os.version": version}), "windows/amd64")
        for version in ("10.0.17763.5696", "10.0.20348.2402", "10.0.26100.1")
    ),
    Entry(stated("windows/amd64", **{"os.features": ["win32k"]}), "windows/amd64"),
    Entry(stated("/amd64"), "linux/amd64"),
    Entry({}, "linux/amd64"),
    Entry({"os": "linux"}, "linux/arm64"),
    Entry(None, "linux/amd64"),
    Entry(None, "linux/arm64"),
    Entry(None, "linux/amd64/v3"),
    Entry(None, "linux/386", nested=True),
    Entry(None, "linux/arm64", nested=True),
    Entry(stated("linux/amd64", **{"os.features": ["erofs"]}), "linux/amd64"),
    Entry(stated("unknown/unknown"), "unknown/unknown", annotations=ATTESTATION),
    Entry(stated("linux/s390x"), "linux/s390x", annotations=ATTESTATION),
    Entry(None, "linux/amd64", annotations=ATTESTATION),
    plain("linux/amd64", media_type=UNKNOWN_TYPE),
    plain("linux/ppc64le", media_type=UNKNOWN_TYPE),
    plain("linux/arm64", media_type=""),
    plain("linux/amd64", artifact_type=SOCI),
    plain("linux/arm64", artifact_type=SOCI),
]


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _descriptor(media_type: str, body: bytes) -> dict[str, Any]:
    return {**({"mediaType": media_type} if media_type else {}), "digest": digest_of(body), "size": len(body)}


def built(entries: tuple[Entry, ...], media_type: str, *, artifact_types: bool) -> Index:
    """The documents of an index. artifact_types: every entry has one, as crane writes them."""
    docker = media_type == media.DOCKER_LIST
    manifest_type = media.DOCKER_MANIFEST if docker else media.OCI_MANIFEST
    config_type = media.DOCKER_CONFIG if docker else media.OCI_CONFIG
    blobs: dict[str, bytes] = {}

    def put(body: bytes) -> bytes:
        blobs[digest_of(body)] = body
        return body

    manifests = []
    for number, entry in enumerate(entries):
        config = put(_json({**stated(entry.built), "number": number}))
        layer = put(b"layer")
        body = put(
            _json(
                {
                    "schemaVersion": 2,
                    "mediaType": manifest_type,
                    "config": _descriptor(config_type, config),
                    "layers": [_descriptor("application/vnd.oci.image.layer.v1.tar", layer)],
                }
            )
        )
        own_type = manifest_type if entry.media_type == media.OCI_MANIFEST else entry.media_type
        descriptor = _descriptor(own_type, body)
        if entry.nested:
            inner = {**descriptor, "platform": stated(entry.built)}
            nested = put(_json({"schemaVersion": 2, "mediaType": media_type, "manifests": [inner]}))
            descriptor = _descriptor(media_type, nested)
        artifact_type = entry.artifact_type or (config_type if artifact_types else "")
        manifests.append(
            {
                **descriptor,
                **({} if entry.platform is None else {"platform": entry.platform}),
                **({"artifactType": artifact_type} if artifact_type else {}),
                **({"annotations": entry.annotations} if entry.annotations else {}),
            }
        )
    top = put(_json({"schemaVersion": 2, "mediaType": media_type, "manifests": manifests}))
    return Index(entries, media_type, Documents(digest_of(top), media_type, blobs))


def drawn() -> Iterator[Index]:
    """The indexes, in the same order in every run."""
    chance = random.Random(SEED)
    for _ in range(INDEXES):
        entries = [
            chance.choice(COMMON if chance.random() < 0.5 else SELDOM) for _ in range(chance.randint(1, 5))
        ]
        media_type = chance.choice([media.OCI_INDEX, media.DOCKER_LIST])
        yield built(tuple(entries), media_type, artifact_types=chance.random() < 0.4)
    for entry in (*COMMON, *SELDOM):
        for media_type in (media.OCI_INDEX, media.DOCKER_LIST):
            yield built((entry,), media_type, artifact_types=False)
