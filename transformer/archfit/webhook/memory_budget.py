"""How much memory the server may take, and which part of it may take how much.

The limit is --memory-limit, else the smallest that the system states (cgroups, ulimit -v), else 512 MiB. Server and
lookup processes together take half of it: the kernel charges its buffers of sockets and files to the same cgroup.
PROGRAM is for three interpreters, their libraries, small memos and usual lookups; the rest is divided. What lookups
take at most, a third of the limit, is below the other half.

What does not fit is not kept, or its Pod is admitted as it is; `archfit_memory_refusals_total` counts both by share.
In `lab/campaign/webhook`, `bodies` and `tolerations` (a body of 4 MiB becomes a gigabyte) take all memory without
`reviews`, `half bodies` without `bodies`, `idle` without `connections`, `long names` without `log_lines`, `new images`
without the shares of what is kept.
Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "memory.max"; cgroup-v1/memory.rst; cgroups(7).
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

from archfit.base.errors import UsageError
from archfit.cluster import quantity
from archfit.startup.record import Record

MIB = 1 << 20
USUAL_LIMIT = 512 * MIB
SMALLEST_LIMIT = 320 * MIB
PROGRAM = 112 * MIB
# In hundredths of what the program leaves. reviews: what is read from bodies and decided. bodies: of requests, until
# they are decoded, less small ones. verdicts, answers: that are kept. connections: with TLS, and small bodies.
# log_lines: that wait for standard error.
SHARES = {"reviews": 40, "bodies": 10, "verdicts": 12, "answers": 12, "connections": 21, "log_lines": 5}
_CGROUP_2, _CGROUP_1 = ("sys/fs/cgroup", "memory.max"), ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
_NO_LIMIT = 1 << 60  # version 1 writes the largest multiple of a page for no limit


class MemoryLimit(Record):
    """limit: in bytes. source: who states it, for people."""

    limit: int = USUAL_LIMIT
    source: str = "no limit is known"

    def share(self, name: str) -> int:
        return (self.limit // 2 - PROGRAM) * SHARES[name] // 100

    @property
    def lookups(self) -> int:
        """Bytes that lookups may take, of all their processes together."""
        return self.limit // 3


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
        limit = min(_system_limits(root), key=lambda limit: limit.limit, default=NO_LIMIT)
    if limit.limit < SMALLEST_LIMIT:
        raise UsageError(
            f"--memory-limit: {limit.limit // MIB} MiB ({limit.source}) are too little for archfit serve and its two "
            f"lookup processes: give it {SMALLEST_LIMIT // MIB}Mi or more, as resources.limits.memory of its "
            "container or as --memory-limit"
        )
    return limit


def _system_limits(root: Path) -> Iterator[MemoryLimit]:
    """That of the address space, and every limit of the process's cgroups and those above them, as far as it sees."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        yield MemoryLimit(most, "ulimit -v")
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    files = dict.fromkeys((root / _CGROUP_2[0] / _CGROUP_2[1], root / _CGROUP_1[0] / _CGROUP_1[1]))
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number != "0" and "memory" not in controllers.split(","):
            continue
        top, name = _CGROUP_2 if number == "0" else _CGROUP_1
        folder = Path(*(part for part in path.split("/") if part not in ("", "..")))
        files |= dict.fromkeys(root / top / above / name for above in (folder, *folder.parents))
    for file in files:
        try:
            text = file.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < _NO_LIMIT:
            yield MemoryLimit(int(text), f"/{file.relative_to(root)}")


class Share:
    """Bytes that may be held at once; for the event loop alone. refused: called for each thing that does not fit."""

    def __init__(self, size: int, refused: Callable[[], None] = lambda: None) -> None:
        self.size = size
        self.held = 0
        self.refused = refused
        self._turn = asyncio.Lock()
        self._given = asyncio.Event()

    def take(self, size: int) -> bool:
        """Hold some bytes, if they fit now."""
        if self.held + size > self.size:
            return False
        self.held += size
        return True

    def give(self, size: int) -> None:
        """Hold so many bytes less."""
        self.held -= size
        self._given.set()

    async def room(self, size: int, seconds: float) -> bool:
        """Hold some bytes once they fit, in the order of those who wait. False, counted, where that takes longer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds if size <= self.size else 0), self._turn:
                while not self.take(size):
                    self._given.clear()
                    await self._given.wait()
                return True
        self.refused()
        return False


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
