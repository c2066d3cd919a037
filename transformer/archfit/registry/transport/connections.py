"""One HTTP exchange, and what comes before the HTTP library is there.

    Wire.send(method, url, headers)  ->  Reply(status, headers, body)

    thread 1    dial | import httpx ........ | send
    thread 2    dial | wait                  | send
    ..                                            on as many connections as there are threads

A connection is dialled for each request that comes before `engine` (and with it httpx, 40 ms) has been imported, so
that connecting and importing take place at the same time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from archfit.errors import RegistryError
from archfit.record import Record
from archfit.registry.transport.bodies import LargeBodies
from archfit.registry.transport.dialer import Dialler, Unreachable
from archfit.registry.transport.host_policy import Named
from archfit.registry.transport.proxies import proxy_for
from archfit.registry.transport.trust import Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.transport.http_transport import Engine

__all__ = ["Reply", "Unreachable", "Wire"]


class Reply(Record):
    """An answer. headers: lower-case names, repeated ones joined by ", ". url: what was asked.

    challenges: the WWW-Authenticate headers, each by itself.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    challenges: tuple[str, ...] = ()


class Wire:
    """The process's connections; safe to use from several threads.

    named: servers the operator named: any address but a refused one may be dialled.
    own: of registries that references name: private addresses may be dialled, but not loopback.
    bodies: large answers that are in memory; whoever is done with one leaves.
    """

    def __init__(
        self,
        agent: str,
        environ: Mapping[str, str] = os.environ,
        monotonic: Callable[[], float] = time.monotonic,
        named: Named | None = None,
        trust: Trust | None = None,
    ) -> None:
        self.dialler = Dialler(monotonic, named)
        self.named = self.dialler.named
        self.own = self.dialler.own
        self.trust = trust or Trust()
        self.bodies = LargeBodies(self.left)
        self._agent = agent
        self._environ = environ
        self._starting = threading.Lock()
        self._engine: Engine | None = None

    @property
    def deadline(self) -> float:
        """When the run has to end, on the clock `monotonic`."""
        return self.dialler.deadline

    @deadline.setter
    def deadline(self, when: float) -> None:
        self.dialler.deadline = when

    def left(self) -> float:
        """Seconds until the deadline, 0 after it."""
        return self.dialler.left()

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        limit: int,
        content: bytes = b"",
        foreign: bool = False,
    ) -> Reply:
        """One request, one answer; at most `limit` bytes of body. foreign: a registry pointed to this URL.

        Raises Unreachable, and RegistryError for an address or an answer that is refused.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or {"https": 443, "http": 80}[parts.scheme]
        except (ValueError, KeyError):
            raise RegistryError(
                "the registry leads to something that is no http or https URL: refused"
            ) from None
        self.dialler.permit(host, port)
        if self.left() <= 0:
            raise Unreachable(f"{parts.netloc} did not answer in time", again=False)
        engine = self._engine
        if engine is None:
            if not proxy_for(parts.scheme, host, port, self._environ):
                self.dialler.ahead(host, port, foreign=foreign)
            engine = self._start()
        return engine.exchange(method, url, headers, limit=limit, content=content, foreign=foreign)

    def close(self) -> None:
        """End all connections."""
        if self._engine:
            self._engine.close()
        self.dialler.close()

    def _start(self) -> Engine:
        with self._starting:
            if self._engine is None:
                from archfit.registry.transport.http_transport import Engine

                self._engine = Engine(self.dialler, self._agent, self._environ, self.trust, self.bodies)
            return self._engine
