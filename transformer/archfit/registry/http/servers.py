"""What a run knows of each server, shared by all threads.

The cache gets only what the server tells everybody: scheme, realm, service; never tokens or credentials.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

from archfit.base.printable import visible
from archfit.registry.http.challenges import Challenge, check_realm
from archfit.registry.http.limits import MAX_PER_SERVER, MAX_RETRIES_PER_SERVER
from archfit.registry.http.request import late
from archfit.registry.quirks import quirk_of
from archfit.registry.registry_errors import RegistryError

_ELSEWHERE = "elsewhere"


def elsewhere(text: str) -> str:
    """`ServerState.elsewhere` of what the cache keeps, "" for none and for what `to_json` did not make."""
    try:
        other = json.loads(text)[_ELSEWHERE]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    return visible(other) if isinstance(other, str) else ""


def leads(origin: str, other: str) -> str:
    """What is said of a server that leads to another one."""
    return (
        f"{origin} leads to {other}, which gives tokens to anybody: containerd asks for one, CRI-O does not"
    )


class ServerState:
    """One server, by its origin `scheme://host[:port]`.

    challenge: how it asks for credentials. remembered: that is from an earlier run, and nothing in this run has
    confirmed it. head: it answers HEAD with a digest. elsewhere: the server that it redirected to and that gives tokens
    to anybody. known: it has answered something. pulls_left, pull_limit: its last RateLimit headers, as "20;w=21600".
    share: requests that may be in flight at once, halved by each wave of 429 or 503.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.challenge: Challenge | None = None
        self.remembered = False
        self.head = True
        self.elsewhere = ""
        self.known = False
        self.pulls_left = ""
        self.pull_limit = ""
        self.share = MAX_PER_SERVER
        self.first_answer = threading.Event()
        self._asking_first = threading.Lock()
        self._retries_left = MAX_RETRIES_PER_SERVER
        self._paused_until = 0.0
        self._in_flight = 0
        self._wave = 0
        self._lock = threading.Condition()

    def begin(self, seconds: float) -> int:
        """Wait for a free place; the answer goes to `busy`. Raises RegistryError after `seconds`."""
        with self._lock:
            if not self._lock.wait_for(lambda: self._in_flight < self.share, seconds):
                raise RegistryError(late(self.origin))
            self._in_flight += 1
            return self._wave

    def end(self) -> None:
        with self._lock:
            self._in_flight -= 1
            self._lock.notify()

    def busy(self, wave: int) -> None:
        """It answered 429 or 503 to a request begun in `wave`: halve the share, once for each wave."""
        with self._lock:
            if wave == self._wave:
                self._wave += 1
                self.share = max(1, self.share // 2)

    @property
    def few_pulls_left(self) -> str:
        """`9 of 100` where less than a tenth of its pulls is left, else ""."""
        left, limit = (text.partition(";")[0] for text in (self.pulls_left, self.pull_limit))
        return f"{left} of {limit}" if left and limit and 10 * int(left) < int(limit) else ""

    def may_retry(self) -> bool:
        """Whether one more request may be sent again; counts it."""
        with self._lock:
            self._retries_left -= 1
            return self._retries_left >= 0

    def forget(self, challenge: Challenge) -> None:
        """A challenge of an earlier run did not work: the server itself is asked for its challenge."""
        with self._lock:
            if self.challenge == challenge:
                self.challenge = None
            self.remembered = False

    def pause_until(self, until: float) -> None:
        """It asked for a pause: no new request before `until`, in Unix seconds; the longest pause counts."""
        with self._lock:
            self._paused_until = max(self._paused_until, until)

    def paused_for(self, now: float) -> float:
        """Seconds that are left of the pause, 0 where there is none. now: Unix seconds."""
        with self._lock:
            return max(0.0, self._paused_until - now)

    def asks_first(self, seconds: float, *, expected: bool) -> bool:
        """Whether this thread is the first to ask a server that is expected to answer 401; it sets `first_answer`.

        The others wait for that, at most some seconds. expected: there is a credential for the server.
        """
        if self.known or not (expected or quirk_of(self.origin.partition("://")[2]).challenges):
            return False
        if self._asking_first.acquire(blocking=False):
            return True
        self.first_answer.wait(seconds)
        return False

    def to_json(self) -> str:
        """What the cache keeps."""
        challenge = self.challenge or Challenge("")
        kept = {name: getattr(challenge, name) for name in ("scheme", "realm", "service")}
        kept |= {"head": self.head, **({_ELSEWHERE: self.elsewhere} if self.elsewhere else {})}
        return json.dumps(kept, sort_keys=True)

    def from_json(self, text: str) -> None:
        """Take over what `to_json` made, checked again; anything else is ignored."""
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
        self.head, self.elsewhere = head, elsewhere(text)
        self.known = scheme in {"bearer", "basic", ""}


class Servers:
    """All servers of a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[str, ServerState] = {}

    def of(self, origin: str) -> ServerState:
        """The server's state. origin: `scheme://host[:port]`."""
        with self._lock:
            return self._states.setdefault(origin, ServerState(origin))

    def __iter__(self) -> Iterator[ServerState]:
        return iter(tuple(self._states.values()))
