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
                                     Unknown, and the cache is older: Unknown, with that answer as its last

Everything of a run is asked at once, each distinct image once. Where another process asks for an image just now, the
run waits for its answer (`single_flight`). The network modules are imported with the first image that has to be asked
for (`registry_lookup`). Locked tags are read from the cache too, only to warn where it has another digest. --locked
does not open the cache.
"""

from __future__ import annotations

import os
import time

from archfit.errors import InvalidReference
from archfit.images.platforms import Answer, Found, ImagePlatforms, Unknown, unanswerable
from archfit.images.reference import Reference, parse
from archfit.lookup.cache import LookupCache
from archfit.lookup.entries import OwnKeys
from archfit.lookup.surroundings import Deadline, Surroundings
from archfit.options.settings import Operator
from archfit.store import Store, StoreTrouble
from archfit.typing_names import Callable, Iterable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.images.contents import Contents
    from archfit.lookup.lockfile import Lock
    from archfit.lookup.registry_lookup import ContentsAnswer, RegistryLookup
    from archfit.registry.client import RawManifest
    from archfit.registry.credentials.keychain import Keychain
    from archfit.registry.registry_questions import Part
    from archfit.registry.routing.endpoints import Endpoint
    from archfit.registry.routing.routes import Routes


class Lookup:
    """Answers for images; see the module.

    messages: sentences for the user, in order: trouble with the cache, a lock file left behind, stale answers.
    requests: how many of each kind were sent, as in {"manifest": 12, "token": 3}.
    pulls_left: the last RateLimit-Remaining header of each server that sends it, by origin.
    """

    def __init__(
        self,
        operator: Operator,
        overrides: tuple[ImagePlatforms, ...],
        store: Store,
        surroundings: Surroundings,
        *,
        lock: Lock | None,
        keychain: Keychain | None,
    ) -> None:
        self.messages: list[str] = []
        self._operator = operator
        self._overrides = overrides
        self._surroundings = surroundings
        self._deadline = surroundings.deadline
        self._lock = lock
        self._asked: RegistryLookup | None = None
        self._routed: Routes | None = None
        self._keychain = keychain
        self._cache = LookupCache(store, self._keys(store), operator.cache_ttl_seconds, self.messages.append)

    @property
    def requests(self) -> dict[str, int]:
        return self._asked.requests if self._asked else {}

    @property
    def pulls_left(self) -> dict[str, str]:
        return self._asked.pulls_left if self._asked else {}

    def take_replies(self) -> dict[tuple[str, int], int]:
        """How many answers registries gave since the last call, by server and HTTP status; 0 is none."""
        return self._asked.take_replies() if self._asked else {}

    def resolve(self, texts: Iterable[str], *, seconds: float | None = None) -> dict[str, Answer]:
        """An answer for each distinct text. Raises UsageError when overrides contradict each other.

        seconds: how long it may take, where that is not --timeout.
        """
        self._deadline.start(self._operator.timeout_seconds if seconds is None else seconds)
        answers, wanted = self._without_lookup(texts)
        resolved = self._references([reference for reference, _ in wanted.values()])
        for name, (_, same) in wanted.items():
            answers.update(dict.fromkeys(same, resolved[name]))
        return answers

    def _without_lookup(
        self, texts: Iterable[str]
    ) -> tuple[dict[str, Answer], dict[str, tuple[Reference, list[str]]]]:
        """The answers that need none, and the other texts: by normalised reference, as written."""
        answers: dict[str, Answer] = {}
        wanted: dict[str, tuple[Reference, list[str]]] = {}
        for text in dict.fromkeys(texts):
            try:
                reference = parse(text)
            except InvalidReference as error:
                answers[text] = unanswerable(text, error)
                continue
            found = self._overridden(reference) if self._overrides else None
            if found:
                answers[text] = found
            else:
                wanted.setdefault(reference.normalised, (reference, []))[1].append(text)
        return answers, wanted

    def _overridden(self, reference: Reference) -> Found | None:
        from archfit.images.overrides import override

        return override(reference, self._overrides)

    def fetch(
        self, references: Sequence[Reference], meanwhile: Callable[[], object]
    ) -> dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]:
        """What registries answer now, not what the cache holds, by normalised reference; the cache keeps the answers.

        Endpoint and manifest: where it was read, and its bytes; None where there is none. meanwhile: called while
        connections are made.
        """
        unique = list({reference.normalised: reference for reference in references}.values())
        self._deadline.start(self._operator.timeout_seconds)
        return self._registries().manifests(unique, meanwhile)

    def keep_contents(self) -> Mapping[str, Contents]:
        """Keep what is behind the indexes and manifests that `resolve` reads; by digest, as it grows."""
        return {} if self._silent else self._registries().keep_contents()

    def kept_contents(self, parts: Sequence[Part]) -> dict[str, Contents]:
        """What the cache has of what is behind digests, by normalised reference."""
        from archfit.lookup.registry_lookup import kept_contents

        return kept_contents(self._cache, parts)

    def contents(self, parts: Sequence[Part]) -> Mapping[str, ContentsAnswer]:
        """What is behind digests, by normalised reference: what the cache has, else what registries answer.

        The deadline is that of the last `resolve`.
        """
        kept = self.kept_contents(parts)
        missing = [part for part in parts if part.reference.normalised not in kept]
        if not missing:
            return kept
        if self._silent:
            option = "--offline" if self._operator.offline else "--locked"
            refused = Unknown(f"the cache does not know the digest, and {option} forbids asking")
            return {**kept, **{part.reference.normalised: refused for part in missing}}
        return {**kept, **self._registries().contents(missing)}

    @property
    def _silent(self) -> bool:
        """No registry may be asked."""
        return self._operator.offline or bool(self._lock and self._lock.only)

    def close(self) -> None:
        """Close the cache and the connections, and end the credential helpers that still run."""
        self._cache.close()
        if self._asked:
            self._asked.close()
        if self._keychain:
            self._keychain.close()

    def _keys(self, store: Store) -> OwnKeys:
        operator, secrets_of_others = self._operator, store.shared or self._keychain is not None
        if not (secrets_of_others or operator.mirrors or operator.hosts_dir or operator.registries_conf):
            return OwnKeys()
        from archfit.lookup.scoped_keys import ScopedKeys

        return ScopedKeys(self._routes(), self._credentials() if secrets_of_others else None)

    def _routes(self) -> Routes:
        from archfit.registry.routing.routes import Routes

        if self._routed is None:
            self._routed = Routes(self._operator)
        return self._routed

    def _credentials(self) -> Keychain:
        from archfit.registry.credentials.keychain import Keychain

        if self._keychain is None:
            self._keychain = Keychain(self._operator.authfile, self._surroundings.environ)
        self._keychain.left = self._deadline.left
        return self._keychain

    def _references(self, references: list[Reference]) -> dict[str, Answer]:
        lock = self._lock
        if lock and lock.only:
            return {
                reference.normalised: lock.images.get(reference.normalised) or lock.missing_answer(reference)
                for reference in references
            }
        locked = lock.images if lock else {}
        fresh, stale = self._cache.read(references, self._surroundings.clock(), settled=locked)
        answers: dict[str, Answer] = {**fresh}
        moved: list[str] = []
        missing: list[Reference] = []
        for reference in references:
            name = reference.normalised
            final = locked.get(name)
            if final:
                answers[name] = final
                if name in fresh and fresh[name].digest != final.digest:
                    moved.append(name)
            elif name not in fresh:
                missing.append(reference)
        if lock and moved:
            self.messages.append(lock.outdated_warning(moved))
        if missing:
            asked = (
                self._offline(missing)
                if self._operator.offline
                else self._registries().answers(missing, stale)
            )
            answers |= {name: self._or_stale(name, answer, stale.get(name)) for name, answer in asked.items()}
        return answers

    def _or_stale(self, name: str, answer: Answer, known: Found | None) -> Answer:
        """The answer; where it is Unknown, what the cache has, if it is young enough."""
        if not isinstance(answer, Unknown) or not known:
            return answer
        longest = self._operator.max_stale_seconds
        if not longest or not 0 <= known.age_seconds <= longest:
            return answer.replace(last=known)
        if not self._operator.offline:
            self.messages.append(
                f"{name}: an answer {_age(known.age_seconds)} old is used, because {answer.cause}"
            )
        return known

    def _offline(self, references: list[Reference]) -> dict[str, Answer]:
        answer = Unknown("the cache has no answer, and --offline forbids asking: run once without --offline")
        return {reference.normalised: answer for reference in references}

    def _registries(self) -> RegistryLookup:
        if self._asked is None:
            from archfit.lookup.registry_lookup import RegistryLookup

            self._asked = RegistryLookup(
                self._operator,
                self._cache,
                self._credentials(),
                self._routes(),
                self._surroundings,
                warn=self.messages.append,
            )
        return self._asked


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

    lock: what it holds is final. clock, environ, progress, wait, named_hosts_only: as `Surroundings` has them; the last
    is for servers and plugins, where somebody else chooses the images. keychain: None is the operator's. Where the
    cache cannot be used, `messages` says why. Raises UsageError for a file of the operator's that cannot be used.
    """
    surroundings = Surroundings(environ, clock, wait, progress, named_hosts_only, Deadline())
    store, trouble = _open_store(operator, surroundings, used=not (lock and lock.only))
    try:
        lookup = Lookup(operator, overrides, store, surroundings, lock=lock, keychain=keychain)
    except BaseException:
        store.close()
        raise
    if trouble:
        lookup.messages.append(f"{trouble}; this run goes on without it")
    return lookup


def _open_store(operator: Operator, surroundings: Surroundings, *, used: bool) -> tuple[Store, str]:
    """The store, and why it is not the one that the operator wants. used: False for a run that needs none."""
    why = ""
    if used and not operator.no_cache:
        from archfit.store.open import open_store

        try:
            left = surroundings.deadline.left_for_cache
            return open_store(operator, surroundings.environ, surroundings.clock, left), ""
        except StoreTrouble as trouble:
            why = str(trouble)
    from archfit.store.memory import MemoryStore

    return MemoryStore(), why


def _age(seconds: int) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
