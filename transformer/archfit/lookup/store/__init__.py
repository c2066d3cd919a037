"""Where answers of registries are kept between runs.

    Store            get_many(keys) -> {key: text}       the entries that exist, in one round trip
                     put_many({key: text})               all or none
                     close()
    Claims           claim(keys, owner, seconds) -> set  the keys without another owner, now claimed by this one
                     release(keys, owner)                ends the owner's claims, not those of others
                     shared                              several users read it (`lookup.scoped_keys`)
    StoreContents    items() -> [(key, text)]            everything, for `archfit cache`
                     remove(keys) -> int                 how many existed
                     size() -> int                       bytes, as far as the store knows

Keys are `tag:<normalised reference>..`, `digest:<repository>@<digest>..` (`lookup.entries`) and `host:<origin>`, and
`claim:<key>` for claims where they are entries; texts are JSON (`lookup.entries`). A claim ends by itself after its
seconds. A store raises only StoreTrouble. Readers have to validate what it returns.
"""

from __future__ import annotations

from archfit.base.errors import ArchfitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Protocol

    class Claims(Protocol):
        """Which process asks for which image now; see the module."""

        @property
        def shared(self) -> bool: ...

        def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]: ...

        def release(self, keys: Sequence[str], owner: str) -> None: ...

    class Store(Claims, Protocol):
        """Where lookups are kept; see the module."""

        def get_many(self, keys: Sequence[str]) -> dict[str, str]: ...

        def put_many(self, entries: Mapping[str, str]) -> None: ...

        def close(self) -> None: ...

    class StoreContents(Protocol):
        """Everything in a store, for `archfit cache`; see the module."""

        def items(self) -> list[tuple[str, str]]: ...

        def remove(self, keys: Iterable[str]) -> int: ...

        def size(self) -> int: ...


class StoreTrouble(ArchfitError):
    """The store cannot be used; the message says why and what to do. A run goes on without it."""


class MemoryStore:
    """Lasts as long as the process: for `--no-cache`, and where no other can be used.

    No other process sees it, so every claim is won.
    """

    shared = False

    def __init__(self) -> None:
        self._entries: dict[str, str] = {}

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        return {key: self._entries[key] for key in keys if key in self._entries}

    def put_many(self, entries: Mapping[str, str]) -> None:
        self._entries.update(entries)

    def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]:
        del owner, seconds
        return set(keys)

    def release(self, keys: Sequence[str], owner: str) -> None:
        del keys, owner

    def close(self) -> None:
        """Nothing to give back."""
