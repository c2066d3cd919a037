"""The network side of a run, put together: one set of connections, one keychain, one memory of servers.

    Fetcher          threads, one question each; several endpoints in order
    RegistryClient   manifests, blobs, digests; challenges and tokens
    RetryingClient   pauses, tries, redirects, requests in flight
    Connections      who may be asked, and when; dials while TLS is loaded
    HttpTransport    connections that are kept; bodies, timeouts, proxies
    http1            one request and its answer; h11 for unusual answers
    Dialer           names, addresses, sockets

A Request goes down, a Reply comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from archfit import __version__
from archfit.images.platforms import Found
from archfit.images.reference import Reference
from archfit.options.settings import Operator
from archfit.registry.client import RegistryClient
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.credentials.tokens import Tokens
from archfit.registry.fetcher import Fetcher, Route
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.host_policy import HostPolicy
from archfit.registry.transport.request_budget import RequestBudget, Reserve
from archfit.registry.transport.retrying_client import RetryingClient
from archfit.registry.transport.servers import Servers
from archfit.registry.transport.trust import Trust

AGENT = f"archfit/{__version__}"


class RegistrySession:
    """now: Unix seconds. wait: sleeps between tries. left: seconds until the run's deadline, 0 after it.

    recall: platforms that the cache has for a digest of a repository. keychain: the operator's credentials.
    routes: where each image is asked for. named_hosts_only: as `fetcher.Fetcher` takes it. reserve: where processes
    share the budgets of `--requests-per-second`, None where each has its own.
    """

    def __init__(
        self,
        operator: Operator,
        environ: Mapping[str, str],
        now: Callable[[], float],
        wait: Callable[[float], object],
        left: Callable[[], float],
        recall: Callable[[Reference, str], Found | None],
        keychain: Keychain,
        routes: Routes,
        *,
        named_hosts_only: bool = False,
        reserve: Reserve | None = None,
    ) -> None:
        policy = HostPolicy(routes.named, operator.allow_hosts, operator.deny_hosts, keychain.named_hosts)
        self._trust = Trust(routes.tls, operator.ca_file)
        rates = operator.requests_per_second
        budget = RequestBudget(rates, time.monotonic, wait, reserve) if rates else None
        self._connections = Connections(AGENT, environ, left, policy, self._trust, budget)
        self.servers = Servers()
        self.http = RetryingClient(self._connections, self.servers, now, wait)
        self._client = RegistryClient(self.http, keychain, Tokens(self.http, time.monotonic))
        self.fetcher = Fetcher(
            self._client, self._connections, routes, recall, named_hosts_only=named_hosts_only
        )
        self._remembered: dict[str, str] = {}

    def credential_sent(self, route: Route) -> bool:
        """A credential was used for this image at one of its endpoints, or a token that was had for one."""
        sent = self._client.credentials_sent
        return any((endpoint.host, endpoint.repository) in sent for endpoint in route.endpoints)

    def warnings(self) -> list[str]:
        """Sentences about servers that were asked."""
        return self._trust.warnings()

    def recall_servers(self, kept: Mapping[str, str]) -> None:
        """Take over what the store has under `host:<origin>`."""
        self._remembered |= kept
        self.servers.from_json({key.removeprefix("host:"): text for key, text in kept.items()})

    def changed_servers(self) -> dict[str, str]:
        """What the store should have for servers that answered, where it has not, by `host:<origin>`."""
        texts = {f"host:{server.origin}": server.to_json() for server in self.servers if server.known}
        changed = {key: text for key, text in texts.items() if self._remembered.get(key) != text}
        self._remembered |= changed
        return changed

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()
