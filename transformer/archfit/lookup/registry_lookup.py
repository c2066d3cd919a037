"""Answers from registries, for what the cache does not have: the gate to everything of the network.

`lookup` imports this module when the first image has to be asked for.
"""

from __future__ import annotations

import contextlib
import queue
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import TypeAlias, TypeVar

from archfit.images.contents import ImageContents, Part
from archfit.images.platforms import Absent, Answer, Found, Unknown
from archfit.images.reference import Reference
from archfit.images.tag_list import TagList
from archfit.lookup import entries
from archfit.lookup.cache import LookupCache
from archfit.lookup.store.open import open_budget
from archfit.options.settings import Operator
from archfit.registry.client import RawManifest, RegistryClient
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.http.limits import MAX_IN_FLIGHT, MAX_PER_SERVER
from archfit.registry.http.request import late
from archfit.registry.lookup_context import LookupContext
from archfit.registry.refusals import because
from archfit.registry.registry_errors import NO_THREAD, InvalidManifest, ManifestUnknown, RegistryError
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Route, Routes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.programs.layer import Meter
    from archfit.programs.program import Programs
    from archfit.programs.start import Start

T = TypeVar("T")
ContentsAnswer: TypeAlias = ImageContents | Absent | Unknown
Row: TypeAlias = tuple[Reference, T | Absent | Unknown, Endpoint | None, bool]
"""(reference, answer, who gave it or None, whether a credential was sent for it)"""
LEASE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.4
# A signal that comes just before a thread begins to wait for a lock is not handled before that wait ends.
_SIGNALS_SECONDS = 0.25


class NoThread(Exception):
    """The machine allows no thread more."""


class RegistryLookup:
    """The gate of one lookup. warn: takes a sentence for the user."""

    def __init__(
        self,
        operator: Operator,
        cache: LookupCache,
        keychain: Keychain,
        routes: Routes,
        context: LookupContext,
        *,
        warn: Callable[[str], None],
    ) -> None:
        self._shares_answers = operator.cache_ttl_seconds > 0
        self._cache = cache
        self._context = context
        self._warn = warn
        self._warned: set[str] = set()
        self._budget = open_budget(operator, context, warn)
        reserve = self._budget.reserve if self._budget else None
        self.client = RegistryClient(operator, context, cache.recall, keychain, routes, reserve=reserve)

    def answers(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        """An answer for each, by normalised reference. stale: what the cache has that is too old to be used as it is.

        Where the cache may be used at all, an image that another process asks for just now is waited for.
        """

        def kept(some: Sequence[Reference], since: float) -> dict[str, Answer]:
            return {**self._cache.read(some, self._context.clock(), since=since)[0]}

        return self._shared(references, kept, lambda some: self._ask(some, stale))

    def contents(self, parts: Sequence[Part]) -> dict[str, ContentsAnswer]:
        """What is behind each digest, by normalised reference, asked in the same way as images are."""
        by_name = {part.reference.normalised: part for part in parts}
        return self._others(
            "contents",
            [part.reference for part in parts],
            lambda some: self._cache.contents([by_name[reference.normalised] for reference in some]),
            lambda reference, route: self.client.part(by_name[reference.normalised], route),
            entries.contents_to_json,
        )

    def programs(self, starts: Mapping[Reference, Sequence[Start]]) -> dict[str, Programs | Absent | Unknown]:
        """What manifests start, by normalised reference, asked in the same way. starts: of each manifest."""
        from archfit.programs.layer import LayersOfRun, Meter  # for --programs alone

        meters: dict[str, Meter] = {}
        of_run = LayersOfRun()

        def ask_registry(reference: Reference, route: Route) -> tuple[Programs, Endpoint]:
            name = reference.normalised
            meters[name] = Meter(self._context.deadline.left, of_run)
            try:
                programs, endpoint = self.client.programs(reference, starts[reference], meters[name], route)
            finally:
                del meters[name]
            before = self._cache.programs({reference: ()}).get(name)
            return programs.replace(by_key={**(before.by_key if before else {}), **programs.by_key}), endpoint

        def progress(done: int, total: int, _server: str) -> None:
            reading = max(meters.copy().items(), key=lambda pair: pair[1].sent, default=None)
            shown = f"{reading[0]}, {reading[1].sent / 1e6:.0f} MB read" if reading else ""
            if self._context.progress:
                self._context.progress(done, total, shown)

        return self._others(
            "programs",
            list(starts),
            lambda some: self._cache.programs({reference: starts[reference] for reference in some}),
            ask_registry,
            entries.programs_to_json,
            progress,
        )

    def tag_lists(
        self, repositories: Sequence[Reference], near: Mapping[str, Sequence[str]]
    ) -> dict[str, TagList | Absent | Unknown]:
        """The tags of each repository (`entries.repository`), by its normalised reference.

        near: by the same, how the tags in use begin.
        """
        return self._others(
            "tags",
            repositories,
            lambda some: self._cache.tag_lists(some, self._context.clock(), entries.LIST_SECONDS),
            lambda repository, route: self.client.tags(route, near.get(repository.normalised, ())),
            entries.tags_to_json,
        )

    def keep_contents(self) -> dict[str, ImageContents]:
        """From now on, keep what is behind the indexes and manifests that are read; by digest, as it grows."""
        if self.client.contents is None:
            self.client.contents = {}
        return self.client.contents

    def manifests(
        self, references: Sequence[Reference]
    ) -> dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]:
        """What registries answer now, by normalised reference, with the manifest and where it was read."""
        documents = self.client.documents = {}
        answers = self._ask(references, {})
        return {name: (answer, *documents.get(name, (None, None))) for name, answer in answers.items()}

    def close(self) -> None:
        self.client.http.close()
        if self._budget:
            self._budget.close()

    def _shared(
        self,
        references: Sequence[Reference],
        kept: Callable[[Sequence[Reference], float], dict[str, T]],
        ask: Callable[[Sequence[Reference]], dict[str, T]],
    ) -> dict[str, T]:
        """The answers, by normalised reference; one process asks for each, where the cache may be used at all."""
        if not self._shares_answers:
            return ask(references)
        return single_flight(references, self._cache, kept, ask, self._context)

    def _ask(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        client = self.client
        rows = self._all(
            references,
            lambda reference, route: client.image(reference, stale.get(reference.normalised), route),
        )
        answered, now = _answered(rows), int(self._context.clock())
        self._cache.write(answered, client.changed_servers(), now)
        contents = client.contents or {}
        beneath = [
            (reference.replace(tag="", digest=answer.digest), contents[answer.digest], endpoint, used)
            for reference, answer, endpoint, used in answered
            if answer.digest in contents
        ]
        self._cache.write_others(beneath, "contents", entries.contents_to_json, now)
        return {reference.normalised: answer for reference, answer, _, _ in rows}

    def _others(
        self,
        kind: str,
        references: Sequence[Reference],
        kept: Callable[[Sequence[Reference]], Mapping[str, T]],
        ask_registry: Callable[[Reference, Route], tuple[T, Endpoint]],
        to_json: Callable[[T, int], str],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> dict[str, T | Absent | Unknown]:
        """Contents, programs or lists of tags, which the cache keeps as texts. kept: what it has."""

        def ask(some: Sequence[Reference]) -> dict[str, T | Absent | Unknown]:
            rows, now = self._all(some, ask_registry, progress), int(self._context.clock())
            self._cache.write((), self.client.changed_servers(), now)
            self._cache.write_others(_answered(rows), kind, to_json, now)
            return {reference.normalised: answer for reference, answer, _, _ in rows}

        return self._shared(references, lambda some, _: {**kept(some)}, ask)

    def _all(
        self,
        references: Sequence[Reference],
        ask: Callable[[Reference, Route], tuple[T, Endpoint]],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> list[Row[T]]:
        client = self.client
        routes = [client.route(reference) for reference in references]
        origins = [endpoint.origin for route in routes for endpoint in route.endpoints]
        client.remember(self._cache.servers(origins))
        answers: Mapping[int, tuple[T | Absent | Unknown, Endpoint | None]] = {}
        nobody = ""
        try:
            answers = side_by_side(
                [route.first for route in routes],
                lambda index: self._answer(references[index], routes[index], ask),
                self._context.deadline.left,
                progress or self._context.progress,
            )
        except NoThread:
            nobody = f"needs a thread, which {NO_THREAD}"
        for text in client.trust.warnings():
            if text not in self._warned:
                self._warned.add(text)
                self._warn(text)
        rows: list[Row[T]] = []
        for index, (reference, route) in enumerate(zip(references, routes, strict=True)):
            missing = Unknown(f"asking for {reference} {nobody}" if nobody else late(route.first))
            answer, endpoint = answers.get(index) or (missing, None)
            rows.append((reference, answer, endpoint, client.credential_sent(route)))
        return rows

    def _answer(
        self, reference: Reference, route: Route, ask: Callable[[Reference, Route], tuple[T, Endpoint]]
    ) -> tuple[T | Absent | Unknown, Endpoint | None]:
        self.client.work.begin()
        if route.refusal:
            return Unknown(f"archfit does not ask for {reference}: {route.refusal}"), None
        try:
            return ask(reference, route)
        except ManifestUnknown as error:
            return Absent(str(error)), None
        except RegistryError as error:
            return Unknown(str(error), mistake=error.mistake), None
        except InvalidManifest as error:
            origins = (f"{endpoint.origin}{because(endpoint)}" for endpoint in route.endpoints)
            servers = " or ".join(dict.fromkeys(origins))
            return Unknown(
                f"{servers} answered for {reference}, but the answer is not understood: {error}"
            ), None


def _answered(rows: Sequence[Row[T]]) -> list[tuple[Reference, T, Endpoint | None, bool]]:
    return [
        (reference, answer, endpoint, used)
        for reference, answer, endpoint, used in rows
        if not isinstance(answer, Absent | Unknown)
    ]


def single_flight(
    references: Sequence[Reference],
    cache: LookupCache,
    kept: Callable[[Sequence[Reference], float], Mapping[str, T]],
    ask: Callable[[Sequence[Reference]], Mapping[str, T]],
    context: LookupContext,
) -> dict[str, T]:
    """An answer for each, by normalised reference. Of all processes that share the cache, one asks, the others wait.

    claim ─┬─ won       read again (the other may just have finished), ask, keep, release
           └─ not won   pause, read; claim again, as the other may have failed or died

    A process waits for at most half of its time and then asks for the rest itself: claims save requests, but no answer
    depends on them. `Absent` and `Unknown` are not kept, so each process gets them from the registry itself.

    kept: what the cache has now, and from after a time in Unix seconds. ask: asks registries and writes the answers to
    the cache.
    """
    answers: dict[str, T] = {}
    left = context.deadline.left
    since, half = int(context.clock()), left() / 2
    lease = min(LEASE_SECONDS, left() / 3)
    patience, pause = half, _FIRST_PAUSE_SECONDS
    waiting = list(references)
    while waiting:
        won = cache.claim(waiting, lease)
        claimed = [reference for reference in waiting if reference.normalised in won]
        try:
            answers |= kept(waiting, since)
            mine = [
                reference
                for reference in (claimed if patience > 0 else waiting)
                if reference.normalised not in answers
            ]
            if mine:
                answers |= ask(mine)
        finally:
            cache.release(claimed)
        waiting = [reference for reference in waiting if reference.normalised not in answers]
        if waiting and not mine:
            pause = min(pause, patience)
            context.wait(pause)
            patience = patience - pause if left() > half else 0
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    return answers


def side_by_side(
    servers: Sequence[str],
    ask: Callable[[int], T],
    left: Callable[[], float],
    progress: Callable[[int, int, str], None] | None = None,
) -> dict[int, T]:
    """The answers that came in time, by index: at most 32 questions of one server at once, in a pool of 64 threads.

    A question that is done makes place for the next one of its server, so that a slow server holds 32 threads at most.
    The caller stops waiting at the deadline; threads that are still in a read end soon after it.

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
                if seconds <= _SIGNALS_SECONDS:
                    break
                if progress:
                    slow = next(server for index, server in enumerate(servers) if index not in answers)
                    progress(len(answers), len(servers), slow)
                continue
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
