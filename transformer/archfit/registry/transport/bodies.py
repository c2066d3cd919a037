"""How many large answers may be in memory at once: two. Answers up to 256 KiB are not counted.

    thread    reads an answer ──> over 256 KiB: enter ──> parses it ──> has its platforms: leave

A thread enters once for all answers that one image needs. Real indexes and configs have some kilobytes, so that only
unusual ones wait for each other; a wait ends at the run's deadline.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable

from archfit.registry.registry_errors import RegistryError

SMALL = 256 * 1024
AT_ONCE = 2
_M_MMAP_THRESHOLD = -3


class LargeBodies:
    """left: seconds until the run's deadline."""

    def __init__(self, left: Callable[[], float]) -> None:
        self._left = left
        self._free = threading.Semaphore(AT_ONCE)
        self._of_thread = threading.local()

    def enter(self) -> None:
        """Wait until this thread may read a large answer. Raises RegistryError at the deadline."""
        if getattr(self._of_thread, "entered", False):
            return
        if not self._free.acquire(timeout=self._left()):
            raise RegistryError("other large answers used up the time: allow more with --timeout")
        self._of_thread.entered = True
        _give_back_large_blocks()

    def leave(self) -> None:
        """The thread is done with its large answers: another one may read."""
        if getattr(self._of_thread, "entered", False):
            self._of_thread.entered = False
            self._free.release()


@functools.cache
def _give_back_large_blocks() -> None:
    # Once a large block is freed, glibc serves the next ones from an arena of the thread and keeps them there: 4 MiB
    # and more for each of 64 threads. A fixed threshold makes them mappings of their own, which end when they are
    # freed (mallopt(3), M_MMAP_THRESHOLD). Other C libraries do so by themselves.
    import ctypes  # 1 ms, for answers that are seldom

    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, 128 * 1024)
