"""A proxy as the environment names it, and the tunnel through it.

http://user:password@proxy.example:3128     Proxy-Authorization: Basic ..     the port is 80 or 443 by default
CONNECT registry.example:443                2xx: from then on the bytes are the registry's (RFC 9110, 9.3.6)
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from archfit.record import Record
from archfit.registry.registry_errors import RegistryError
from archfit.registry.transport.host_port import DEFAULT_PORTS
from archfit.registry.transport.http1 import ask
from archfit.registry.transport.http_message import Head
from archfit.registry.transport.network_stream import NetworkStream


class ProxyRefused(Exception):
    """The proxy answered CONNECT with another status than 2xx: "407 Proxy Authentication Required"."""


class Proxy(Record):
    """headers: what it wants in each request; a secret."""

    scheme: str
    host: str
    port: int
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return "Proxy()"

    def __str__(self) -> str:
        """For messages: without user and password."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def proxy_at(url: str) -> Proxy:
    """The proxy at a URL. Raises RegistryError, which does not repeat the URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise RegistryError(
            "the proxy in the environment is not an http:// or https:// URL: "
            "correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
        )
    headers = {}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["proxy-authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
    return Proxy(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], headers)


def open_tunnel(stream: NetworkStream, proxy: Proxy, host: str, port: int) -> None:
    """From now on the stream, to the proxy, leads to `host:port`. Raises ProxyRefused, and what `ask` raises."""
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    head = Head("CONNECT", target, {"Host": target, "accept": "*/*", **proxy.headers})
    answer = ask(stream, head, head.encoded())
    if not 200 <= answer.status <= 299:
        raise ProxyRefused(f"{answer.status} {answer.reason}")
