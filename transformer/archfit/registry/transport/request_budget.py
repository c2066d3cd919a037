"""How often servers are asked: one request each 1/N seconds for `--requests-per-second HOST=N`, never two at once.

    request ── the next free time of its server ── wait ── sent
                 reserved in Redis, for all processes that share it
                 in this process, where there is no Redis

    Redis fails during a run    each process keeps to N divided by the number of processes that shared it last

A time is reserved, so that requests leave in the order of their reservations. A reservation behind the deadline is not
made. The pauses that servers ask for (`retry_policy`) come on top. This is the generic cell rate algorithm without a
burst (ITU-T I.371).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from archfit.images.reference import HUB, HUB_API
from archfit.options.option_entries import RequestRate
from archfit.registry.registry_errors import RegistryError
from archfit.typing_names import TypeAlias

Reserve: TypeAlias = Callable[[str, float, float], tuple[float | None, int] | None]
"""(host, seconds between requests, the longest wait) -> (seconds to wait, None for more than that; processes that share
the server), None where nobody can be asked."""


class RequestBudget:
    """Safe to use from several threads. clock: seconds that never go back. reserve: None where no server is shared."""

    def __init__(
        self,
        rates: Iterable[RequestRate],
        clock: Callable[[], float],
        wait: Callable[[float], object],
        reserve: Reserve | None = None,
    ) -> None:
        self._rates = {HUB_API if rate.host == HUB else rate.host: rate.per_second for rate in rates}
        self._clock = clock
        self._wait = wait
        self._reserve = reserve
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}
        self._sharing: dict[str, int] = {}

    def take(self, host: str, left: float) -> None:
        """Wait until the server may be asked. host: `host[:port]`. left: seconds to the deadline.

        Raises RegistryError where that would be after the deadline.
        """
        rate = self._rates.get(host) or self._rates.get("*")
        if not rate:
            return
        seconds = self._shared(host, 1 / rate, left)
        if seconds is None:
            raise RegistryError(
                f"{host} may be asked {rate:g} times a second (--requests-per-second), and the time was over: "
                "allow more with --timeout"
            )
        if seconds > 0:
            self._wait(seconds)

    def _shared(self, host: str, interval: float, longest: float) -> float | None:
        answer = self._reserve(host, interval, longest) if self._reserve else None
        if answer is None:
            return self._own(host, interval * self._sharing.get(host, 1), longest)
        seconds, self._sharing[host] = answer
        return seconds

    def _own(self, host: str, interval: float, longest: float) -> float | None:
        with self._lock:
            now = self._clock()
            start = max(now, self._free.get(host, now))
            if start - now >= longest:
                return None
            self._free[host] = start + interval
            return start - now
