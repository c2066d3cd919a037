"""What an image's manifest or index lists, as values: everything in it, and which of that counts.

Source: OCI image-spec 1.1, image-index.md, manifest.md.
"""

from __future__ import annotations

from typing import Any

from archfit.registry.manifest import INDEXES, Index, parse
from archfit.registry.untrusted_json import load
from archfit.startup.record import Record

_NOTES = ("vnd.docker.reference.type", "vnd.docker.reference.digest")


class ListedEntry(Record):
    """One descriptor. size: bytes as stated, -1 where it states none. platform: as stated, "" where it states none.

    kind: "image", "index", "attestation", "other", "config" or "layer". counts: archfit reads its platform.
    subject: the digest that an attestation is about, "" for others.
    """

    kind: str
    media_type: str
    digest: str
    size: int
    platform: str = ""
    os_version: str = ""
    counts: bool = False
    subject: str = ""


class ManifestListing(Record):
    """media_type: as the document says, else the registry. size: bytes of the document itself.

    entries: of an index its manifests, of a manifest its config and then its layers, in the document's order.
    """

    media_type: str
    size: int
    index: bool
    artifact_type: str
    entries: tuple[ListedEntry, ...]


def read_listing(body: bytes, content_type: str) -> ManifestListing:
    """What the document lists, for people to look at. content_type: as received. Raises InvalidManifest.

    Sizes are those that descriptors state; of a single manifest, its own and those of config and layers. The document
    has passed `parse`, which decides what counts; what it skips may hold anything, and is shown only where it is a
    string or a number.
    """
    parsed = parse(body, content_type)
    document = load(body, content_type)
    media_type = _text(document, "mediaType") or content_type.partition(";")[0].strip().lower()
    head = (media_type, len(body), isinstance(parsed, Index), _text(document, "artifactType"))
    if isinstance(parsed, Index):
        counted = {entry.digest for entry in parsed.entries}
        return ManifestListing(*head, tuple(_listed_entry(entry, counted) for entry in document["manifests"]))
    parts = [("config", document.get("config"))]
    parts += (("layer", layer) for layer in document.get("layers") or ())
    entries = tuple(_described(kind, part) for kind, part in parts if isinstance(part, dict))
    return ManifestListing(*head, entries)


def _listed_entry(entry: dict[str, Any], counted: set[str]) -> ListedEntry:
    notes = entry.get("annotations") or {}
    described = _described("other", entry)
    if any(note in notes for note in _NOTES):
        return described.replace(kind="attestation", subject=_text(notes, _NOTES[1]))
    if described.digest not in counted:
        return described
    kind = "index" if described.media_type in INDEXES else "image"
    return described.replace(kind=kind, counts=True)


def _described(kind: str, value: dict[str, Any]) -> ListedEntry:
    platform = value.get("platform")
    stated = platform if isinstance(platform, dict) else {}
    words = [_text(stated, key) for key in ("os", "architecture", "variant")]
    size = value.get("size")
    return ListedEntry(
        kind,
        _text(value, "mediaType"),
        _text(value, "digest"),
        size if isinstance(size, int) and not isinstance(size, bool) else -1,
        "/".join(words if words[2] else words[:2]) if any(words) else "",
        _text(stated, "os.version"),
    )


def _text(value: dict[str, Any], key: str) -> str:
    member = value.get(key)
    return member if isinstance(member, str) else ""
