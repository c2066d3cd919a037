"""Which servers the operator named, and which nobody may ask.

    named     a mirror's URL, hosts.toml, registries.conf, --allow-host, a key of the operator's credentials files
              -> may be on a private network or on loopback
    trusted   the same without the credentials files
              -> a registry elsewhere may send its credentials there for a token
    denied    --deny-host; `*` is every host that is not named

    pattern   HOST | HOST:PORT | *.DOMAIN | *.DOMAIN:PORT | *          without a port: 443

A host in a reference, in a redirect or in a challenge is never named by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from archfit.images.reference import host_and_port
from archfit.options.settings import HostPattern


class Named:
    """places: host, lower case, and port; the set may grow.

    mentioned: hosts (`host[:port]`) of the operator's credentials files; called when it is first needed.
    """

    def __init__(
        self,
        places: set[tuple[str, int]] | None = None,
        allowed: Iterable[HostPattern] = (),
        denied: Iterable[HostPattern] = (),
        mentioned: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._places = set() if places is None else places
        self._allowed = [one.replace(port=one.port or 443) for one in allowed]
        self._denied = [one for one in denied if one.name != "*"]
        self._only_named = any(one.name == "*" for one in denied)
        self._mentioned = mentioned
        self._hosts: set[tuple[str, int]] | None = None

    def add(self, place: tuple[str, int]) -> None:
        """One more server that the operator named."""
        self._places.add(place)

    def trusts(self, host: str, port: int) -> bool:
        """The operator named it as a server to be asked."""
        place = (host.lower(), port)
        return place in self._places or any(_matches(pattern, *place) for pattern in self._allowed)

    def has(self, host: str, port: int) -> bool:
        """The operator named it, if only by a credential for it."""
        if self.trusts(host, port):
            return True
        if self._hosts is None:
            self._hosts = {_place(text) for text in self._mentioned()}
        return (host.lower(), port) in self._hosts

    def denies(self, host: str, port: int) -> bool:
        """Nothing may be asked of it."""
        if any(_matches(pattern, host.lower(), port) for pattern in self._denied):
            return True
        return self._only_named and not self.has(host, port)


def _place(text: str) -> tuple[str, int]:
    """Host and port of `host[:port]` as a credentials file has it."""
    name, port = host_and_port(text)
    exists = port.isascii() and port.isdigit() and len(port) <= 5
    return name.lower().rstrip("."), int(port) if exists else 443


def _matches(pattern: HostPattern, host: str, port: int) -> bool:
    if pattern.port not in {None, port}:
        return False
    host = host.rstrip(".")
    name = pattern.name
    return host.endswith(name[1:]) if name.startswith("*.") else host == name
