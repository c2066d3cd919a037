"""Many questions at once: at most 32 of one server in a pool of 64 threads, server after server.

    questions by server     docker.io: 0 3 4 7      ghcr.io: 1 5      quay.io: 2 6
    in the pool             0 1 2   3 5 6   4   7

A question that is done makes place for the next one of its server, so that a slow server holds 32 threads at most. The
caller stops waiting at the deadline; threads that are still in a read end soon after it.
"""

from __future__ import annotations

import contextlib
import queue
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import TypeVar

from archfit.registry.http.limits import MAX_IN_FLIGHT, MAX_PER_SERVER

T = TypeVar("T")

# A signal that comes just before a thread begins to wait for a lock is not handled before that wait ends.
_SIGNALS_SECONDS = 0.25


class NoThread(Exception):
    """The machine allows no thread more."""


def side_by_side(
    servers: Sequence[str],
    ask: Callable[[int], T],
    left: Callable[[], float],
    progress: Callable[[int, int, str], None] | None = None,
) -> dict[int, T]:
    """The answers that came in time, by index.

    servers: whom each question is for. ask: the answer to the question at an index; what it raises is raised here.
    left: seconds until the deadline. progress: called with (done, total, "") for each answer, and while
    none comes with a server that is waited for. Raises NoThread.
    """
    waiting: dict[str, deque[int]] = {}
    for index, server in enumerate(servers):
        waiting.setdefault(server, deque()).append(index)
    done: queue.SimpleQueue[tuple[int, T | None, BaseException | None]] = queue.SimpleQueue()

    def work(index: int) -> None:
        try:
            done.put((index, ask(index), None))
        except BaseException as error:  # noqa: BLE001 - a bug must reach the caller, not end a thread in silence
            done.put((index, None, error))

    first = [[some.popleft() for _ in range(min(MAX_PER_SERVER, len(some)))] for some in waiting.values()]
    begun = [index for turn in zip_longest(*first) for index in turn if index is not None]
    answers: dict[int, T] = {}
    pool = ThreadPoolExecutor(max(1, min(MAX_IN_FLIGHT, len(begun))))
    try:
        for number, index in enumerate(begun):
            try:
                pool.submit(work, index)
            except RuntimeError:  # no thread more; those that run take what was submitted
                if not number:
                    raise NoThread from None
        while len(answers) < len(servers):
            seconds = left()
            try:
                index, answer, error = done.get(timeout=min(seconds, _SIGNALS_SECONDS))
            except queue.Empty:
                if seconds > _SIGNALS_SECONDS:
                    if progress:
                        waited_for = next(
                            server for index, server in enumerate(servers) if index not in answers
                        )
                        progress(len(answers), len(servers), waited_for)
                    continue
                break
            if error:
                raise error
            answers[index] = answer  # type: ignore[assignment]  # without an error it is what `ask` gave
            if waiting[servers[index]]:
                with contextlib.suppress(RuntimeError):
                    pool.submit(work, waiting[servers[index]].popleft())
            if progress:
                progress(len(answers), len(servers), "")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return answers
