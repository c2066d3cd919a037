"""Where answers of registries are kept between runs.

Keys and texts are those of `lookup.entries`, and `claim:<key>` for claims where they are entries. A store raises only
StoreTrouble. Readers have to validate what it returns.
"""

from __future__ import annotations

from archfit.base.errors import ArchfitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    class Store(Protocol):
        """shared: several users read it (`lookup.scoped_keys`).

        get_many: in one round trip. put_many: all or none. claim: the keys without another owner, now claimed by this
        one, until the seconds are over. release: ends the owner's claims, not those of others.
        """

        @property
        def shared(self) -> bool: ...

        def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]: ...

        def release(self, keys: Sequence[str], owner: str) -> None: ...

        def get_many(self, keys: Sequence[str]) -> dict[str, str]: ...

        def put_many(self, entries: Mapping[str, str]) -> None: ...

        def close(self) -> None: ...


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
