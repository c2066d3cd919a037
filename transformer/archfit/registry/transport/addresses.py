"""Which addresses may be dialled.

    kind        addresses                                                                 may be dialled
    refused     unspecified, multicast, link-local, reserved, cloud metadata services     never
    loopback    127.0.0.0/8, ::1                                                          a server the operator named
    private     RFC 1918, RFC 4193, RFC 6598 and others that are not global               the same, and over https the
                                                                                          reference's own registry
    public      the rest                                                                  always

IPv4 inside IPv6 (mapped, compatible, 6to4, Teredo, NAT64) counts as the IPv4 address that it leads to. archfit connects
to the address that it has checked and does not resolve the name again. Sources: RFC 6890, RFC 6052, RFC 4380; the
metadata services of AWS, Google, Azure and Alibaba, which hand out credentials.
"""

from __future__ import annotations

import ipaddress

from archfit.typing_names import Literal, TypeAlias

Kind: TypeAlias = "Literal['refused', 'loopback', 'private', 'public']"
Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"

_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
_NOWHERE = tuple(ipaddress.IPv4Network(text) for text in ("0.0.0.0/8", "240.0.0.0/4"))
_NAT64 = tuple(ipaddress.IPv6Network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def kind_of(address: str) -> Kind:
    """What a numeric address, perhaps with a zone, is. Raises ValueError if it is not numeric."""
    return _kind(ipaddress.ip_address(address.partition("%")[0]))


def _kind(address: Address) -> Kind:
    if address in _METADATA:
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
    return "public" if address.is_global else "private"


def _inner(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 address that an IPv6 address leads to, none or one."""
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return [address.teredo[1]]
    if address in _COMPATIBLE or any(address in network for network in _NAT64):
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return []
