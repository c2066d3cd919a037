"""The platforms of all images of a run: override, then lock file, then cache, then registry.

    text -> not a reference?         Unasked, or Malformed
         -> an override matches?     Found, origin "override"
         -> the lock file holds it?  Found, origin "lock"
         -> --locked?                Unknown, and final
         -> digest in the cache?     Found, origin "cache"
         -> tag in the cache?        younger than --cache-ttl: Found, origin "cache"
         -> --offline?               younger than --max-stale: Found, origin "stale"; else Unknown
         -> ask the registry         Found | Absent
                                     Unknown, but the cache is younger than --max-stale: Found, origin "stale"

Everything of a run is asked at once, each distinct image once; what another process is asking for just now is waited
for (`flight`). Nothing of the network is imported before something has to be asked. The cache is read for locked tags
too, only to say where it knows another digest; with --locked it is not opened.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from archfit.errors import InvalidReference
from archfit.images.overrides import override
from archfit.images.platforms import Answer, Found, Unknown, unanswerable
from archfit.images.reference import Reference, parse
from archfit.lookup.cache import Kept
from archfit.lookup.deadline import Deadline
from archfit.lookup.keys import OwnKeys, ScopedKeys
from archfit.options.settings import ImagePlatforms, Operator
from archfit.store import Store, StoreTrouble
from archfit.store.memory import MemoryStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.lookup.lockfile import Lock
    from archfit.registry.client import Document
    from archfit.registry.credentials.keychain import Keychain
    from archfit.registry.fetcher import Crew
    from archfit.registry.routing.endpoints import Target
    from archfit.registry.routing.routes import Routes
    from archfit.registry.session import Session


class Lookup:
    """Answers for images; see the module.

    messages: sentences for the user, in order: trouble with the cache, a lock file left behind, stale answers.
    requests: how many of each kind were sent, as in {"manifest": 12, "token": 3}.
    limits: what servers said about requests left, by origin.
    """

    def __init__(
        self,
        operator: Operator,
        overrides: tuple[ImagePlatforms, ...],
        store: Store,
        *,
        lock: Lock | None,
        clock: Callable[[], float],
        environ: Mapping[str, str],
        progress: Callable[[int, int], None] | None,
        wait: Callable[[float], object],
        named_hosts_only: bool,
        deadline: Deadline,
        keychain: Keychain | None = None,
    ) -> None:
        self._deadline = deadline
        self._named_hosts_only = named_hosts_only
        self.messages: list[str] = []
        self._operator = operator
        self._overrides = overrides
        self._lock = lock
        self._clock = clock
        self._environ = environ
        self._progress = progress
        self._wait = wait
        self._session: Session | None = None
        self._routed: Routes | None = None
        self._keychain = keychain
        self._kept = Kept(store, self._keys(store), operator.cache_ttl_seconds, self.messages.append)

    @property
    def requests(self) -> dict[str, int]:
        return dict(sorted(self._session.asker.requests.items())) if self._session else {}

    @property
    def limits(self) -> dict[str, str]:
        hosts = self._session.hosts if self._session else ()
        return {host.origin: host.limits for host in hosts if host.limits}

    def resolve(self, texts: Iterable[str]) -> dict[str, Answer]:
        """An answer for each distinct text. Raises UsageError when overrides contradict each other."""
        self._deadline.start(self._operator.timeout_seconds)
        answers: dict[str, Answer] = {}
        wanted: dict[str, tuple[Reference, list[str]]] = {}
        for text in dict.fromkeys(texts):
            try:
                reference = parse(text)
            except InvalidReference as error:
                answers[text] = unanswerable(text, error)
                continue
            found = override(reference, self._overrides) if self._overrides else None
            if found:
                answers[text] = found
            else:
                wanted.setdefault(reference.normalised, (reference, []))[1].append(text)
        resolved = self._references([reference for reference, _ in wanted.values()])
        for name, (_, same) in wanted.items():
            answers.update(dict.fromkeys(same, resolved[name]))
        return answers

    def fetch(
        self, references: Sequence[Reference]
    ) -> dict[str, tuple[Answer, Target | None, Document | None]]:
        """What registries say now, whatever the cache holds, by normalised reference; the cache learns it.

        Target and document: where the manifest was read, and the manifest; None where none was had.
        """
        unique = list({reference.normalised: reference for reference in references}.values())
        self._deadline.start(self._operator.timeout_seconds)
        crew = self._network().begin(self._deadline.left())
        crew.documents = {}
        answers = self._ask(unique, {})
        return {name: (answer, *crew.documents.get(name, (None, None))) for name, answer in answers.items()}

    def close(self) -> None:
        """Give back the cache and the connections, and end the credential helpers that still run."""
        self._kept.close()
        if self._session:
            self._session.close()
        if self._keychain:
            self._keychain.close()

    def _keys(self, store: Store) -> OwnKeys | ScopedKeys:
        operator, secrets_of_others = self._operator, store.shared or self._keychain is not None
        if not (secrets_of_others or operator.mirrors or operator.hosts_dir or operator.registries_conf):
            return OwnKeys()
        from archfit.lookup.keys import ScopedKeys

        return ScopedKeys(self._routes(), self._credentials() if secrets_of_others else None)

    def _routes(self) -> Routes:
        from archfit.registry.routing.routes import Routes

        if self._routed is None:
            self._routed = Routes(self._operator)
        return self._routed

    def _credentials(self) -> Keychain:
        from archfit.registry.credentials.keychain import Keychain

        if self._keychain is None:
            self._keychain = Keychain(self._operator.authfile, self._environ)
        self._keychain.left = self._deadline.left
        return self._keychain

    def _references(self, references: list[Reference]) -> dict[str, Answer]:
        lock = self._lock
        if lock and lock.only:
            return {
                reference.normalised: lock.images.get(reference.normalised) or lock.lacking(reference)
                for reference in references
            }
        locked = lock.images if lock else {}
        now = self._clock()
        fresh, stale = self._kept.read(references, now, settled=locked)
        answers: dict[str, Answer] = {**fresh}
        moved: list[str] = []
        missing: list[Reference] = []
        for reference in references:
            name = reference.normalised
            held = locked.get(name)
            if held:
                answers[name] = held
                if name in fresh and fresh[name].digest != held.digest:
                    moved.append(name)
            elif name not in fresh:
                missing.append(reference)
        if lock and moved:
            self.messages.append(lock.behind(moved))
        if missing:
            asked = self._offline(missing) if self._operator.offline else self._together(missing, stale)
            answers |= {name: self._or_stale(name, answer, stale.get(name)) for name, answer in asked.items()}
        return answers

    def _or_stale(self, name: str, answer: Answer, known: Found | None) -> Answer:
        """The answer, or where nobody could give one, what the cache had, if it is young enough."""
        if not isinstance(answer, Unknown) or not known:
            return answer
        if not 0 < known.age_seconds <= self._operator.max_stale_seconds:
            return answer
        if not self._operator.offline:
            self.messages.append(
                f"{name}: an answer {_age(known.age_seconds)} old is used, because {answer.cause}"
            )
        return known

    def _offline(self, references: list[Reference]) -> dict[str, Answer]:
        return {
            reference.normalised: Unknown(
                f"the cache has no answer for {reference} and --offline forbids asking: run once without it, or state "
                "the platforms with --image-platforms"
            )
            for reference in references
        }

    def _together(self, references: list[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        if self._operator.cache_ttl_seconds == 0:  # what another process hears now is not believed either
            return self._ask(references, stale)
        from archfit.lookup.single_flight import fly

        def ask(some: Sequence[Reference]) -> dict[str, Answer]:
            return self._ask(some, stale)

        return fly(references, self._kept, ask, clock=self._clock, wait=self._wait, left=self._deadline.left)

    def _ask(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        from archfit.registry.fetcher import Question

        session = self._network()
        crew: Crew = session.begin(self._deadline.left())
        questions = [Question(reference, stale.get(reference.normalised)) for reference in references]
        routes = crew.routes(questions)
        session.recall_hosts(self._kept.hosts(place.origin for route in routes for place in route.places))
        answers = crew.ask(questions, routes, self._progress)
        self.messages += [text for text in session.warnings() if text not in self.messages]
        asked = list(zip(references, routes, answers, strict=True))
        found = [
            (reference, answer, crew.servers.get(reference.normalised), session.credential_sent(route))
            for reference, route, answer in asked
            if isinstance(answer, Found)
        ]
        self._kept.keep(found, session.changed_hosts(), int(self._clock()))
        return {reference.normalised: answer for reference, _, answer in asked}

    def _network(self) -> Session:
        from archfit.registry.session import Session

        if self._session is None:
            self._session = Session(
                self._operator,
                self._environ,
                self._clock,
                self._wait,
                self._kept.recall,
                self._credentials(),
                self._routes(),
                named_hosts_only=self._named_hosts_only,
            )
        return self._session


def open_lookup(
    operator: Operator,
    overrides: tuple[ImagePlatforms, ...] = (),
    *,
    lock: Lock | None = None,
    clock: Callable[[], float] = time.time,
    environ: Mapping[str, str] = os.environ,
    progress: Callable[[int, int], None] | None = None,
    wait: Callable[[float], object] = time.sleep,
    named_hosts_only: bool = False,
    keychain: Keychain | None = None,
) -> Lookup:
    """A Lookup over the operator's cache and registries.

    lock: what it holds is final. clock: Unix seconds. progress: called with (done, total) as answers arrive from
    registries. wait: sleeps for some seconds between tries. named_hosts_only: private addresses are asked only where
    the operator names the host (`registry.named`); a reference is not enough. It is for servers and plugins, where
    somebody else chooses the images. keychain: None is the operator's. A cache that cannot be
    used is said in `messages`.
    """
    deadline = Deadline()
    store, trouble = (
        (MemoryStore(), "") if lock and lock.only else _open_store(operator, environ, clock, deadline)
    )
    lookup = Lookup(
        operator,
        overrides,
        store,
        lock=lock,
        clock=clock,
        environ=environ,
        progress=progress,
        wait=wait,
        named_hosts_only=named_hosts_only,
        deadline=deadline,
        keychain=keychain,
    )
    if trouble:
        lookup.messages.append(f"{trouble}; this run goes on without it")
    return lookup


def _open_store(
    operator: Operator, environ: Mapping[str, str], clock: Callable[[], float], deadline: Deadline
) -> tuple[Store, str]:
    if operator.no_cache:
        return MemoryStore(), ""
    from archfit.store.open import open_store

    try:
        return open_store(operator, environ, clock, deadline.left_for_cache), ""
    except StoreTrouble as trouble:
        return MemoryStore(), str(trouble)


def _age(seconds: int) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
