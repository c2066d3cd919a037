"""Clock, environment and deadline of a lookup: one deadline covers all that it waits for."""

from __future__ import annotations

from time import monotonic

from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from archfit.registry.http.limits import RequestBudget

GRACE_SECONDS = 0.5


class Deadline:
    """clock: seconds of a clock that never goes back. It does not end before `start` is called."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._end = float("inf")

    def start(self, seconds: float) -> None:
        self._end = self._clock() + seconds

    def left(self) -> float:
        """Seconds until it ends, 0 after it."""
        return max(0.0, self._end - self._clock())

    def left_for_cache(self) -> float:
        """Seconds until the cache has to be written."""
        return max(0.0, self._end + GRACE_SECONDS - self._clock())


class LookupContext(Record):
    """environ: variables of the process. clock: Unix seconds. wait: sleeps for some seconds between tries.

    progress: called with (done, total) as answers arrive from registries. named_hosts_only: private addresses are asked
    only where the operator names the host (`http.host_policy`); a reference is not enough.
    processor_seconds: what the answers for one image may cost. budget: of all lookups of a process;
    None where each has its own.
    """

    environ: Mapping[str, str]
    clock: Callable[[], float]
    wait: Callable[[float], object]
    progress: Callable[[int, int, str], None] | None
    named_hosts_only: bool
    deadline: Deadline
    processor_seconds: float = float("inf")
    budget: RequestBudget | None = None
