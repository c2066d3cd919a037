"""A store that lasts as long as the process: for `--no-cache`, and where no other can be used."""

from __future__ import annotations

from archfit.base.typing_names import Mapping, Sequence


class MemoryStore:
    """See `archfit.lookup.store`. No other process sees it, so every claim is won."""

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
