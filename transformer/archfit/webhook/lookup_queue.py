"""Which image is looked up next: no tenant and no registry keeps the others from a worker.

    a namespace    may hold a third of the workers that are free: of 64, 16 where it is alone, 13 each of two;
                   one that holds none may always take one
    next           the namespace with the fewest workers and slow lookups of the last minute; equal ones in turn
    new            registries that have not answered in time before get three quarters of the workers at most
    a registry     may hold a quarter of the workers
    paused         what needs no registry comes first, without a share
    too many wait  the namespace with the most loses one

Source: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions
on Networking 6 (1998): shares of what is free let one tenant use what nobody else needs, and leave room for the next.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
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
        self._tenants: dict[str, _Tenant[T]] = {}
        self._held = Counter[str]()  # by registry
        self._queued = Counter[Standing]()
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
        """1 while three quarters of the workers are free, down to 0 where no more than tenant is."""
        return min(1.0, max(0.0, (self.free / self._quarter - 1) / 2))

    def add(self, namespace: str, registry: str, item: T) -> tuple[str, T] | None:
        """The item waits for a turn of the namespace. The (namespace, item) that has to go: perhaps this tenant."""
        tenant = self._tenants.get(namespace)
        if tenant and tenant.waiting >= self._most_of_one:
            return namespace, item
        lost = None
        if self.waiting >= self._most:
            longest = max(self._tenants, key=lambda name: self._tenants[name].waiting)
            if (tenant.waiting if tenant else 0) + 1 >= self._tenants[longest].waiting:
                return namespace, item
            lost = longest, self._drop_last(longest)
        tenant = self._tenants.get(namespace)
        if tenant is None:
            tenant = self._tenants[namespace] = _Tenant()
        if registry not in tenant.queues:
            tenant.queues[registry] = _Queue(self._standing(registry, namespace))
            self._queued[tenant.queues[registry].standing] += 1
        tenant.queues[registry].items[item] = None
        tenant.waiting += 1
        self.waiting += 1
        return lost

    def remove(self, namespace: str, registry: str, item: T) -> None:
        """An item that waits need not any more."""
        tenant = self._tenants[namespace]
        queue = tenant.queues[registry]
        del queue.items[item]
        if not queue.items:
            del tenant.queues[registry]
            self._queued[queue.standing] -= 1
        tenant.waiting -= 1
        self.waiting -= 1
        self._forget(namespace)

    def take(self) -> tuple[Turn, T] | None:
        """The next item and whose turn it is, None where there is none that may have a worker now."""
        self._forgive()
        turn = self._next() if self.free and self.waiting else None
        if not turn:
            return None
        namespace, registry = turn
        tenant = self._tenants[namespace]
        queue = tenant.queues.pop(registry)
        tenant.queues[registry] = queue  # at the end: its other registries come first
        item = next(iter(queue.items))
        is_new = queue.standing == "new"
        self._new += is_new
        self._change_held(namespace, registry, 1)
        self.remove(namespace, registry, item)
        return Turn(namespace, registry, is_new), item

    def give_back(self, turn: Turn) -> None:
        """An item that was taken is done."""
        self._new -= turn.is_new
        self._change_held(turn.namespace, turn.registry, -1)
        self._forget(turn.namespace)

    def strike(self, namespace: str) -> None:
        """A lookup of the namespace is slow: for a minute, others come before its next ones."""
        tenant = self._tenants.get(namespace)
        if tenant and tenant.strikes < _MOST_STRIKES:
            self._strikes.append((self._clock() + STRIKE_SECONDS, namespace))
            tenant.strikes += 1
            self._put_last(namespace)

    def reconsider(self, registry: str) -> None:
        """The registry's standing has changed."""
        for namespace, tenant in self._tenants.items():
            queue = tenant.queues.get(registry)
            if queue:
                self._queued[queue.standing] -= 1
                queue.standing = self._standing(registry, namespace)
                self._queued[queue.standing] += 1

    def _next(self) -> tuple[str, str] | None:
        more_new = self._new < max(1, self._workers - self._quarter)
        for standing in get_args(Standing):
            if not self._queued[standing] or (standing == "new" and not more_new):
                continue
            best, lowest = None, 0
            for namespace, tenant in self._tenants.items():
                rank = tenant.held + tenant.strikes
                may_ask = standing == "paused" or not tenant.held or 3 * (tenant.held + 1) <= self.free
                if may_ask and (best is None or rank < lowest):
                    registry = self._registry(tenant, standing)
                    if registry is not None:
                        best, lowest = (namespace, registry), rank
            if best:
                return best
        return None

    def _registry(self, tenant: _Tenant[T], standing: Standing) -> str | None:
        for registry, queue in tenant.queues.items():
            if queue.standing == standing and (standing == "paused" or self._held[registry] < self._quarter):
                return registry
        return None

    def _put_last(self, namespace: str) -> None:
        """Behind all others of the same rank."""
        self._tenants[namespace] = self._tenants.pop(namespace)

    def _drop_last(self, namespace: str) -> T:
        queues = self._tenants[namespace].queues
        registry = next(reversed(queues))
        item = next(reversed(queues[registry].items))
        self.remove(namespace, registry, item)
        return item

    def _change_held(self, namespace: str, registry: str, change: int) -> None:
        tenant = self._tenants[namespace]
        tenant.held += change
        self._put_last(namespace)
        self.running += change
        self._held[registry] += change
        if not self._held[registry]:
            del self._held[registry]

    def _forgive(self) -> None:
        now = self._clock()
        while self._strikes and self._strikes[0][0] <= now:
            _, namespace = self._strikes.popleft()
            self._tenants[namespace].strikes -= 1
            self._put_last(namespace)
            self._forget(namespace)

    def _forget(self, namespace: str) -> None:
        tenant = self._tenants[namespace]
        if not (tenant.waiting or tenant.held or tenant.strikes):
            del self._tenants[namespace]


@dataclass(eq=False, slots=True)
class _Queue(Generic[T]):
    """What waits for one namespace and one registry, in order."""

    standing: Standing
    items: dict[T, None] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Tenant(Generic[T]):
    """What a namespace has. queues: by registry, what was taken from last at the end."""

    held: int = 0
    strikes: int = 0
    waiting: int = 0
    queues: dict[str, _Queue[T]] = field(default_factory=dict)
