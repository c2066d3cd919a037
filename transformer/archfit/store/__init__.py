"""Where answers of registries are kept between runs.

    Store    get_many(keys) -> {key: text}       those that there are, in one round trip
             put_many({key: text})               all or none
             close()
    Claims   claim(keys, owner, seconds) -> set  those that nobody else has claimed, now claimed by owner
             release(keys, owner)                ends the owner's claims; others are left
             shared                              several users read it (`lookup.scoped_keys`)
    Stock    items() -> [(key, text)]            everything, for `archfit cache`
             remove(keys) -> int                 how many there were
             size() -> int                       bytes, as near as the store knows

Keys are `tag:<normalised reference>..`, `digest:<repository>@<digest>..` (`lookup.keys`) and `host:<origin>`, and
`claim:<key>` for claims where they are entries; texts are JSON (`lookup.entries`). A claim ends by itself after its
seconds. A store raises nothing but StoreTrouble, and what it gives is not to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.errors import ArchfitError
from archfit.typing_names import Protocol


class Claims(Protocol):
    """Who is asking for what just now; see the module."""

    @property
    def shared(self) -> bool: ...

    def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]: ...

    def release(self, keys: Sequence[str], owner: str) -> None: ...


class Store(Claims, Protocol):
    """Where lookups are kept; see the module."""

    def get_many(self, keys: Sequence[str]) -> dict[str, str]: ...

    def put_many(self, entries: Mapping[str, str]) -> None: ...

    def close(self) -> None: ...


class Stock(Protocol):
    """What there is, to be looked through; see the module."""

    def items(self) -> list[tuple[str, str]]: ...

    def remove(self, keys: Iterable[str]) -> int: ...

    def size(self) -> int: ...


class StoreTrouble(ArchfitError):
    """The store cannot be used; the message says why and what to do. A run goes on without it."""
