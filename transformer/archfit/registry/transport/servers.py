"""What a run knows of each server, shared by all threads.

    share        requests that may be in flight at once: 32, halved by each wave of 429 or 503, never below 1
    quiet        until when a server that asked for a pause is asked nothing new, by any thread
    budget       how often it is asked again in a run, by all threads together
    challenge    how it asks for credentials; remembered between runs, so that its 401 is seen once ever
    remembered   that is from an earlier run, and nothing in this one has confirmed it
    head         it answers HEAD with a digest; where not, tags are asked by GET
    known        something has come back from it

Remembered is only what it said in public: scheme, realm, service. Tokens and credentials are never written.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping

from archfit.errors import RegistryError
from archfit.registry.limits import BUDGET, IN_ALL, SHARE
from archfit.registry.transport.challenges import Challenge, check_realm

# Registries that answer a first request with 401: one request goes ahead, so that one 401 teaches all threads.
_ASKS = re.compile(
    r"registry-1\.docker\.io|ghcr\.io|quay\.io|public\.ecr\.aws|registry\.gitlab\.com|nvcr\.io|(?:[a-z]+\.)?gcr\.io|"
    r"registry\.(?:redhat|suse)\.(?:io|com)|[a-z0-9-]+-docker\.pkg\.dev|[a-z0-9]+\.azurecr\.(?:io|cn|us)|"
    r"[0-9]{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?",
    re.ASCII,
).fullmatch


class Host:
    """One server, by its origin `scheme://host[:port]`."""

    def __init__(self, origin: str, everyone: threading.Semaphore) -> None:
        self.origin = origin
        self.challenge: Challenge | None = None
        self.remembered = False
        self.head = True
        self.known = False
        self.limits = ""
        self.share = SHARE
        self._budget = BUDGET
        self._quiet_until = 0.0
        self._everyone = everyone
        self._in_flight = 0
        self._turn = threading.Condition()
        self._wave = 0
        self._scouted = threading.Event()
        self._scouting = threading.Lock()

    def begin(self, seconds: float) -> int:
        """Wait for a free place; the answer goes to `busy`. Raises RegistryError after `seconds`."""
        with self._turn:
            if not self._turn.wait_for(lambda: self._in_flight < self.share, seconds):
                raise RegistryError(
                    f"{self.origin} could not be asked in time: too many lookups before this one"
                )
            self._in_flight += 1
            wave = self._wave
        if not self._everyone.acquire(timeout=seconds):
            self._leave()
            raise RegistryError(f"{self.origin} could not be asked in time: too many lookups before this one")
        return wave

    def end(self) -> None:
        """Give the place back."""
        self._everyone.release()
        self._leave()

    def busy(self, wave: int) -> None:
        """It answered 429 or 503 to a request begun in `wave`: halve the share, once for each wave."""
        with self._turn:
            if wave == self._wave:
                self.share = max(1, self.share // 2)
                self._wave += 1

    def again(self) -> bool:
        """Whether one more request may be sent a second time; takes it from the budget."""
        with self._turn:
            self._budget -= 1
            return self._budget >= 0

    def forget(self, challenge: Challenge) -> None:
        """What an earlier run remembered did not work: the server itself is asked again how it wants to be asked."""
        with self._turn:
            if self.challenge == challenge:
                self.challenge = None
            self.remembered = False

    def hush(self, until: float) -> None:
        """It asked for a pause: nobody is to ask anything new before `until`, on the clock of `quiet`."""
        with self._turn:
            self._quiet_until = max(self._quiet_until, until)

    def quiet(self, now: float) -> float:
        """Seconds that are left of such a pause."""
        with self._turn:
            return max(0.0, self._quiet_until - now)

    def scout(self, seconds: float, *, expected: bool) -> bool:
        """Whether this thread is the first to ask a server that is expected to answer 401; others wait for it."""
        if self.known or not (expected or _ASKS(self.origin.partition("://")[2])):
            return False
        if self._scouting.acquire(blocking=False):
            return True
        self._scouted.wait(seconds)
        return False

    def scouted(self) -> None:
        """The scout is back, with an answer or without."""
        self._scouted.set()

    def _leave(self) -> None:
        with self._turn:
            self._in_flight -= 1
            self._turn.notify()

    def dump(self) -> str:
        """What is worth remembering, as JSON."""
        asked = self.challenge or Challenge("")
        return json.dumps(
            {"scheme": asked.scheme, "realm": asked.realm, "service": asked.service, "head": self.head},
            sort_keys=True,
        )

    def load(self, text: str) -> None:
        """Take over what `dump` made, re-validated; anything else is ignored."""
        try:
            kept = json.loads(text)
            scheme, realm, service, head = (kept[key] for key in ("scheme", "realm", "service", "head"))
            if not (isinstance(realm, str) and isinstance(service, str) and isinstance(head, bool)):
                return
            if scheme == "bearer":
                check_realm(realm, self.origin)
        except (ValueError, TypeError, KeyError, RecursionError, RegistryError):
            return
        if scheme in {"bearer", "basic"}:
            self.challenge = Challenge(scheme, realm if scheme == "bearer" else "", service[:512])
            self.remembered = True
        self.head = head
        self.known = scheme in {"bearer", "basic", ""}


class Hosts:
    """All servers of a run."""

    def __init__(self) -> None:
        self._everyone = threading.BoundedSemaphore(IN_ALL)
        self._lock = threading.Lock()
        self._hosts: dict[str, Host] = {}

    def of(self, origin: str) -> Host:
        with self._lock:
            return self._hosts.setdefault(origin, Host(origin, self._everyone))

    def __iter__(self) -> Iterator[Host]:
        return iter(tuple(self._hosts.values()))

    def load(self, remembered: Mapping[str, str]) -> None:
        """Origin -> what an earlier run dumped."""
        for origin, text in remembered.items():
            self.of(origin).load(text)
