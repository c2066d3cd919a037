"""The network side of a run, put together: one set of connections, one keychain, one memory of servers.

    Fetcher          threads, one question each
    ImageRequests    the requests of a question; several endpoints in order
    RegistryClient   manifests, blobs, digests; challenges and tokens
    RetryingClient   pauses, tries, redirects, requests in flight
    Connections      who may be asked, and when; dials while TLS is loaded
    HttpTransport    connections that are kept; bodies, timeouts, proxies
    http1            one request and its answer; h11 for unusual answers
    Dialer           names, addresses, sockets

A Request goes down, a Reply comes back. ImageRequests and RegistryClient are loaded while the Fetcher's threads dial.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from archfit import __version__
from archfit.images.platforms import Found
from archfit.images.reference import Reference
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.fetcher import Fetcher
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.host_policy import HostPolicy
from archfit.registry.transport.request_budget import RequestBudget, Reserve
from archfit.registry.transport.trust import Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.image_requests import ImageRequests

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
        self._load = _Requests(self._connections, keychain, now, wait, recall)
        self.fetcher = Fetcher(self._load, self._connections, routes, named_hosts_only=named_hosts_only)
        self._remembered: dict[str, str] = {}

    @property
    def requests(self) -> ImageRequests:
        """What asks registries; loaded when it is first needed."""
        return self._load()

    def prepare(self, kept: Mapping[str, str], origins: Iterable[str]) -> None:
        """Get ready to ask these servers: their TLS. kept: what the store has under `host:<origin>`."""
        self._remembered |= kept
        self.requests.servers.from_json({key.removeprefix("host:"): text for key, text in kept.items()})
        self._connections.prepare(origins)

    @property
    def sent(self) -> Mapping[str, int]:
        """How many requests were sent, by kind."""
        return self._load.made.http.requests if self._load.made else {}

    @property
    def pulls_left(self) -> dict[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        servers = self._load.made.servers if self._load.made else ()
        return {server.origin: server.pulls_left for server in servers if server.pulls_left}

    def take_replies(self) -> dict[tuple[str, int], int]:
        """As `RetryingClient.take_replies`."""
        return self._load.made.http.take_replies() if self._load.made else {}

    def warnings(self) -> list[str]:
        """Sentences about servers that were asked."""
        return self._trust.warnings()

    def changed_servers(self) -> dict[str, str]:
        """What the store should have for servers that answered, where it has not, by `host:<origin>`."""
        texts = {
            f"host:{server.origin}": server.to_json() for server in self.requests.servers if server.known
        }
        changed = {key: text for key, text in texts.items() if self._remembered.get(key) != text}
        self._remembered |= changed
        return changed

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()


class _Requests:
    """What asks registries, loaded when it is first called for. made: that, None before.

    The session and its threads share it, and it knows neither: a session that nobody has any more is freed at once, and
    not when the garbage of a server is collected.
    """

    def __init__(
        self,
        connections: Connections,
        keychain: Keychain,
        now: Callable[[], float],
        wait: Callable[[float], object],
        recall: Callable[[Reference, str], Found | None],
    ) -> None:
        self.made: ImageRequests | None = None
        self._connections = connections
        self._made_with = (keychain, now, wait, recall)
        self._loading = threading.Lock()

    def __call__(self) -> ImageRequests:
        with self._loading:
            if self.made is None:
                from archfit.registry.image_requests import ImageRequests

                self.made = ImageRequests(self._connections, *self._made_with)
            return self.made
