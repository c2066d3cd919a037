"""Where lookups are kept between runs.

    Store.get_many(keys) -> {key: text}      those that there are, in one round trip
    Store.put_many({key: text})              all or none
    Store.close()

Keys are `tag:<normalised reference>`, `digest:<digest>` and `host:<origin>`; texts are JSON (`images.entries`). A store
raises nothing but StoreTrouble, and what it gives is not to be trusted.
"""

from __future__ import annotations

from archfit.errors import ArchfitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    class Store(Protocol):
        """Where lookups are kept; see the module."""

        def get_many(self, keys: Sequence[str]) -> dict[str, str]: ...

        def put_many(self, entries: Mapping[str, str]) -> None: ...

        def close(self) -> None: ...


class StoreTrouble(ArchfitError):
    """The store cannot be used; the message says why and what to do. A run goes on without it."""
