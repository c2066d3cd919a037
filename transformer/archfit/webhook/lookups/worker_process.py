"""Two processes that look images up (`lookup_worker`), from outside: started, asked, watched, and replaced alone.

    a namespace keeps to one          what its registries cost, half of the others do not notice
    one ends, or says nothing         its lookups are Unknown, the other's go on, and it is started again

Without them, `crumbs` and `continues` of `lab/campaign/webhook` (registries that answer in chunks of one byte, or with
endless `100 Continue`) keep the interpreter's lock from the event loop for seconds.

Each is started by `spawn`: a fork of a process with threads and an event loop is none that can be trusted.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import os
import pickle
import resource
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from archfit.base.errors import ArchfitError, UsageError, message_of
from archfit.images.platforms import Found, Unknown
from archfit.webhook.lookups.messages import (
    HEAD,
    Answered,
    Ask,
    Failed,
    HasStale,
    Noted,
    Ready,
    Secrets,
    Told,
    WorkerOptions,
    framed,
)

START_SECONDS = 60.0
_GRACE_SECONDS = 10.0
_END_SECONDS = 2.0
_PAUSE_SECONDS = 0.5
_ENDED = Unknown("the process that asked for it has ended: create the pod again later")
_NOT_STARTED = "archfit serve: a lookup process has not started"
_REMEDY = "give the server more memory, processes or processor time"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(eq=False, repr=False)
class WorkerProcess:
    """One. listener: takes what is noted. ended: called with why, each time it is replaced.

    longest_seconds: that one lookup may take. ready: done once the first process is, or cannot be.
    """

    options: WorkerOptions
    longest_seconds: float
    listener: Callable[[Noted], None]
    ended: Callable[[str], None]

    def __post_init__(self) -> None:
        self._patience = self.longest_seconds + _GRACE_SECONDS
        self._numbers = itertools.count(1)
        self._pending: dict[int, tuple[asyncio.Future[Answered], Callable[[Found], None]]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._heard = 0.0
        self._why = ""
        self.process: Any = None
        self.ready: asyncio.Future[None]

    async def keep(self) -> None:
        """Have one that runs, until this is cancelled or the first one does not become ready."""
        try:
            while True:
                why = await self._run()
                if not self.ready.done():
                    self.ready.set_exception(ArchfitError(f"{_NOT_STARTED} ({why}): {_REMEDY}"))
                    return
                self.ended(why)
                await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self._close()

    async def look_up(
        self, text: str, secrets: Secrets, seconds: float, rank: int, has_stale: Callable[[Found], None]
    ) -> Answered:
        """The answer for an image string. has_stale: takes what the cache has meanwhile. The rest: as for Ask."""
        number = next(self._numbers)
        if self._writer is None:
            return Answered(number, _ENDED)
        loop = asyncio.get_running_loop()
        if not self._pending:
            self._heard = loop.time()
        future: asyncio.Future[Answered] = loop.create_future()
        self._pending[number] = future, has_stale
        self._writer.write(pickle.dumps(Ask(number, text, secrets, seconds, rank)))
        return await future

    async def _run(self) -> str:
        """One process, until it ends. Why it did."""
        clock = asyncio.get_running_loop().time
        ours, theirs = socket.socketpair()
        self._why = ""
        self.process = process = _spawning().Process(target=_work, args=(theirs, self.options), daemon=True)
        try:
            with theirs:
                await asyncio.to_thread(_start, process)
            reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        except (OSError, RuntimeError, MemoryError) as error:
            return message_of(error)
        finally:
            if self._writer is None:  # also one that is being started ends with it
                ours.close()
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while not self._why:
                try:
                    async with asyncio.timeout(self._patience):
                        size = HEAD.unpack(await reader.readexactly(HEAD.size))[0]
                        message: Told = pickle.loads(await reader.readexactly(size))  # noqa: S301 - our own process
                except TimeoutError:
                    if self._pending and clock() - self._heard > self._patience:
                        self._why = "it answers no more"
                    continue
                self._heard = clock()
                self._take(message)
        self._close()
        await asyncio.to_thread(process.join, _END_SECONDS)
        return self._why or f"exit code {process.exitcode}"

    def _take(self, message: Told) -> None:
        match message:
            case Answered():
                self._pending.pop(message.number)[0].set_result(message)
            case HasStale():
                self._pending[message.number][1](message.answer)
            case Ready():
                if not self.ready.done():
                    self.ready.set_result(None)
            case Failed():
                self._why = message.why
            case Noted():
                self.listener(message)

    def _close(self) -> None:
        """End the process, and give its lookups an answer."""
        writer, self._writer = self._writer, None
        if writer:
            writer.transport.abort()
        if self.process and self.process.is_alive():
            self.process.kill()
        pending = list(self._pending.items())
        self._pending.clear()
        for number, (future, _) in pending:
            if not future.done():
                future.set_result(Answered(number, _ENDED))


class LookupWorkers:
    """All of them."""

    def __init__(self, workers: Sequence[WorkerProcess]) -> None:
        self.workers = workers
        self._keeping: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start them, and wait until they are ready. Raises ArchfitError, as soon as one cannot be."""
        loop = asyncio.get_running_loop()
        for worker in self.workers:
            worker.ready = loop.create_future()
            self._keeping.append(loop.create_task(worker.keep()))
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.gather(*(worker.ready for worker in self.workers))
        except TimeoutError:
            raise ArchfitError(f"{_NOT_STARTED} within {START_SECONDS:.0f} s: {_REMEDY}") from None

    def of(self, namespace: str) -> WorkerProcess:
        """The one of a namespace, always the same."""
        return self.workers[crc32(namespace.encode()) % len(self.workers)]

    def resident_bytes(self) -> int:
        """What they have in memory; 0 where the system does not tell."""
        pages = 0
        for worker in self.workers:
            with contextlib.suppress(OSError, IndexError):
                file = Path(f"/proc/{worker.process.pid}/statm")
                pages += int(file.read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()

    async def close(self) -> None:
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)


def check_platform() -> None:
    """Raises UsageError where processes cannot be started by `spawn`."""
    if "spawn" not in multiprocessing.get_all_start_methods():
        raise UsageError(
            "archfit serve: this platform cannot start processes by spawn: run it on Linux or macOS"
        )


def _spawning() -> multiprocessing.context.SpawnContext:
    return multiprocessing.get_context("spawn")


def _start(process: Any) -> None:
    """In a thread of its own, whose mask the process begins with: a signal comes in no half-started one.

    One arena: glibc would reserve 64 MiB of address space for each of many threads, which the limit counts.
    """
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(link: socket.socket, options: WorkerOptions) -> None:
    """What the process runs. Nothing of it goes to standard error, where the server's log is."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        from archfit.webhook.lookups.lookup_worker import serve_lookups  # noqa: PLC0415 - loads h11, which the server needs not

        serve_lookups(link, options)
    except BaseException as error:  # noqa: BLE001 - it ends, and the server says why
        with contextlib.suppress(OSError):
            link.sendall(framed(Failed(message_of(error))))
    finally:
        os._exit(0)  # whatever its threads still wait for
