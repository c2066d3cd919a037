"""From a manifest or an index to the platforms that it offers.

An entry with a platform counts as stated, and is not fetched. The one without is read: an image counts by its config, a
nested index by its entries; an artifact, or a config without an architecture, does not count. A bundle of OLM holds
files for any node, and is no image by its labels. Embedded `data` (OCI 1.1) that matches size and digest saves its
request. Source: containerd, core/images/image.go.
"""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Callable
from typing import TypeAlias

from archfit.images.contents import Build
from archfit.images.platforms import Platform
from archfit.registry.manifest import Descriptor, Index, Manifest, is_bundle, parse, parse_config
from archfit.registry.registry_errors import InvalidManifest
from archfit.startup.record import Record

Read: TypeAlias = Callable[[str, Descriptor], bytes]

MAX_NESTING = 4


class Offer(Record):
    """platforms: sorted by their text, unique. index, image: as in `images.platforms.Found`.

    builds: of an index, in its order, those of nested indexes in their place.
    """

    platforms: tuple[Platform, ...]
    index: bool
    image: bool
    builds: tuple[Build, ...] = ()


def resolve_platforms(document: Index | Manifest, digest: str, read: Read) -> Offer:
    """What the document with this digest offers.

    read: `read("manifests" | "blobs", descriptor)` gives the verified bytes.
    Raises InvalidManifest, and the errors of `read`.
    """
    reader = _Resolver(read, digest)
    if isinstance(document, Manifest):
        config = reader.config(document)
        if config is None or is_bundle(config):
            return Offer((), index=False, image=False)
        platform = parse_config(config)
        if not platform:
            raise InvalidManifest("its config names no architecture")
        return Offer((platform,), index=False, image=True)
    platforms = reader.of_index(document, 1)
    if not platforms and not document.artifact:
        raise InvalidManifest("it is an index none of whose entries is an image for a known platform")
    return Offer(
        tuple(sorted(platforms, key=str)), index=True, image=bool(platforms), builds=tuple(reader.builds)
    )


class _Resolver:
    """Reads the documents below one, each digest once."""

    def __init__(self, read: Read, digest: str) -> None:
        self._read = read
        self._seen = {digest}
        self.builds: list[Build] = []

    def of_index(self, index: Index, depth: int) -> set[Platform]:
        if depth > MAX_NESTING:
            raise InvalidManifest(f"its indexes are nested more than {MAX_NESTING} deep")
        platforms: set[Platform] = set()
        for entry in index.entries:
            if entry.platform:
                platforms.add(entry.platform)
                self.builds.append(Build(entry.digest, entry.platform, stated=depth == 1))
            elif entry.digest not in self._seen:
                self._seen.add(entry.digest)
                platforms |= self._of_child(entry, depth)
        return platforms

    def config(self, manifest: Manifest) -> bytes | None:
        return self._fetch("blobs", manifest.config) if manifest.config is not None else None

    def _of_child(self, entry: Descriptor, depth: int) -> set[Platform]:
        child = parse(self._fetch("manifests", entry), entry.media_type)
        if isinstance(child, Index):
            return self.of_index(child, depth + 1)
        config = self.config(child)
        platform = parse_config(config) if config is not None else None
        if platform is None:
            return set()
        self.builds.append(Build(entry.digest, platform, stated=False))
        return {platform}

    def _fetch(self, kind: str, descriptor: Descriptor) -> bytes:
        embedded = _embedded(descriptor) if descriptor.data else None
        return self._read(kind, descriptor) if embedded is None else embedded


def matches(body: bytes, digest: str) -> bool:
    """The bytes hash to `digest`, which must be well formed."""
    algorithm, _, value = digest.partition(":")
    return hashlib.new(algorithm, body).hexdigest() == value


def _embedded(descriptor: Descriptor) -> bytes | None:
    try:
        body = binascii.a2b_base64(descriptor.data, strict_mode=True)
    except ValueError:
        return None
    return body if len(body) == descriptor.size and matches(body, descriptor.digest) else None
