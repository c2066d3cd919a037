"""How much memory the server may take, and which part of it may take how much.

The limit is --memory-limit, else the smallest that a cgroup of the process states, else 512 MiB. The server takes half
of it: the kernel charges its buffers of sockets and files to the same cgroup. 96 MiB are for the program, its
libraries, small memos, and answers of registries that are being read; the rest is divided.

What does not fit is not kept, or its Pod is admitted as it is; `archfit_memory_refusals_total` counts both by share.
Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "memory.max"; cgroup-v1/memory.rst; cgroups(7).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from archfit.base.errors import UsageError
from archfit.cluster import quantity
from archfit.startup.record import Record

MIB = 1 << 20
USUAL_LIMIT = 512 * MIB
SMALLEST_LIMIT = 256 * MIB
PROGRAM = 96 * MIB
# In hundredths of what the program leaves. reviews: what is read from bodies and decided. bodies: of requests, until
# they are decoded. verdicts, answers: that are kept. connections: with TLS. log_lines: that wait for standard error.
SHARES = {"reviews": 40, "bodies": 10, "verdicts": 12, "answers": 12, "connections": 21, "log_lines": 5}
SMALL = {"reviews": 256 * 1024, "bodies": 16 * 1024}
SLOW_BODY_SECONDS = 2.0
_NO_LIMIT = 1 << 60  # version 1 writes the largest multiple of a page for no limit


class MemoryLimit(Record):
    """limit: in bytes. source: who states it, for people."""

    limit: int = USUAL_LIMIT
    source: str = "no limit is known"

    def share(self, name: str) -> int:
        """Bytes of a share."""
        return (self.limit // 2 - PROGRAM) * SHARES[name] // 100


NO_LIMIT = MemoryLimit()
"""512 MiB."""


def memory_limit(stated: str, root: Path = Path("/")) -> MemoryLimit:
    """The limit. stated: of --memory-limit, "" without it. root: where /sys and /proc are. Raises UsageError."""
    if stated:
        try:
            limit = MemoryLimit(quantity.units(quantity.nano(stated)), f"--memory-limit {stated}")
        except ValueError:
            raise UsageError(
                f"--memory-limit: {stated!r} is not a quantity: write it as in a pod's resources, 512Mi"
            ) from None
    else:
        limits = list(_cgroup_limits(root))
        limit = min(limits, key=lambda limit: limit.limit) if limits else NO_LIMIT
    if limit.limit < SMALLEST_LIMIT:
        raise UsageError(
            f"--memory-limit: {limit.limit // MIB} MiB ({limit.source}) are too little for archfit serve: give it "
            f"{SMALLEST_LIMIT // MIB}Mi or more, as resources.limits.memory of its container or as --memory-limit"
        )
    return limit


def _cgroup_limits(root: Path) -> Iterator[MemoryLimit]:
    """Every limit of the process's cgroups and those above them, as far as the process sees them."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    folders = {root / "sys/fs/cgroup": "memory.max", root / "sys/fs/cgroup/memory": "memory.limit_in_bytes"}
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            top, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        for part in [part for part in path.split("/") if part not in ("", "..")]:
            top /= part
            folders[top] = name
    for folder, name in folders.items():
        try:
            text = (folder / name).read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < _NO_LIMIT:
            yield MemoryLimit(int(text), str(Path("/") / (folder / name).relative_to(root)))


class Share:
    """Bytes that may be held at once; for the event loop alone. refused: called for each thing that does not fit.

    small: bytes of what does not wait behind larger things, and for which an eighth of the share is kept; else a client
    that sends the halves of a few large bodies would hold the share of everybody. 0: nothing is kept.
    """

    def __init__(self, size: int, refused: Callable[[], None] = lambda: None, small: int = 0) -> None:
        self.size = size
        self.held = 0
        self.refused = refused
        self.small = small
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def _for_large(self) -> int:
        return self.size - self.size // 8 if self.small else self.size

    def fits(self, size: int) -> bool:
        """Whether so many bytes fit now and, where they are many, nobody waits."""
        if size <= self.small:
            return self.held + size <= self.size
        return not self._waiting and self.held + size <= self._for_large

    def take(self, size: int) -> bool:
        """Hold some bytes, if they fit."""
        if not self.fits(size):
            return False
        self.held += size
        return True

    def give(self, size: int) -> None:
        """Hold so many bytes less."""
        self.held -= size
        while self._waiting and self.held + self._waiting[0][0] <= self._for_large:
            size, turn = self._waiting.popleft()
            self.held += size
            turn.set_result(None)

    async def room(self, size: int, seconds: float, most: int) -> bool:
        """Hold some bytes once they fit, in the order of those who wait. False where that takes longer.

        most: how many may wait.
        """
        if self.take(size):
            return True
        if size > self._for_large or len(self._waiting) >= most or seconds <= 0:
            return False
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await asyncio.wait((turn,), timeout=seconds)
        except asyncio.CancelledError:
            if turn.done():
                self.give(size)
            raise
        finally:
            if not turn.done():
                self._waiting.remove((size, turn))
        return turn.done()


@dataclass(eq=False, slots=True)
class Body:
    """Of one request. size: bytes that it holds. began: by the clock. close: ends its connection."""

    size: int
    began: float
    close: Callable[[], None]


class Bodies:
    """What bodies hold of their share, from their head on. Those that have not arrived make room, the oldest first:

    for a small body      any of them: a client would need a thousand new ones while a good body arrives
    for a larger one      those that began SLOW_BODY_SECONDS ago

    clock: seconds of a clock that never goes back. closed: called for each that makes room.
    """

    def __init__(
        self, share: Share, clock: Callable[[], float], closed: Callable[[], None] = lambda: None
    ) -> None:
        self._share = share
        self._clock = clock
        self._closed = closed
        self._arriving: dict[Body, None] = {}

    def take(self, size: int, close: Callable[[], None]) -> Body | None:
        """A body that begins; None where there is no room for it now. close: ends its connection."""
        share = self._share
        if not share.take(size):
            self._make_room(size)
            if not share.take(size):
                share.refused()
                return None
        return self._begun(size, close)

    async def room(self, size: int, close: Callable[[], None], seconds: float, most: int) -> Body | None:
        """The same for a large one, which may wait for its turn. seconds, most: as for `Share.room`."""
        if not self._share.fits(size):
            self._make_room(size)
        again = asyncio.get_running_loop().call_later(SLOW_BODY_SECONDS, self._make_room, size)
        try:
            if not await self._share.room(size, seconds, most):
                self._share.refused()
                return None
        finally:
            again.cancel()
        return self._begun(size, close)

    def arrived(self, body: Body) -> None:
        """The body is there: it makes no room for others until it is given up."""
        self._arriving.pop(body, None)

    def give(self, body: Body) -> None:
        """The body is no longer in memory."""
        self._arriving.pop(body, None)
        size, body.size = body.size, 0
        self._share.give(size)

    def _begun(self, size: int, close: Callable[[], None]) -> Body:
        body = Body(size, self._clock(), close)
        self._arriving[body] = None
        return body

    def _make_room(self, size: int) -> None:
        before = self._clock() - (0 if size <= self._share.small else SLOW_BODY_SECONDS)
        while self._arriving and not self._share.fits(size):
            oldest = next(iter(self._arriving))
            if oldest.began > before:
                return
            self._closed()
            self.give(oldest)
            oldest.close()


def weight(value: object) -> tuple[int, int]:
    """How many values are in a value of JSON, and how many characters in its texts."""
    values = characters = 0
    left = [value]
    while left:
        part = left.pop()
        values += 1
        if isinstance(part, str):
            characters += len(part)
        elif isinstance(part, dict):
            values += len(part)
            characters += sum(map(len, part))
            left += part.values()
        elif isinstance(part, list):
            left += part
    return values, characters
