"""The keys under which the cache of one user keeps answers of the images' own registries.

    tag:<host/repository:tag>
    digest:<host/repository>@<digest>
    contents:<host/repository>@<digest>      what is behind it (`content_entries`), for `archfit audit`

`scoped_keys` adds who answered and who may read the answer, where that matters.
"""

from __future__ import annotations

from archfit.images.reference import Reference
from archfit.typing_names import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.routing.endpoints import Endpoint


def key_of(reference: Reference) -> str:
    """The key of an answer of the reference's own registry that everybody may read."""
    return f"{'digest' if reference.digest else 'tag'}:{reference.normalised}"


def contents_key(key: str) -> str:
    """The key of a digest's contents. key: of the digest's answer."""
    return f"contents:{key.partition(':')[2]}"


class OwnKeys:
    """Keys without any addition. The two-step methods (`server`, `prepare`, `late`) are for `scoped_keys`."""

    def of(self, reference: Reference) -> list[str]:
        """The keys to read first."""
        return [key_of(reference)]

    def server(self, reference: Reference) -> str:
        """The key of the server's entry, where `late` needs that entry; else ""."""
        del reference
        return ""

    def prepare(self, servers: Iterable[tuple[Reference, str]]) -> None:
        """Get ready for `late` of these references and their servers' entries."""

    def late(self, reference: Reference, server: str) -> list[str]:
        """More keys to read. server: the server's entry, "" if there is none."""
        del reference, server
        return []

    def written(self, reference: Reference, endpoint: Endpoint | None, *, used: bool) -> str:
        """The key to write. endpoint: who answered, None for the image's own registry. used: a credential was sent."""
        del endpoint, used
        return key_of(reference)

    def claimed(self, reference: Reference) -> str:
        """The key of a claim: who asks for the image just now."""
        return key_of(reference)
