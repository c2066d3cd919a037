"""A good tenant, who creates pods one after the other as the API server does, and what all of them saw.

known      every image was asked for before the storm       new        an image that nobody asked for yet
injected   another webhook adds a container between two passes of the same admission
forged     a record of additions that archfit never made    lied       of a registry that lies
"""

import http.client
import json
import random
import ssl
import statistics
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from admission_reviews import Answered, decoded, pod
from campaign.webhook import tenants
from campaign.webhook.tenants import Wanted

API_SERVER_SECONDS = 10.0
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.1
_UNREAD = "the server has no memory for its review"
_KINDS = {"known": 8, "new": 5, "injected": 3, "forged": 1, "lied": 2}


@dataclass
class Tally:
    """What good tenants saw. seconds: of each answered pod, by kind."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    judged: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    lost: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return sum(self.judged.values()) + self.refused + self.lost

    def median(self, *kinds: str) -> float:
        """Seconds; infinite where nobody was answered."""
        values = [one for kind in kinds or self.seconds for one in self.seconds.get(kind, ())]
        return statistics.median(values) if values else float("inf")

    def late(self) -> int:
        """How many answers there were for which the API server would not have waited."""
        return sum(one > API_SERVER_SECONDS for values in self.seconds.values() for one in values)

    def longest(self, kind: str) -> float:
        return max(self.seconds.get(kind, ()), default=float("inf"))


class GoodTenant(threading.Thread):
    """Creates pods one after the other, on a connection that is kept, as the API server does.

    keeps: False for an API server that has just started, each time anew.
    """

    def __init__(
        self, port: int, seed: str, tally: Tally, lock: threading.Lock, *, lies: bool, keeps: bool = True
    ) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._drawn = random.Random(seed)
        self._name = seed.rpartition(" ")[2]
        self._tally = tally
        self._lock = lock
        self._lies = lies
        self._keeps = keeps
        self._number = 0
        self._connection: http.client.HTTPSConnection | None = None
        self._context = _trusting()
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(_PAUSE_SECONDS):
            self._number += 1
            try:
                self._once(int(self._name) * 1_000_000 + self._number)
            except Exception as error:  # noqa: BLE001 - an answer that cannot be read or applied is wrong
                self._wrong(repr(error))
        self.close()

    def _once(self, number: int) -> None:
        kind = self._drawn.choices(list(_KINDS), list(_KINDS.values()))[0]
        if kind in {"known", "new"}:
            self.create(tenants.drawn_pod(self._drawn, number, known=kind == "known"), kind)
        elif kind == "injected":
            self._injected(number)
        elif kind == "forged":
            self._forged(number)
        elif self._lies:
            value = pod(f"x.io/{self._drawn.choice(['both', 'amd', 'arm'])}:1", name=f"l-{number}")
            self.create(tenants.Wanted(value, "shop", tenants.wanted_nodes(value, value)), "lied")

    def close(self) -> None:
        if self._connection:
            self._connection.close()

    def create(self, wanted: Wanted, kind: str) -> dict[str, Any] | None:
        """The pod as it is stored; None where nobody answered."""
        answered = self.send(wanted.value, kind)
        if answered is None:
            return None
        return self._judge(answered, wanted.value, wanted.value, kind)

    def send(self, value: dict[str, Any], kind: str, **members: Any) -> Answered | None:
        uid = f"{self._name}-{self._number}-{self._drawn.randrange(1 << 30)}"
        content = tenants.request(value, "shop", uid, **members)
        started = time.monotonic()
        status, text = self._post(content)
        took = time.monotonic() - started
        with self._lock:
            if status == 200:
                self._tally.seconds.setdefault(kind, []).append(took)
            elif status == 503:
                self._tally.refused += 1
            elif not status:
                self._tally.lost += 1
            else:
                self._wrong(f"{kind}: HTTP {status}: {text[:200]!r}")
        if status != 200:
            return None
        answered = decoded(text)
        if answered.uid != uid:
            self._wrong(f"{kind}: the answer is for {answered.uid}, not for {uid}")
        return answered

    def _post(self, content: bytes) -> tuple[int, bytes]:
        """A kept connection that turns out to be closed is replaced once, as Go's client does."""
        for kept in (True, False):
            reused = self._connection is not None
            connection = self._connection or http.client.HTTPSConnection(
                "127.0.0.1", self._port, timeout=PATIENCE_SECONDS, context=self._context
            )
            self._connection = None
            try:
                connection.request(
                    "POST", "/mutate?timeout=10s", content, {"Content-Type": "application/json"}
                )
                response = connection.getresponse()
                text = response.read()
            except TimeoutError:
                connection.close()
                return 0, b""
            except (OSError, http.client.HTTPException):
                connection.close()
                if reused and kept:
                    continue
                return 0, b""
            if response.will_close or not self._keeps:
                connection.close()
            else:
                self._connection = connection
            return response.status, text
        return 0, b""

    def _judge(
        self, answered: Answered, value: dict[str, Any], written: dict[str, Any], kind: str
    ) -> dict[str, Any]:
        stored = tenants.patched(value, answered)
        verdict, why = tenants.judged(answered, stored, written)
        if (
            verdict == "wrong"
            and value != written
            and stored == value
            and _UNREAD in "".join(answered.warnings)
        ):
            verdict, why = "left", ""  # a later pass that is not read takes nothing back
        with self._lock:
            self._tally.judged[f"{verdict} {kind}"] += 1
        if why:
            self._wrong(f"{kind}: {tenants.images_of(stored)}: {why}")
        return stored

    def _injected(self, number: int) -> None:
        wanted = tenants.drawn_pod(self._drawn, number, known=self._drawn.random() < 0.7)
        first = self.create(wanted, "injected")
        if first is None:
            return
        image = self._drawn.choice(tenants.SIDECARS)
        value, written = tenants.injected(first, image), tenants.injected(wanted.value, image)
        second = self.send(value, "injected")
        if second:
            self._judge(second, value, written, "injected")

    def _forged(self, number: int) -> None:
        value = tenants.forged(self._drawn, number)
        answered = self.send(value, "forged")
        if answered is None:
            return
        stored = tenants.patched(value, answered)
        verdict = "right" if tenants.narrowed(value, stored) else "wrong"
        with self._lock:
            self._tally.judged[f"{verdict} forged"] += 1
        if verdict == "wrong":
            self._wrong(f"forged: it reaches {sorted(tenants.reach(stored))}: {json.dumps(value)}")

    def _wrong(self, text: str) -> None:
        if len(self._tally.wrong) < 20:
            self._tally.wrong.append(text)


def _trusting() -> ssl.SSLContext:
    """For a client that takes an expired certificate, so that the storm goes on."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
