"""Which proxy a request goes through, by the usual environment variables, in lower or upper case.

    HTTPS_PROXY, HTTP_PROXY     the proxy of that scheme; a URL without scheme is http
    ALL_PROXY                   where that one is not set
    NO_PROXY                    comma-separated; never through a proxy: `*` (all), `example.com` and `.example.com`
                                (the name and what is below it), `host:port`, a literal address, and for literal
                                addresses a network as 10.0.0.0/8

localhost and loopback addresses are never asked through a proxy, as Go's programs (containerd, crane, Helm) do it.

Upper-case HTTP_PROXY is ignored beside REQUEST_METHOD, where a web client could have set it (CVE-2016-5385).

    http://user:password@proxy.example:3128     Proxy-Authorization: Basic ..     the port is 80 or 443 by default
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from archfit.registry.http.trust import DEFAULT_PORTS, shown
from archfit.registry.registry_errors import RegistryError
from archfit.startup.record import Record


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
        return f"{self.scheme}://{shown(self.host, self.port)}"


def proxy_at(url: str) -> Proxy:
    """The proxy at a URL. Raises RegistryError, which repeats of the URL what cannot be a secret."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    # With an @ behind it, what looks like the host is a part of the password.
    cut = "@" in parts.path + parts.query + parts.fragment
    if parts.scheme not in DEFAULT_PORTS or not host or cut:
        socks = parts.scheme in {"socks", "socks4", "socks4a", "socks5", "socks5h"}
        scheme = f" (it begins with {parts.scheme}://, which archfit does not speak)" if socks else ""
        raise RegistryError(
            f"the proxy in the environment is not an http:// or https:// URL{scheme}: "
            "correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
        )
    headers = {}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["proxy-authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
    return Proxy(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], headers)


def proxy_for(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> str:
    """URL of the proxy for a request to `host:port`, "" if it goes out directly."""
    proxy = _variable(f"{scheme}_proxy", environ) or _variable("all_proxy", environ)
    name = host.strip("[]").lower()
    if not proxy or _is_loopback(name) or _excepted(name, port, _variable("no_proxy", environ)):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def variable_of(scheme: str, environ: Mapping[str, str]) -> str:
    """The name of the variable that gives the proxy, as the user wrote it."""
    names = [f"{scheme}_proxy", "all_proxy"]
    name = next(name for name in names if _variable(name, environ))
    return name if environ.get(name, "").strip() else name.upper()


def _variable(name: str, environ: Mapping[str, str]) -> str:
    lower = environ.get(name, "").strip()
    if lower or (name == "http_proxy" and "REQUEST_METHOD" in environ):
        return lower
    return environ.get(name.upper(), "").strip()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _excepted(host: str, port: int, listed: str) -> bool:
    for entry in listed.lower().split(","):
        name = entry.strip()
        if name == "*":
            return True
        if name.endswith(f":{port}"):
            name = name.removesuffix(f":{port}")
        name = name.strip("[]").removeprefix("*").lstrip(".")
        if name and (host == name or host.endswith(f".{name}") or _inside(host, name)):
            return True
    return False


def _inside(host: str, network: str) -> bool:
    if "/" not in network:
        return False
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
