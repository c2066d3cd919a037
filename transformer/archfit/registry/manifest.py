"""A registry's documents, untrusted, as checked values.

The body decides: its `mediaType`, else its fields (`manifests` makes an index, `config` with `layers` a manifest; both
together are refused, CVE-2021-41190). A Content-Type of the other class is an error; it never decides. Of one class,
one may be of Docker and the other of OCI: caches answer so, and containerd takes it (core/images/image.go).

    entry of an index                        counts
    a manifest or an index with a platform   unless an earlier entry has the platform: runtimes take the first
    without a platform                       if it is the first without one: runtimes read no other
    a platform without an architecture, or   never: no node matches it
      with a word that is none
    os.features                              as a variant of that name, which no node has (32-bit arm: never), but for
                                             win32k of Windows: a node has to be set up for them
    vnd.docker.reference.*, unknown/unknown  never: attestations
    another media type                       never

`artifactType` on an entry says what the config's media type is (OCI 1.1), also for images: it changes nothing.

Sources: OCI image-spec 1.1 (image-index.md, manifest.md, descriptor.md, config.md), distribution-spec 1.1 (Pull),
Docker image manifest v2 schema 2; containerd, core/images/image.go (Manifest), and containers/image,
internal/manifest/oci_index.go (chooseInstance).
"""

from __future__ import annotations

import re
from typing import Any

from archfit.images.platforms import Platform, normalised
from archfit.images.reference import is_digest
from archfit.registry.quirks import GENERIC_TYPES
from archfit.registry.registry_errors import InvalidManifest
from archfit.registry.untrusted_json import load
from archfit.startup.record import Record

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
OCI_ARTIFACT = "application/vnd.oci.artifact.manifest.v1+json"
SCHEMA_1 = (
    "application/vnd.docker.distribution.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v1+prettyjws",
)
_BUNDLE = "operators.operatorframework.io.bundle."
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
DOCKER_CONFIG = "application/vnd.docker.container.image.v1+json"

INDEXES = (OCI_INDEX, DOCKER_LIST)
MANIFESTS = (OCI_MANIFEST, DOCKER_MANIFEST)
_CLASSES = (INDEXES, MANIFESTS)
ACCEPT = ", ".join((*INDEXES, *MANIFESTS))

MAX_ENTRIES = 1024
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII).fullmatch
# Layers of signatures and attestations; their config claims to be an image's (cosign, BuildKit, in-toto).
_STATEMENTS = (
    "application/vnd.dev.cosign.",
    "application/vnd.dev.sigstore.",
    "application/vnd.dsse.",
    "application/vnd.in-toto",
)


class _NoWord(InvalidManifest):
    """A platform states a text that no platform has."""


class Descriptor(Record):
    """media_type: "" where it says nothing. digest: checked spelling. size: bytes, -1 where it says nothing.

    data: the document itself in base64 (OCI 1.1 embedded content), "" where it is not embedded; not verified.
    """

    media_type: str
    digest: str
    size: int
    platform: Platform | None = None
    data: str = ""


class Index(Record):
    """entries: those that count, as the module says, in their order. artifact: it has an `artifactType`."""

    entries: tuple[Descriptor, ...]
    artifact: bool = False


class Manifest(Record):
    """One image, or an artifact: then config is None and it restricts nothing."""

    config: Descriptor | None


def parse(body: bytes, content_type: str = "") -> Index | Manifest:
    """The document in `body`. content_type: the header as received, or the type its descriptor gave.

    Raises InvalidManifest.
    """
    document = load(body, content_type)
    kind = _kind(document, content_type.partition(";")[0].strip().lower())
    if kind in INDEXES:
        return _index(document)
    if kind == OCI_ARTIFACT:
        return Manifest(None)
    return _manifest(document)


def layers_of(body: bytes) -> tuple[Descriptor, ...]:
    """The layers of a manifest that `parse` has taken, the lowest first. Raises InvalidManifest."""
    return tuple(_descriptor(layer, "a layer") for layer in load(body).get("layers") or ())


def parse_config(body: bytes) -> Platform | None:
    """The platform an image config states, None where it names no architecture. Raises InvalidManifest."""
    platform = _platform(load(body), "its config")
    return None if platform is None or _is_unknown(platform) else platform


def is_bundle(body: bytes) -> bool:
    """Whether an image config has the labels of an OLM bundle.

    Source: operator-registry, docs/design/operator-bundle.md.
    """
    if _BUNDLE.encode() not in body:
        return False
    config = load(body).get("config")
    labels = config.get("Labels") if isinstance(config, dict) else None
    return isinstance(labels, dict) and any(str(name).startswith(_BUNDLE) for name in labels)


def _kind(document: dict[str, Any], content_type: str) -> str:
    stated = document.get("mediaType")
    if stated is not None and not isinstance(stated, str):
        raise InvalidManifest("its mediaType is not a string")
    header = "" if content_type in GENERIC_TYPES else content_type
    legacy = document.get("schemaVersion") == 1 or "fsLayers" in document
    if legacy or header in SCHEMA_1 or stated in SCHEMA_1:
        raise InvalidManifest(
            "it is a Docker schema 1 manifest, a legacy format that current container runtimes refuse: "
            "push the image again with a current tool"
        )
    if header and stated and header != stated and not any({header, stated} <= set(some) for some in _CLASSES):
        raise InvalidManifest(
            f"its mediaType is {_short(stated)}, but the registry announced {_short(header)}"
        )
    of_index = document.get("manifests") is not None
    of_manifest = document.get("config") is not None or document.get("layers") is not None
    if of_index and of_manifest:
        raise InvalidManifest("it has the fields of an index and those of a manifest")
    for media_type in filter(None, (stated, header)):
        if media_type not in (*INDEXES, *MANIFESTS, OCI_ARTIFACT):
            raise InvalidManifest(f"its media type, {_short(media_type)}, is not that of an image")
    # Only the bytes decide: the header is not covered by the digest, and the answer is kept for ever.
    kind = stated or (OCI_INDEX if of_index else OCI_MANIFEST)
    if header and (header in INDEXES) != (kind in INDEXES):
        raise InvalidManifest(f"the registry announced {_short(header)}, but it has no fields of one")
    if header == OCI_ARTIFACT != kind:
        raise InvalidManifest("the registry announced an artifact, but it does not say that it is one")
    return kind


def _index(document: dict[str, Any]) -> Index:
    entries = document.get("manifests")
    if not isinstance(entries, list):
        raise InvalidManifest("it is an index without a list of manifests")
    if len(entries) > MAX_ENTRIES:
        raise InvalidManifest(f"it is an index of {len(entries)} entries; at most {MAX_ENTRIES} are read")
    kept: list[Descriptor] = []
    taken: set[tuple[Platform | None, str]] = set()
    for entry in entries:
        if not isinstance(entry, dict):
            raise InvalidManifest("its index has an entry that is not an object")
        match = _matched_by(entry)
        if match is None or match in taken or (match[0], "") in taken:
            continue
        taken.add(match)
        descriptor = _entry(entry)
        if descriptor:
            kept.append(descriptor.replace(platform=match[0]))
    return Index(tuple(kept), bool(document.get("artifactType")))


def _entry(entry: dict[str, Any]) -> Descriptor | None:
    annotations = entry.get("annotations") or {}
    if not isinstance(annotations, dict):
        raise InvalidManifest("its index has an entry whose annotations are not an object")
    if "vnd.docker.reference.type" in annotations or "vnd.docker.reference.digest" in annotations:
        return None
    if entry.get("mediaType") not in (*INDEXES, *MANIFESTS):
        return None
    return _descriptor(entry, "an entry of its index")


def _matched_by(entry: dict[str, Any]) -> tuple[Platform | None, str] | None:
    """What a runtime finds the entry by: its platform, None without one, and of Windows the version.

    None where no node matches it.
    """
    stated = entry.get("platform")
    if stated is None:
        return None, ""
    if not isinstance(stated, dict):
        raise InvalidManifest("an entry of its index has a platform that is not an object")
    try:
        platform = _platform(stated, "an entry of its index")
    except _NoWord:
        return None
    if platform is None or _is_unknown(platform):
        return None
    windows = platform.os == "windows"
    features = stated.get("os.features") or []
    if features and not (windows and features == ["win32k"]):
        return None if platform.architecture == "arm" else (platform.replace(variant="os.features"), "")
    version = stated.get("os.version") if windows else ""
    return platform, version if isinstance(version, str) else ""


def _manifest(document: dict[str, Any]) -> Manifest:
    layers = [] if document.get("layers") is None else document["layers"]
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise InvalidManifest("its layers are not a list of objects")
    if not isinstance(document.get("config"), dict):
        raise InvalidManifest("it is a manifest without a config")
    config = _descriptor(document["config"], "its config")
    if not config.media_type:
        raise InvalidManifest("its config has no media type")
    types = [layer.get("mediaType") for layer in layers]
    statements = types and all(isinstance(kind, str) and kind.startswith(_STATEMENTS) for kind in types)
    return Manifest(config if config.media_type in (OCI_CONFIG, DOCKER_CONFIG) and not statements else None)


def _descriptor(value: dict[str, Any], what: str) -> Descriptor:
    digest, size, data, media_type = (value.get(key) for key in ("digest", "size", "data", "mediaType"))
    if not isinstance(digest, str) or not is_digest(digest):
        raise InvalidManifest(f"{what} has a malformed digest")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
        raise InvalidManifest(f"{what} has a malformed size")
    if not isinstance(media_type, str | None) or not isinstance(data, str | None):
        raise InvalidManifest(f"{what} has a media type or data that is not a string")
    return Descriptor(media_type or "", digest, -1 if size is None else size, None, data or "")


def _platform(value: dict[str, Any], what: str) -> Platform | None:
    words = [value.get(key) or "" for key in ("os", "architecture", "variant")]
    for word in words:
        if not isinstance(word, str):
            raise InvalidManifest(f"{what} has a malformed platform")
        if word and _WORD(word) is None:
            raise _NoWord(f"{what} has a malformed platform")
    return normalised(*words) if words[1] else None


def _is_unknown(platform: Platform) -> bool:
    return "unknown" in (platform.os, platform.architecture)


def _short(media_type: str) -> str:
    return repr(media_type if len(media_type) <= 100 else media_type[:100] + "...")
