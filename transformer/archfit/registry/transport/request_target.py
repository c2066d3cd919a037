"""A URL as a request needs it: which server, what its Host header says, and the target of the request line.

    https://Example.com:5000/v2/a b/../c?d=é#e      https, example.com, 5000, "example.com:5000", "/v2/c?d=%C3%A9"

Dot segments are removed; what RFC 3986 does not allow in a path or a query is percent-encoded, and escapes that are
there stay as they are (RFC 3986, sections 2.1, 3.3, 5.2.4; RFC 9112, section 3.2.1). So it is with a
host's name; an international one becomes that of DNS (RFC 5891, so `faß.de` is not `fass.de`).
"""

from __future__ import annotations

import ipaddress
from urllib.parse import quote, urlsplit

from archfit.record import Record
from archfit.registry.transport.host_port import DEFAULT_PORTS

_LONGEST = 64 * 1024
# What WHATWG's URL standard leaves as it is in a query and in a path.
_IN_QUERY = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"#<>')
_IN_PATH = "".join(character for character in _IN_QUERY if character not in "?`{}")
# What httpx leaves as it is in a name; a blank in it would end the target of a request line too early.
_IN_HOST = "!$&'()*+,;=\"`{}%|\\"


class RequestTarget(Record):
    """host: without brackets, lower case, ASCII. authority: host and port as the Host header has them."""

    scheme: str
    host: str
    port: int
    authority: str
    target: str


def request_target(url: str) -> RequestTarget:
    """The parts of an http or https URL. Raises ValueError where it is none, or one that no request can have."""
    if len(url) > _LONGEST or holds_control(url):
        raise ValueError("a URL that is too long, or that holds a control character")
    parts = urlsplit(url)
    default = DEFAULT_PORTS[parts.scheme]
    host, port = _host(parts.netloc.rpartition("@")[2], parts.hostname or ""), parts.port or default
    shown = f"[{host}]" if ":" in host else host
    target = quote(_without_dots(parts.path), safe=_IN_PATH) or "/"
    if parts.query or url.partition("#")[0].endswith("?"):
        target = f"{target}?{quote(parts.query, safe=_IN_QUERY)}"
    return RequestTarget(parts.scheme, host, port, shown if port == default else f"{shown}:{port}", target)


def holds_control(text: str) -> bool:
    """It has an ASCII control character, which `urllib.parse` would drop or keep in silence."""
    return min(text, default=" ") < " " or "\x7f" in text


def _host(written: str, name: str) -> str:
    if written.startswith("["):
        return str(ipaddress.IPv6Address(name)) and name
    if not name:
        raise ValueError("a URL without a host")
    if name.replace(".", "").isdigit() and name.count(".") == 3:
        ipaddress.IPv4Address(name)
    if name.isascii():
        return quote(name, safe=_IN_HOST)
    import idna  # 3 ms, for names that are seldom

    return idna.encode(name).decode("ascii")


def _without_dots(path: str) -> str:
    segments = path.split("/")
    if "." not in segments and ".." not in segments:
        return path
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if kept not in ([], [""]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)
