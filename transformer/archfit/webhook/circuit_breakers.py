"""A circuit breaker for each registry: one that is slow or down is left in peace, and its pods do not wait for it.

    closed     every lookup asks it
    open       after a lookup that it gave no answer at all, or three slow ones in a row; nobody asks it for 5 s
    half-open  after that, one lookup tries it: in time: closed; else open for twice as long, up to a minute

It counts for the namespaces whose lookups failed; for all, once there are three of them: one tenant can make a registry
that many share slow, with a repository that the registry has to fetch from elsewhere.

Libraries of circuit breakers wrap one call; here a lookup begins in the event loop and ends in a thread, being slow is
the failure, and what counts has to be known before the lookup ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import TypeVar

from archfit.webhook.lookup_queue import Standing

SLOW_SECONDS = 3.0
FAILURES = 3
FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 60.0
MOST_REGISTRIES = 1000
_MOST_BLAMED = 3
V = TypeVar("V")


class CircuitBreakers:
    """clock: seconds of a clock that never goes back. changed: called with a registry whose standing has changed."""

    def __init__(
        self, clock: Callable[[], float], changed: Callable[[str], None] = lambda _registry: None
    ) -> None:
        self._clock = clock
        self.changed = changed
        self._failing: dict[str, _Circuit] = {}
        self._known: dict[str, None] = {}

    def standing(self, registry: str, namespace: str) -> Standing:
        """For its place in the queue."""
        if self.paused(registry, namespace):
            return "paused"
        return "known" if registry in self._known else "new"

    def paused(self, registry: str, namespace: str) -> str:
        """Why lookups of the namespace do not ask the registry, "" where they do."""
        circuit = self._failing.get(registry)
        if not circuit or not circuit.until or not circuit.counts_for(namespace):
            return ""
        left = circuit.until - self._clock()
        if left > 0:
            return f"{registry} {circuit.why}, and is asked again in {ceil(left)} s"
        return f"{registry} {circuit.why}, and is being tried again" if circuit.trial else ""

    def begin(self, registry: str, namespace: str) -> bool:
        """A lookup that is not `paused` begins. Whether it is the trial of a registry."""
        circuit = self._failing.get(registry)
        if not circuit or not circuit.until or not circuit.counts_for(namespace):
            return False
        circuit.trial = True
        return True

    def untried(self, registry: str) -> None:
        """A trial did not ask the registry after all."""
        circuit = self._failing.get(registry)
        if circuit:
            circuit.trial = False

    def answered(self, registry: str, *, trial: bool) -> None:
        """A lookup was done in time."""
        circuit = self._failing.get(registry)
        if circuit and (trial or not circuit.until):
            del self._failing[registry]
        news = registry not in self._known
        _put(self._known, registry, None)
        if news or trial:
            self.changed(registry)

    def slow(self, registry: str, namespace: str, *, trial: bool) -> None:
        """A lookup is slow."""
        circuit = self._blamed(registry, namespace)
        if circuit.until and not trial:
            return
        circuit.failures += 1
        if trial or circuit.failures >= FAILURES:
            self._open(registry, circuit, "is slow")

    def unreached(self, registry: str, namespace: str, *, trial: bool) -> None:
        """A lookup got no answer at all, however often it asked."""
        circuit = self._blamed(registry, namespace)
        if trial or not circuit.until:
            self._open(registry, circuit, "could not be reached")

    def states(self) -> Counter[str]:
        """How many registries are `open` and `half_open`."""
        now = self._clock()
        return Counter(
            "open" if circuit.until > now else "half_open"
            for circuit in self._failing.values()
            if circuit.until
        )

    def _blamed(self, registry: str, namespace: str) -> _Circuit:
        circuit = self._failing.get(registry)
        if circuit is None:
            circuit = _Circuit()
            _put(self._failing, registry, circuit)
        if not circuit.counts_for(namespace):
            circuit.blamed.add(namespace)
            if circuit.until:
                self.changed(registry)
        return circuit

    def _open(self, registry: str, circuit: _Circuit, why: str) -> None:
        circuit.pause = (
            min(2 * circuit.pause, LONGEST_PAUSE_SECONDS) if circuit.until else FIRST_PAUSE_SECONDS
        )
        circuit.until = self._clock() + circuit.pause
        circuit.trial, circuit.why = False, why
        self._known.pop(registry, None)
        self.changed(registry)


@dataclass(eq=False, slots=True)
class _Circuit:
    """until: when the pause ends, 0 while it is closed. blamed: namespaces whose lookups failed, three at most."""

    blamed: set[str] = field(default_factory=set)
    failures: int = 0
    pause: float = 0.0
    until: float = 0.0
    trial: bool = False
    why: str = ""

    def counts_for(self, namespace: str) -> bool:
        return len(self.blamed) >= _MOST_BLAMED or namespace in self.blamed


def _put(kept: dict[str, V], name: str, value: V) -> None:
    """Last in order; what has been there longest goes where there are too many."""
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > MOST_REGISTRIES:
        del kept[next(iter(kept))]
