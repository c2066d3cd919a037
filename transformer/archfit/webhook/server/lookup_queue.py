"""Which image is looked up next: no tenant and no registry keeps the others from a worker.

    a namespace    may hold a third of the workers that are free: of 64, 16 where it is alone, 13 each of two;
                   one that holds none may always take one
    next           the namespace with the fewest workers and slow lookups of the last minute; equal ones in turn
    new            registries that have not answered in time before get three quarters of the workers at most
    a registry     may hold a quarter of the workers
    paused         what needs no registry comes first, without a share
    too many wait  the namespace with the most loses one

Shares that follow what is free let one tenant use what nobody else needs, and leave room for the next without cutting
anything off. Source: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
IEEE/ACM Transactions on Networking 6 (1998).

A turn takes as long as there are workers, however many wait: namespaces stand in rows of equal rank, and a queue whose
registry has all its workers is put aside until one comes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, get_args

Standing: TypeAlias = Literal["paused", "new", "known"]
"""Of a registry. paused: it is not asked now, and the cache answers at once. known: it has answered in time before."""

T = TypeVar("T")


class Turn(NamedTuple):
    """Who has a worker. is_new: the registry was when it was taken."""

    namespace: str
    registry: str
    is_new: bool


STRIKE_SECONDS = 60.0
_MOST_STRIKES = 8


class LookupQueue(Generic[T]):
    """workers: lookups at once. most: that may wait. most_of_one: of a namespace.

    standing: of a registry for a namespace; call `reconsider` when it has changed. Items are hashable; one may wait for
    several namespaces. clock: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        workers: int,
        most: int,
        most_of_one: int,
        standing: Callable[[str, str], Standing],
        clock: Callable[[], float],
    ) -> None:
        self._workers, self._most, self._most_of_one = workers, most, most_of_one
        self._quarter = max(1, workers // 4)
        self._standing = standing
        self._clock = clock
        self._namespaces: dict[str, _Namespace[T]] = {}
        self._registries: dict[str, _Registry] = {}
        # Namespaces by rank, for each standing of their registries; and by how many of their items wait.
        self._rows: dict[Standing, _Rows] = {standing: _Rows() for standing in get_args(Standing)}
        self._lengths = _Rows()
        self._strikes: deque[tuple[float, str]] = deque()
        self.waiting = 0
        self.running = 0
        self._new = 0

    @property
    def free(self) -> int:
        """Workers that nobody has."""
        return self._workers - self.running

    @property
    def ease(self) -> float:
        """1 while three quarters of the workers are free, down to 0 where no more than one is."""
        return min(1.0, max(0.0, (self.free / self._quarter - 1) / 2))

    def add(self, namespace: str, registry: str, item: T) -> tuple[str, T] | None:
        """The item waits for a turn of the namespace. The (namespace, item) that has to go: perhaps this one."""
        one = self._namespaces.get(namespace)
        if one and one.waiting >= self._most_of_one:
            return namespace, item
        lost = None
        if self.waiting >= self._most:
            longest = self._lengths.last()
            if (one.waiting if one else 0) + 1 >= self._namespaces[longest].waiting:
                return namespace, item
            lost = longest, self._drop_last(longest)
            one = self._namespaces.get(namespace)
        if one is None:
            one = self._namespaces[namespace] = _Namespace()
        queue = one.queues.get(registry)
        if queue is None:
            queue = one.queues[registry] = _Queue(self._standing(registry, namespace))
            self._registries.setdefault(registry, _Registry()).namespaces[namespace] = None
            self._make_ready(namespace, registry)
        queue.items[item] = None
        self._change_waiting(namespace, 1)
        return lost

    def remove(self, namespace: str, registry: str, item: T) -> None:
        """An item that waits need not any more."""
        queue = self._namespaces[namespace].queues[registry]
        del queue.items[item]
        if not queue.items:
            self._end_queue(namespace, registry)
        self._change_waiting(namespace, -1)

    def take(self) -> tuple[Turn, T] | None:
        """The next item and whose turn it is, None where there is none that may have a worker now."""
        self._forgive()
        for standing in self._rows:
            may = standing != "new" or self._new < max(1, self._workers - self._quarter)
            if self.free and may and (found := self._next(standing)):
                break
        else:
            return None
        namespace, registry = found
        queue = self._namespaces[namespace].queues[registry]
        item = next(iter(queue.items))
        self._new += standing == "new"
        self._change_held(namespace, registry, 1)
        self.remove(namespace, registry, item)
        if queue.items:
            ready = self._namespaces[namespace].ready[queue.standing]
            ready[registry] = ready.pop(registry)  # at the end: its other registries come first
        return Turn(namespace, registry, standing == "new"), item

    def give_back(self, turn: Turn) -> None:
        """An item that was taken is done."""
        self._new -= turn.is_new
        self._change_held(turn.namespace, turn.registry, -1)
        self._forget(turn.namespace)

    def strike(self, namespace: str) -> None:
        """A lookup of the namespace is slow: for a minute, others come before its next ones."""
        one = self._namespaces.get(namespace)
        if one and one.strikes < _MOST_STRIKES:
            self._strikes.append((self._clock() + STRIKE_SECONDS, namespace))
            self._change_rank(namespace, strikes=1)

    def reconsider(self, registry: str) -> None:
        """The registry's standing has changed."""
        known = self._registries.get(registry)
        if known:
            for namespace in known.namespaces:
                self._put_aside(namespace, registry)
                queue = self._namespaces[namespace].queues[registry]
                queue.standing = self._standing(registry, namespace)
            self._call_back(registry, len(known.aside))

    def _next(self, standing: Standing) -> tuple[str, str] | None:
        found, full = None, []
        for namespace in self._rows[standing].first_to_last():
            one = self._namespaces[namespace]
            if standing != "paused" and one.held and 3 * (one.held + 1) > self.free:
                continue
            for registry in one.ready[standing]:
                if standing == "paused" or self._registries[registry].held < self._quarter:
                    found = namespace, registry
                    break
                full.append((namespace, registry))
            if found:
                break
        for namespace, registry in full:
            self._put_aside(namespace, registry)
        return found

    def _make_ready(self, namespace: str, registry: str) -> None:
        one = self._namespaces[namespace]
        standing = one.queues[registry].standing
        if not one.ready[standing]:
            self._rows[standing].put(namespace, one.rank)
        one.ready[standing][registry] = None

    def _put_aside(self, namespace: str, registry: str) -> None:
        """Do not look at a queue until `_call_back`."""
        one = self._namespaces[namespace]
        standing = one.queues[registry].standing
        ready = one.ready[standing]
        if registry in ready:
            del ready[registry]
            self._registries[registry].aside[namespace] = None
            if not ready:
                self._rows[standing].discard(namespace, one.rank)

    def _call_back(self, registry: str, most: int) -> None:
        """Look again at the queues that were put aside first, `most` of them."""
        aside = self._registries[registry].aside
        for namespace in list(islice(aside, most)):
            del aside[namespace]
            self._make_ready(namespace, registry)

    def _end_queue(self, namespace: str, registry: str) -> None:
        known = self._registries[registry]
        self._put_aside(namespace, registry)
        del known.namespaces[namespace], self._namespaces[namespace].queues[registry]
        known.aside.pop(namespace, None)
        if known.held < self._quarter:
            self._call_back(registry, 1)
        if not (known.held or known.namespaces):
            del self._registries[registry]

    def _drop_last(self, namespace: str) -> T:
        queues = self._namespaces[namespace].queues
        registry = next(reversed(queues))
        item = next(reversed(queues[registry].items))
        self.remove(namespace, registry, item)
        return item

    def _change_waiting(self, namespace: str, change: int) -> None:
        one = self._namespaces[namespace]
        if one.waiting:
            self._lengths.discard(namespace, one.waiting)
        one.waiting += change
        self.waiting += change
        if one.waiting:
            self._lengths.put(namespace, one.waiting)
        self._forget(namespace)

    def _change_held(self, namespace: str, registry: str, change: int) -> None:
        self._change_rank(namespace, held=change)
        self.running += change
        known = self._registries[registry]
        known.held += change
        if change < 0:
            # So many that one of them holds no worker yet, and may have this one.
            self._call_back(registry, self._workers + 1)
            if not (known.held or known.namespaces):
                del self._registries[registry]

    def _change_rank(self, namespace: str, *, held: int = 0, strikes: int = 0) -> None:
        """Put the namespace behind those of its new rank."""
        one = self._namespaces[namespace]
        rows = [self._rows[standing] for standing, ready in one.ready.items() if ready]
        for row in rows:
            row.discard(namespace, one.rank)
        one.held += held
        one.strikes += strikes
        for row in rows:
            row.put(namespace, one.rank)

    def _forgive(self) -> None:
        now = self._clock()
        while self._strikes and self._strikes[0][0] <= now:
            _, namespace = self._strikes.popleft()
            self._change_rank(namespace, strikes=-1)
            self._forget(namespace)

    def _forget(self, namespace: str) -> None:
        one = self._namespaces[namespace]
        if not (one.waiting or one.held or one.strikes):
            del self._namespaces[namespace]


class _Queue(Generic[T]):
    """What waits for one namespace and one registry, in order."""

    __slots__ = ("items", "standing")

    def __init__(self, standing: Standing) -> None:
        self.items: dict[T, None] = {}
        self.standing = standing


class _Namespace(Generic[T]):
    """queues: by registry. ready: the registries of those that may be looked at."""

    __slots__ = ("held", "queues", "ready", "strikes", "waiting")

    def __init__(self) -> None:
        self.held = self.strikes = self.waiting = 0
        self.queues: dict[str, _Queue[T]] = {}
        self.ready: dict[Standing, dict[str, None]] = {standing: {} for standing in get_args(Standing)}

    @property
    def rank(self) -> int:
        return self.held + self.strikes


class _Registry:
    """namespaces: where something waits for it. aside: of those, the ones that wait for a worker of the registry."""

    __slots__ = ("aside", "held", "namespaces")

    def __init__(self) -> None:
        self.held = 0
        self.namespaces: dict[str, None] = {}
        self.aside: dict[str, None] = {}


class _Rows:
    """Names in rows of equal numbers, each row in order of arrival."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[str, None]] = {}

    def put(self, name: str, number: int) -> None:
        self._rows.setdefault(number, {})[name] = None

    def discard(self, name: str, number: int) -> None:
        row = self._rows[number]
        del row[name]
        if not row:
            del self._rows[number]

    def first_to_last(self) -> Iterator[str]:
        """By number."""
        for number in sorted(self._rows):
            yield from self._rows[number]

    def last(self) -> str:
        """One with the highest number."""
        return next(iter(self._rows[max(self._rows)]))
