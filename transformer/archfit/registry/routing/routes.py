"""Where each image is asked for, by all that the operator configured.

The first that is about its registry counts: --mirror (alone), registries.conf, --hosts-dir, else the registry itself.
What registries.conf blocks is asked nowhere.
"""

from __future__ import annotations

from archfit.images.reference import Reference
from archfit.options.settings import Operator
from archfit.registry.http.trust import HostPort, Tls, added
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.endpoints import Endpoint, itself, mirrored, servers
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.routing.hosts_toml import HostsDir
    from archfit.registry.routing.registries_conf import RegistriesConf

_MOST_KEPT = 1024


class Route(Record):
    """Where an image is asked for, in order. refusal: why no server is asked, "" where one is."""

    endpoints: tuple[Endpoint, ...]
    refusal: str = ""

    @property
    def first(self) -> str:
        """The origin that is asked first, "" for none."""
        return self.endpoints[0].origin if self.endpoints else ""


class Routes:
    """tls: how far servers are trusted, where that is not the usual. named: those that the operator named.

    Raises UsageError for files that cannot be read or understood.
    """

    def __init__(self, operator: Operator) -> None:
        self._mirrors = operator.mirrors
        self._conf: RegistriesConf | None = None
        self._dir: HostsDir | None = None
        self._endpoints: dict[Reference, tuple[Endpoint, ...]] = {}
        self.tls: dict[HostPort, Tls] = {}
        self.named: set[HostPort] = servers(operator.mirrors)
        if operator.registries_conf:
            from archfit.registry.routing.registries_conf import RegistriesConf

            self._conf = RegistriesConf(operator.registries_conf)
            self._learn(list(self._conf.trust()))
        if operator.hosts_dir:
            from archfit.registry.routing.hosts_toml import HostsDir

            self._dir = HostsDir(operator.hosts_dir)
            self._learn(list(self._dir.trust()))

    def endpoints(self, reference: Reference) -> tuple[Endpoint, ...]:
        """Where to ask, in order; at least one. Raises RegistryError where no server may be asked."""
        endpoints = self._endpoints.get(reference)  # keys of the cache and requests both need them
        if endpoints is None:
            if len(self._endpoints) >= _MOST_KEPT:
                self._endpoints.clear()
            endpoints = self._endpoints[reference] = self._found(reference)
        return endpoints

    def route(self, reference: Reference) -> Route:
        """The same, and why nobody may be asked."""
        try:
            endpoints = self.endpoints(reference)
        except RegistryError as error:
            return Route((), str(error))
        able = any(endpoint.may_answer(reference) for endpoint in endpoints)
        return Route(endpoints, "" if able else f"no mirror of {reference.registry} may be asked for it")

    def _found(self, reference: Reference) -> tuple[Endpoint, ...]:
        some = self._conf.endpoints(reference) if self._conf else ()
        mirror = mirrored(reference, self._mirrors)
        if mirror:
            return (mirror,)
        if some and self._conf:
            self._learn(list(self._conf.trust_of(reference)))
            return _named(some, reference, "--registries-conf")
        if self._dir and (some := self._dir.endpoints(reference)):
            return _named(some, reference, "--hosts-dir")
        return (itself(reference),)

    def _learn(self, configured: list[tuple[HostPort, Tls]]) -> None:
        self.tls.update(added(self.tls, configured))
        self.named.update(server for server, _ in configured)


def _named(some: tuple[Endpoint, ...], reference: Reference, by: str) -> tuple[Endpoint, ...]:
    """The endpoints; those of other servers say what puts them there."""
    own, other = itself(reference).host, {"instead_of": reference.registry, "named_by": by}
    return tuple(endpoint if endpoint.host == own else endpoint.replace(**other) for endpoint in some)
