"""The request budget that processes share on a Redis or Valkey server, and what is done while it fails.

store.redis ── reserve ── registry.http.limits
     └─ trouble: one warning; asked again after five seconds
"""

from __future__ import annotations

from collections.abc import Callable

from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.redis import RedisStore

_AGAIN_SECONDS = 5.0


class SharedBudget:
    """owner: names this process among those that share the server. clock: seconds that never go back."""

    def __init__(
        self, store: RedisStore, owner: str, clock: Callable[[], float], warn: Callable[[str], None]
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._warn = warn
        self._failed_until = float("-inf")
        self._warned = False

    def reserve(self, host: str, interval: float, longest: float) -> tuple[float | None, int] | None:
        """As `request_budget.Reserve`; None while the server fails."""
        if self._clock() < self._failed_until:
            return None
        try:
            return self._store.reserve(host, self._owner, interval, longest)
        except StoreTrouble as trouble:
            self._failed_until = self._clock() + _AGAIN_SECONDS
            if not self._warned:
                self._warned = True
                self._warn(f"{trouble}; this process keeps to its part of --requests-per-second by itself")
            return None

    def close(self) -> None:
        """Close the connections to the server."""
        self._store.close()
