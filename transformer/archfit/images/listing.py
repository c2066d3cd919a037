"""What an image's manifest or index lists, as values: everything in it, and which of that counts.

    entry of an index                                kind
    a manifest that could run                        image
    a nested index                                   index
    vnd.docker.reference.* annotations               attestation
    unknown/unknown, another media type              other

    part of a manifest                               config or layer

`registry.manifest` makes them, `inspect.report` shows them. Source: OCI image-spec 1.1, image-index.md, manifest.md.
"""

from __future__ import annotations

from archfit.base.record import Record


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
