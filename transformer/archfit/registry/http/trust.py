"""A server as host and port, and how far its TLS is trusted, for each server by itself.

    hosts.toml        ca, client, skip_verify
    certs.d           *.crt (CAs), *.cert with *.key (client certificates)
    registries.conf   insecure

They hold for that host and port only, not for redirects to other hosts or token services on other hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from archfit.images.reference import host_and_port
from archfit.registry.registry_errors import RegistryError
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

HostPort: TypeAlias = "tuple[str, int]"

DEFAULT_PORTS = {"https": 443, "http": 80}


def host_port(origin: str) -> HostPort:
    """`("example.com", 443)` for `https://example.com`; an IPv6 address without its brackets.

    Raises RegistryError for a port beyond 65535.
    """
    scheme, _, host = origin.partition("://")
    name, written = host_and_port(host)
    port = written or str(DEFAULT_PORTS[scheme])
    if len(port) > 5 or int(port) > 65535:
        raise RegistryError(f"{host} has a port that does not exist: a port is at most 65535")
    return name, int(port)


def shown(host: str, port: int, usual: int = 0) -> str:
    """`host:port`, an IPv6 address in brackets. usual: a port that is left out."""
    name = f"[{host}]" if ":" in host else host
    return name if port == usual else f"{name}:{port}"


class Tls(Record):
    """ca: paths of PEM files, beside the usual CAs. client: paths of certificate and key, "" where one file has both.

    verify: certificate and name are checked. usual: the usual CAs count; else there is a `ca`.
    """

    ca: tuple[str, ...] = ()
    client: tuple[tuple[str, str], ...] = ()
    verify: bool = True
    usual: bool = True


USUAL = Tls()


class Trust:
    """For all servers of a run. ca_file: path of a PEM file that counts beside the usual CAs, "" for none.

    servers: those that are not trusted in the usual way. insecure: URLs of servers that were asked without
    verification; see `warnings`.
    """

    def __init__(self, servers: Mapping[HostPort, Tls] | None = None, ca_file: str = "") -> None:
        self.servers: Mapping[HostPort, Tls] = {} if servers is None else servers
        self.ca_file = ca_file
        self.insecure: set[str] = set()

    def of(self, host: str, port: int) -> Tls:
        """How far this server is trusted."""
        return self.servers.get((host.lower(), port), USUAL)

    def warnings(self) -> list[str]:
        """Which servers were asked without verification."""
        return [
            f"{url} is asked without verification of its certificate, because it is configured as insecure: "
            "anybody on the network path can change its answers"
            for url in sorted(self.insecure)
        ]


def added(known: Mapping[HostPort, Tls], more: Iterable[tuple[HostPort, Tls]]) -> dict[HostPort, Tls]:
    """`known` with what `more` adds: settings of several files for one server add up."""
    servers = dict(known)
    for server, tls in more:
        before = servers.get(server, USUAL)
        both = Tls(
            tuple(dict.fromkeys((*before.ca, *tls.ca))),
            tuple(dict.fromkeys((*before.client, *tls.client))),
            before.verify and tls.verify,
            before.usual and tls.usual,
        )
        if both != USUAL:
            servers[server] = both
    return servers
