"""A server as host and port: how trust and policy name it, and how it is dialled."""

from __future__ import annotations

from archfit.images.reference import host_and_port
from archfit.registry.registry_errors import RegistryError
from archfit.typing_names import TypeAlias

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
