"""One HTTP request, and what comes of it: a Reply, or Unreachable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from archfit.base.printable import visible
from archfit.registry.http.trust import DEFAULT_PORTS, shown
from archfit.registry.registry_errors import RegistryError
from archfit.startup.record import Record


class Request(Record):
    """kind: manifest, head, blob (a config), layer, list (of tags), token or ping.

    headers: lower-case names; their values may be secrets and are not shown.
    home: origin of the registry that the request is for; the URL may lead to another server.
    limit: the most bytes that the answer's body may have. content: the body, of a POST.
    retry: it is sent again where that may help; if not, the caller has another server to ask, and what broke off alone
    is sent once more.
    take: gets the body of a 200 as it comes, instead of the Reply; what it leaves is not read. Called again for a body
    that broke off.
    """

    kind: str
    method: str
    url: str
    headers: Mapping[str, str]
    home: str
    limit: int
    content: bytes = b""
    retry: bool = True
    take: Callable[[Iterable[bytes]], None] | None = None

    def __repr__(self) -> str:
        return f"Request({self.method} {self.origin})"

    @property
    def origin(self) -> str:
        """Origin of the URL. Raises RegistryError for no http or https URL."""
        return origin_of(self.url)

    @property
    def other_host(self) -> bool:
        """Its server is not the registry's own: a redirect or a token service on another host."""
        return self.origin != self.home


class Reply(Record):
    """An answer. headers: lower-case names, repeated ones joined by ", ". url: what was asked, after redirects.

    challenges: the WWW-Authenticate headers, each by itself.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    challenges: tuple[str, ...] = ()


def reason(error: BaseException) -> str:
    """The error's own words, short and printable."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return visible(str(text)[:200]).rstrip(".")


def late(server: str) -> str:
    """The message for a server that has not answered when the run's time is over."""
    return f"{server} gave no answer before the deadline: try again, or allow more with --timeout"


class Unreachable(RegistryError):
    """No HTTP answer. retryable: asking once more may help. mistake: of configuration, as for any RegistryError."""

    def __init__(self, message: str, *, retryable: bool, mistake: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.mistake = mistake


class Broken(Unreachable):
    """The connection broke off, as it does where a balancer of load turns to another server: the next may stay."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


class TooLarge(RegistryError):
    """An answer above its limit. status: its HTTP status."""


class NoTls(Unreachable):
    """The server speaks plain http, probably. server: as it is written in `--mirror`."""

    def __init__(self, server: str, remedy: str = "") -> None:
        remedy = remedy or f"write --mirror {server}=http://{server}"
        super().__init__(
            f"{server} answers without TLS. If it serves plain http, {remedy}", retryable=False, mistake=True
        )
        self.server = server


def origin_of(url: str) -> str:
    """`scheme://host[:port]`, lower case, without a default port (RFC 6454, section 4).

    Raises RegistryError for no http or https URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise RegistryError("the registry leads to something that is not an http or https URL: refused")
    usual = DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{shown(host, port or usual, usual)}"
