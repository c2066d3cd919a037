"""Which servers may be asked, and at which addresses.

    named      a mirror's URL, hosts.toml, registries.conf, --allow-host, a key of the operator's credentials files
    trusted    the same without the credentials files: credentials of other registries may be sent there for a token
    denied     --deny-host; `*` is every host that is not named
    referenced the registries of the images themselves

    address    what it is                                                   may be dialled for
    public     all others                                                   every server
    private    RFC 1918, RFC 4193, RFC 6598 and others that are not global  a named server; over https also a referenced
                                                                            one, but not where a redirect or a token
                                                                            service leads to it
    loopback   127.0.0.0/8, ::1                                             a named server
    refused    unspecified, multicast, link-local, reserved, cloud          none
               metadata services

    pattern    HOST | HOST:PORT | *.DOMAIN | *.DOMAIN:PORT | *          without a port: 443

IPv4 inside IPv6 counts as the IPv4 address that it leads to. A reference, a redirect or a challenge never makes a host
a named one. Sources: RFC 6890, RFC 6052, RFC 7915, RFC 4380; for what Python takes as global RFC 3879 (site-local),
RFC 7526 (192.88.99.0/24) and RFC 9602 (segment identifiers); the metadata services of AWS, Google, Azure and Alibaba.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from archfit.images.reference import host_and_port
from archfit.options.settings import HostPattern
from archfit.registry.http.trust import HostPort, shown
from archfit.registry.registry_errors import RegistryError

Kind: TypeAlias = "Literal['refused', 'loopback', 'private', 'public']"
Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"

_METADATA = """
    169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254
"""
_METADATA_ADDRESSES = frozenset(map(ipaddress.ip_address, _METADATA.split()))
_NOWHERE = tuple(ipaddress.IPv4Network(text) for text in ("0.0.0.0/8", "240.0.0.0/4"))
# NAT64, compatible, translated: IPv4 in the last 32 bits.
_HOLD_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")))
_KINDS = {
    "refused": "a link-local, metadata or otherwise special",
    "loopback": "a loopback",
    "private": "a private",
}
_NOT_GLOBAL = tuple(ipaddress.ip_network(text) for text in ("fec0::/10", "5f00::/16", "192.88.99.0/24"))


class HostPolicy:
    """The operator's rules. named: host, lower case, and port; the set may grow.

    mentioned: hosts (`host[:port]`) of the operator's credentials files; called when it is first needed.
    referenced: filled before they are asked.
    private: servers that were not asked, as only a reference names them and they have no public address.
    """

    def __init__(
        self,
        named: set[HostPort] | None = None,
        allowed: Iterable[HostPattern] = (),
        denied: Iterable[HostPattern] = (),
        mentioned: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.named = set() if named is None else named
        self.referenced: set[HostPort] = set()
        self.private: set[str] = set()
        self._allowed = [pattern.replace(port=pattern.port or 443) for pattern in allowed]
        self._denied = [pattern for pattern in denied if pattern.name != "*"]
        self._only_named = any(pattern.name == "*" for pattern in denied)
        self._mentioned = mentioned
        self._hosts: set[HostPort] | None = None

    def is_trusted(self, host: str, port: int) -> bool:
        """The operator named it as a server to be asked."""
        server = (host.lower(), port)
        return server in self.named or any(_matches(pattern, *server) for pattern in self._allowed)

    def is_named(self, host: str, port: int) -> bool:
        """The operator named it, if only by a credential for it."""
        if self.is_trusted(host, port):
            return True
        if self._hosts is None:
            self._hosts = {_server(text) for text in self._mentioned()}
        return (host.lower(), port) in self._hosts

    def check(self, host: str, port: int) -> None:
        """Raises RegistryError for a server that --deny-host excludes, however it would be reached."""
        denied = any(_matches(pattern, host.lower(), port) for pattern in self._denied)
        if denied or (self._only_named and not self.is_named(host, port)):
            raise RegistryError(f"{shown(host, port)} is not asked: --deny-host forbids it")

    def permitted(self, host: str, port: int, addresses: list[str], *, other_host: bool) -> list[str]:
        """Those addresses of `host:port` that may be dialled. Raises RegistryError if there are none.

        other_host: a redirect or a token service on another host leads there.
        """
        judged = [(address, kind_of(address)) for address in addresses]
        kinds: set[Kind] = {"public"}
        if all(kind == "public" for _, kind in judged):
            pass
        elif self.is_named(host, port):
            kinds |= {"private", "loopback"}
        elif (host.lower(), port) in self.referenced and not other_host:
            kinds.add("private")
        good = [address for address, kind in judged if kind in kinds]
        if not good and judged and judged[0][1] == "private" and not other_host:
            self.private.add(shown(host, port))
        if not good and judged:
            raise RegistryError(_refusal(shown(host, port), *judged[0], other_host=other_host))
        return good


def _server(text: str) -> HostPort:
    name, port = host_and_port(text)
    exists = port.isascii() and port.isdigit() and len(port) <= 5
    return name.lower().rstrip("."), int(port) if exists else 443


def _matches(pattern: HostPattern, host: str, port: int) -> bool:
    if pattern.port not in {None, port}:
        return False
    host = host.rstrip(".")
    name = pattern.name
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _refusal(server: str, address: str, kind: Kind, *, other_host: bool) -> str:
    refused = f"{server} leads to {_KINDS[kind]} address, {address}, and archfit does not connect to it"
    if kind == "refused":
        return refused
    remedy = f": if it is meant, name the server with --allow-host {server}"
    if kind == "loopback" and not other_host:  # as kind, k3d and minikube document it
        remedy += (
            f", or with --mirror {server}=http://{server} where it speaks plain http, as most on loopback do"
        )
    return refused + remedy


def kind_of(address: str) -> Kind:
    """What a numeric address, perhaps with a zone, is. Raises ValueError if it is not numeric."""
    return _kind(ipaddress.ip_address(address.partition("%")[0]))


def _kind(address: Address) -> Kind:
    if address in _METADATA_ADDRESSES:
        return "refused"
    if isinstance(address, ipaddress.IPv6Address):
        if address == ipaddress.IPv6Address("::1"):
            return "loopback"
        for inner in _inner(address):
            return _kind(inner)
    elif any(address in network for network in _NOWHERE):
        return "refused"
    if address.is_unspecified or address.is_multicast or address.is_link_local:
        return "refused"
    if address.is_loopback:
        return "loopback"
    special = any(address.version == network.version and address in network for network in _NOT_GLOBAL)
    return "public" if address.is_global and not special else "private"


def _inner(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 address that an IPv6 address leads to, none or one."""
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return [address.teredo[1]]
    if any(address in network for network in _HOLD_IPV4):
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return []
