"""Where a reference is asked for: its own registry, or what the operator put in its place.

    reference                      mirror                                   asked
    docker.io/library/nginx        -                                        https://registry-1.docker.io  library/nginx
    docker.io/library/nginx        docker.io=https://harbor.example/hub     https://harbor.example    hub/library/nginx
    quay.io/prometheus/node        *=http://127.0.0.1:5000                  http://127.0.0.1:5000       prometheus/node

A path in a mirror's URL is a repository prefix, as `location` is in containers-registries.conf(5).
"""

from __future__ import annotations

from archfit.images.reference import HUB, HUB_API, Reference
from archfit.options.settings import Mirror
from archfit.registry.http.trust import DEFAULT_PORTS, HostPort, host_port
from archfit.startup.record import Record


class Endpoint(Record):
    """One repository at one server.

    origin: `scheme://host[:port]`, lower case, without a default port. host: `host[:port]` as credentials are looked
    up, which is the mirror's where there is one. repository: path below `base`, the API's root at the server.
    configured: the operator named this server, so it may be on loopback or a private network.
    namespace: the registry that a mirror answers for, sent as `?ns=`; "" sends nothing.
    headers: names and values that go to this origin alone; they may be secrets, and so are not shown.
    resolves: it may answer for tags. pulls: it may be asked for manifests and blobs by digest.
    fallback: it is asked only where the endpoint before it gave no HTTP answer.
    last: no other is asked after it, so that requests to it are sent again where that may help.
    instead_of: the registry whose place it takes, "" for the registry itself. named_by: what puts it there, as
    `--mirror *=https://mirror.example`.
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
    fallback: bool = False
    last: bool = True
    instead_of: str = ""
    named_by: str = ""

    def may_answer(self, reference: Reference) -> bool:
        """It may be asked for the reference itself, by tag or by digest."""
        return self.resolves if reference.tag else self.pulls

    def __repr__(self) -> str:
        return f"Endpoint({self.origin}{self.base}/{self.repository})"


def mirrored(reference: Reference, mirrors: tuple[Mirror, ...]) -> Endpoint | None:
    """The mirror's endpoint for `reference`, None if no mirror is for its registry."""
    for source in (reference.registry, "*"):
        for mirror in mirrors:
            if mirror.source == source.lower():
                url = f"{mirror.scheme}://{mirror.host}{'/' + mirror.prefix if mirror.prefix else ''}"
                endpoint = _mirrored(mirror, reference.repository)
                return endpoint.replace(
                    instead_of=reference.registry, named_by=f"--mirror {mirror.source}={url}"
                )
    return None


def itself(reference: Reference, *, configured: bool = False) -> Endpoint:
    """The reference's own registry."""
    return at("https", reference.registry, reference.repository, configured=configured)


def at(scheme: str, host: str, repository: str, *, configured: bool = True) -> Endpoint:
    """A repository at `host[:port]`."""
    host = HUB_API if host == HUB else host
    origin = f"{scheme}://{host.lower().removesuffix(f':{DEFAULT_PORTS[scheme]}')}"
    return Endpoint(origin, host, repository, configured)


def servers(mirrors: tuple[Mirror, ...]) -> set[HostPort]:
    """Every server that the mirrors name."""
    return {host_port(_mirrored(mirror, "x").origin) for mirror in mirrors}


def _mirrored(mirror: Mirror, repository: str) -> Endpoint:
    return at(mirror.scheme, mirror.host, f"{mirror.prefix}/{repository}" if mirror.prefix else repository)
