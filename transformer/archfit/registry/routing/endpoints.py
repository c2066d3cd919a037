"""Where a reference is asked for: its own registry, or what the operator put in its place.

    reference                      mirror                                   asked
    docker.io/library/nginx        -                                        https://registry-1.docker.io  library/nginx
    docker.io/library/nginx        docker.io=https://harbor.example/hub     https://harbor.example    hub/library/nginx
    quay.io/prometheus/node        *=http://127.0.0.1:5000                  http://127.0.0.1:5000       prometheus/node

SOURCE is a registry host as a normalised reference has it, or `*` for all that no other mirror names. A path in the
URL is a repository prefix, as `location` is in containers-registries.conf(5). Plain HTTP only where the URL says so.
Mirrors come checked from `options.mirrors`, their only parser.
"""

from __future__ import annotations

from archfit.errors import RegistryError
from archfit.images.reference import HUB, HUB_API, Reference, host_and_port
from archfit.options.settings import Mirror
from archfit.record import Record


class Target(Record):
    """One repository at one server.

    origin: `scheme://host[:port]`, lower case, without a default port.
    host: `host[:port]` as credentials are looked up, which is the mirror's where there is one.
    repository: path below `base`.
    configured: the operator named this server, so it may be on loopback or a private network.
    base: the API's root at the server.
    namespace: the registry that a mirror answers for, as it is told in `?ns=`; "" is not told.
    headers: names and values that go to this origin alone; they may be secrets, and so are not shown.
    resolves, pulls: it may say what a tag points to, and may be asked for what has a digest.
    instead: it is asked only where the target before it gave no HTTP answer.
    last: no other is asked after it, so that it is worth asking again.
    """

    origin: str
    host: str
    repository: str
    configured: bool
    base: str = "/v2"
    namespace: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    resolves: bool = True
    pulls: bool = True
    instead: bool = False
    last: bool = True

    def __repr__(self) -> str:
        return f"Target({self.origin}{self.base}/{self.repository})"


def mirrored(reference: Reference, mirrors: tuple[Mirror, ...]) -> Target | None:
    """Where a mirror has `reference` asked for, None if none does."""
    for source in (reference.registry, "*"):
        for mirror in mirrors:
            if mirror.source == source.lower():
                return _mirrored(mirror, reference.repository)
    return None


def itself(reference: Reference, *, configured: bool = False) -> Target:
    """The reference's own registry."""
    return at("https", reference.registry, reference.repository, configured=configured)


def at(scheme: str, host: str, repository: str, *, configured: bool = True) -> Target:
    """A repository at `host[:port]`."""
    host = HUB_API if host == HUB else host
    return Target(_origin(scheme, host), host, repository, configured)


def target(reference: Reference, mirrors: tuple[Mirror, ...]) -> Target:
    """Where to ask for `reference`, where there are no mirrors but these."""
    return mirrored(reference, mirrors) or itself(reference)


def places(mirrors: tuple[Mirror, ...]) -> set[tuple[str, int]]:
    """Host and port of every server that the mirrors name."""
    return {place_of(_mirrored(mirror, "x").origin) for mirror in mirrors}


def place_of(origin: str) -> tuple[str, int]:
    """`("example.com", 443)` for `https://example.com`. Raises RegistryError for a port beyond 65535."""
    scheme, _, host = origin.partition("://")
    name, written = host_and_port(host)
    port = written or {"https": "443", "http": "80"}[scheme]
    if len(port) > 5 or int(port) > 65535:
        raise RegistryError(f"{host} has a port that does not exist")
    return name, int(port)


def _mirrored(mirror: Mirror, repository: str) -> Target:
    return at(mirror.scheme, mirror.host, f"{mirror.prefix}/{repository}" if mirror.prefix else repository)


def _origin(scheme: str, host: str) -> str:
    default = {"https": ":443", "http": ":80"}[scheme]
    return f"{scheme}://{host.lower().removesuffix(default)}"
