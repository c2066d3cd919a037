"""What is behind a digest: an index, a manifest, or the config of an image.

    index        children      the builds it offers, in its order, those of nested indexes in their place
    manifest     config        the digest of its config; the platform that the config states, where it was read
    config       platform      what it states
    presence     nothing       a server said that it has the manifest

A digest never changes what it names, so that the cache keeps them for ever.
"""

from __future__ import annotations

from archfit.images.platforms import Platform
from archfit.images.reference import Reference
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class Build(Record):
    """One build that an index offers: the digest of its manifest, and its platform.

    stated: the entry of the index states the platform; else its config or a nested index does, and runtimes differ in
    what they make of such an entry.
    """

    digest: str
    platform: Platform
    stated: bool = True


class ImageContents(Record):
    """See the module. config: "" of an index, and of an artifact. platform: None where nothing has read it."""

    kind: Literal["index", "manifest", "config", "presence"]
    children: tuple[Build, ...] = ()
    config: str = ""
    platform: Platform | None = None


class Part(Record):
    """A digest to read. reference: with the digest. kind: "document", with all that says its platforms; "manifest",
    the document alone, which is not an index; "config", the blob of an image's config; "presence", whether it is there.
    """

    reference: Reference
    kind: Literal["document", "manifest", "config", "presence"] = "document"

    def is_answered_by(self, contents: ImageContents) -> bool:
        """Whether it is enough: a manifest's config may have been left unread."""
        if "presence" in (self.kind, contents.kind):
            return self.kind == "presence"
        whole = contents.kind == "index" or contents.platform is not None or not contents.config
        return whole or self.kind == "manifest"
