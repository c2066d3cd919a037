"""How much is asked at once, and how often.

For `--requests-per-second HOST=N` one request leaves each 1/N seconds, never two at once: the generic cell rate
algorithm without a burst (ITU-T I.371). A time is reserved, in Redis for all processes that share it, so that requests
leave in the order of their reservations; while Redis fails, each process keeps to N divided by the number of processes
that shared it last. A reservation behind the deadline is not made. The pauses that servers ask for come on top.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import thread_time
from typing import TypeAlias

from archfit.images.reference import HUB, HUB_API
from archfit.options.settings import RequestRate
from archfit.registry.registry_errors import RegistryError

MAX_PER_SERVER = 32
MAX_IN_FLIGHT = 64
MAX_RETRIES_PER_SERVER = 96
MOST_PIECES = 1024
PIECE_BYTES = 256
"""Of one body: so many chunks, or reads of the network, and one more for each 256 bytes of it."""
# Of answers that are larger: in a run, and in a process with many runs, as `archfit serve`.
SMALL = 256 * 1024
AT_ONCE = 2
IN_PROCESS = 8
OF_PROCESS = threading.Semaphore(IN_PROCESS)
"""For all runs that go on at once in this process."""
_TOO_LATE = "other large answers used up the time: allow more with --timeout"

Reserve: TypeAlias = Callable[[str, float, float], tuple[float | None, int] | None]
"""(host, seconds between requests, the longest wait) -> (seconds to wait, None for more than that; processes that share
the server), None where nobody can be asked."""


class LargeBodies:
    """Large answers that are in memory: a thread enters once for all that one image needs, until its `with` ends.

    left: seconds until the run's deadline. shared: places that other runs take from, too. Real indexes and configs have
    some kilobytes, so that only unusual ones wait for each other.
    """

    def __init__(self, left: Callable[[], float], shared: threading.Semaphore | None = None) -> None:
        self._left = left
        self._shared = shared
        self._free = threading.Semaphore(AT_ONCE)
        self._of_thread = threading.local()

    def enter(self) -> None:
        """Wait until this thread may read a large answer. Raises RegistryError at the deadline."""
        if getattr(self._of_thread, "entered", False):
            return
        if not self._free.acquire(timeout=self._left()):
            raise RegistryError(_TOO_LATE)
        if self._shared and not self._shared.acquire(timeout=self._left()):
            self._free.release()
            raise RegistryError(_TOO_LATE)
        self._of_thread.entered = True

    def __enter__(self) -> None:
        """A thread begins with what it is asked."""

    def __exit__(self, *_: object) -> None:
        """The thread is done with its large answers: another one may read."""
        if getattr(self._of_thread, "entered", False):
            self._of_thread.entered = False
            self._free.release()
            if self._shared:
                self._shared.release()


class TooMuch(Exception):
    """An answer takes more work than any needs: what the server sent, as in "more than 3 pieces"."""


class ProcessorBudget:
    """seconds: of processor time, for all that one image needs in one thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._of_thread = threading.local()

    def begin(self) -> None:
        """The calling thread begins with an image."""
        self._of_thread.end = thread_time() + self._seconds

    def check(self) -> None:
        """Raises TooMuch where the image has had its time."""
        if thread_time() > getattr(self._of_thread, "end", float("inf")):
            raise TooMuch(f"what takes more than {self._seconds:g} s of processor time")


UNLIMITED = ProcessorBudget(float("inf"))


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
        answer = self._reserve(host, 1 / rate, left) if self._reserve else None
        if answer:
            seconds, self._sharing[host] = answer
        else:
            seconds = self._own(host, self._sharing.get(host, 1) / rate, left)
        if seconds is None:
            raise RegistryError(
                f"{host} may be asked {rate:g} times a second (--requests-per-second), and the time was over: "
                "allow more with --timeout"
            )
        if seconds > 0:
            self._wait(seconds)

    def _own(self, host: str, interval: float, longest: float) -> float | None:
        with self._lock:
            now = self._clock()
            start = max(now, self._free.get(host, now))
            if start - now >= longest:
                return None
            self._free[host] = start + interval
            return start - now
