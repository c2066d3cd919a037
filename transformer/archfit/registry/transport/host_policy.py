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

EVERY = "*"


class Named:
    """places: host, lower case, and port; the set may grow.

    mentioned: hosts (`host[:port]`) of the operator's credentials files; called when it is first needed.
    """

    def __init__(
        self,
        places: set[tuple[str, int]] | None = None,
        allowed: Iterable[str] = (),
        denied: Iterable[str] = (),
        mentioned: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._places = set() if places is None else places
        self._allowed = [_pattern(text) for text in allowed]
        self._denied = [_pattern(text, port=None) for text in denied if text != EVERY]
        self._only_named = EVERY in denied
        self._mentioned = mentioned
        self._hosts: set[tuple[str, int | None]] | None = None

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
            self._hosts = {_pattern(text) for text in self._mentioned()}
        return (host.lower(), port) in self._hosts

    def denies(self, host: str, port: int) -> bool:
        """Nothing may be asked of it."""
        if any(_matches(pattern, host.lower(), port) for pattern in self._denied):
            return True
        return self._only_named and not self.has(host, port)


def _pattern(text: str, port: int | None = 443) -> tuple[str, int | None]:
    name, colon, number = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        name = text
    elif number.isascii() and number.isdigit() and len(number) <= 5:
        port = int(number)
    return name.strip("[]").lower().rstrip("."), port


def _matches(pattern: tuple[str, int | None], host: str, port: int) -> bool:
    name, wanted = pattern
    if wanted not in {None, port}:
        return False
    host = host.rstrip(".")
    return host.endswith(name[1:]) if name.startswith("*.") else host == name
