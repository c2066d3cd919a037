"""The network side of a run, put together: one wire, one keychain, one memory of servers.

Session -> Wire (connections) -> Asker (turns, retries, redirects) -> Client (tokens, manifests) -> Crew (threads)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from archfit import __version__
from archfit.images.platforms import Found
from archfit.images.reference import Reference
from archfit.options.settings import Operator
from archfit.registry.client import Client
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.credentials.tokens import Tokens
from archfit.registry.fetcher import Crew, Route
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connection import Wire
from archfit.registry.transport.host_policy import Named
from archfit.registry.transport.retrying_client import Asker
from archfit.registry.transport.servers import Hosts
from archfit.registry.transport.trust import Trust

AGENT = f"archfit/{__version__}"


class Session:
    """now: Unix seconds. wait: sleeps between tries. recall: platforms that the cache has for a digest of a repository.

    keychain: the operator's credentials. routes: where each image is asked for. named_hosts_only: as `crew.Crew`
    takes it.
    """

    def __init__(
        self,
        operator: Operator,
        environ: Mapping[str, str],
        now: Callable[[], float],
        wait: Callable[[float], object],
        recall: Callable[[Reference, str], Found | None],
        keychain: Keychain,
        routes: Routes,
        *,
        named_hosts_only: bool = False,
    ) -> None:
        self.hosts = Hosts()
        named = Named(routes.named, operator.allow_hosts, operator.deny_hosts, keychain.named_hosts)
        self._trust = Trust(routes.tls, operator.ca_file)
        self._wire = Wire(AGENT, environ, named=named, trust=self._trust)
        self.asker = Asker(self._wire, self.hosts, now, wait)
        self._client = Client(self.asker, keychain, Tokens(self.asker, time.monotonic))
        self._crew = Crew(self._client, self._wire, routes, recall, named_hosts_only=named_hosts_only)
        self._remembered: dict[str, str] = {}

    def begin(self, seconds: float) -> Crew:
        """The crew, with that many seconds from now on."""
        self._wire.deadline = time.monotonic() + seconds
        return self._crew

    def credential_sent(self, route: Route) -> bool:
        """A credential was used for this image somewhere, or a token that was had for one."""
        sent = self._client.credentials_sent
        return any((place.host, place.repository) in sent for place in route.places)

    def warnings(self) -> list[str]:
        """What there is to say of servers that were asked."""
        return self._trust.warnings()

    def recall_hosts(self, kept: Mapping[str, str]) -> None:
        """Take over what the store has under `host:<origin>`."""
        self._remembered |= kept
        self.hosts.load({key.removeprefix("host:"): text for key, text in kept.items()})

    def changed_hosts(self) -> dict[str, str]:
        """What the store should have for servers that were heard from, where it has not."""
        texts = {f"host:{host.origin}": host.dump() for host in self.hosts if host.known}
        changed = {key: text for key, text in texts.items() if self._remembered.get(key) != text}
        self._remembered |= changed
        return changed

    def close(self) -> None:
        self._wire.close()
