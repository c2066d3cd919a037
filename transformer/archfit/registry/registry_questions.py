"""What registries are asked, and where.

Question (reference, what the cache knew)  ->  Found | Absent | Unknown
Part (repository and digest)               ->  Contents | Absent | Unknown
Route                                          the endpoints for one of them, in order
"""

from __future__ import annotations

from typing import Literal

from archfit.base.record import Record
from archfit.images.platforms import Found
from archfit.images.reference import Reference
from archfit.registry.routing.endpoints import Endpoint


class Question(Record):
    """An image to ask for. known: what the cache has for its tag, too old to be used as it is; None if nothing."""

    reference: Reference
    known: Found | None = None


class Part(Record):
    """A digest to read. reference: with the digest. kind: "document", with all that says its platforms; "manifest",
    the document alone, which is not an index; "config", the blob of an image's config.
    """

    reference: Reference
    kind: Literal["document", "manifest", "config"] = "document"


class Route(Record):
    """Where a question is asked, in order. refusal: why no server is asked, "" where one is."""

    endpoints: tuple[Endpoint, ...]
    refusal: str = ""
