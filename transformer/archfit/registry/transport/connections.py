"""The connections of a run: who may be asked, and what happens before TLS is loaded.

    RetryingClient ── Request ──> Connections ──> HttpTransport ──> http1, NetworkStream, Dialer
                   <── Reply ────

    dial_ahead    a connection for a request to come, while TLS is loaded: 5 ms, and up to 20 for the CAs
    prepare       loads TLS, in another thread at the same time
    begin_tls     TLS on that connection begins, before the request needs it
    send          a request, on a connection that was dialled ahead or used before, or on a new one

So this module must not import `http_transport` at its top.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping

from archfit.registry.registry_errors import RegistryError
from archfit.registry.transport.bodies import LargeBodies
from archfit.registry.transport.dialer import Dialer
from archfit.registry.transport.host_policy import HostPolicy
from archfit.registry.transport.host_port import host_port
from archfit.registry.transport.proxies import proxy_for
from archfit.registry.transport.request import Reply, Request, Unreachable, late
from archfit.registry.transport.trust import Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.transport.http_transport import HttpTransport
    from archfit.registry.transport.request_budget import RequestBudget


class Connections:
    """The process's connections; safe to use from several threads.

    agent: the User-Agent header. left: seconds until the run's deadline, 0 after it. budget: when a server may be
    asked, None for at any time; the turn is taken last, so that nothing slow comes between it and the request.
    bodies: large answers that are in memory; a thread that is done with one leaves.
    """

    def __init__(
        self,
        agent: str,
        environ: Mapping[str, str],
        left: Callable[[], float],
        policy: HostPolicy,
        trust: Trust,
        budget: RequestBudget | None = None,
    ) -> None:
        self.left = left
        self.policy = policy
        self.bodies = LargeBodies(left)
        self._agent = agent
        self._environ = environ
        self._trust = trust
        self._budget = budget
        self._dialer = Dialer(left, policy)
        self._starting = threading.Lock()
        self._http: HttpTransport | None = None

    def dial_ahead(self, origin: str) -> None:
        """Connect for the first request to a registry, unless TLS is loaded already, or requests are to be rare.

        What goes wrong is said by the request. Raises RegistryError for a server that is refused.
        """
        scheme, _, _ = origin.partition("://")
        host, port = host_port(origin)
        self.policy.check(host, port)
        if self._http or self._budget or self.left() <= 0 or proxy_for(scheme, host, port, self._environ):
            return
        self._dialer.dial_ahead(host, port)

    def prepare(self, origins: Iterable[str]) -> None:
        """Load what requests to these origins need."""
        http = self._http or self._start()
        if any(origin.startswith("https:") for origin in origins):
            with contextlib.suppress(RegistryError):  # each request to such a server raises it
                http.prepare()

    def begin_tls(self, origin: str) -> None:
        """Begin TLS on a connection that was dialled ahead, if there is one. The request says what goes wrong."""
        if self._http and origin.startswith("https:"):
            self._http.begin(*host_port(origin))

    def send(self, request: Request) -> Reply:
        """One request, one answer, no redirect.

        Raises Unreachable, and RegistryError for a server, an address or an answer that is refused.
        """
        origin = request.origin
        shown = origin.partition("://")[2]
        host, port = host_port(origin)
        self.policy.check(host, port)
        if self.left() <= 0:
            raise Unreachable(late(shown), retryable=False)
        http = self._http or self._start()
        if self._budget:
            self._budget.take(shown, self.left())
        return http.exchange(request)

    def close(self) -> None:
        """Close all connections."""
        if self._http:
            self._http.close()
        self._dialer.close()

    def _start(self) -> HttpTransport:
        with self._starting:
            if self._http is None:
                from archfit.registry.transport.http_transport import HttpTransport

                self._http = HttpTransport(self._dialer, self._agent, self._environ, self._trust, self.bodies)
            return self._http
