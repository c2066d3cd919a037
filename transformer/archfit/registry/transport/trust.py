"""How far a server's TLS is trusted, for each server by itself.

    hosts.toml        ca, client, skip_verify
    certs.d           *.crt (CAs), *.cert with *.key (client certificates)
    registries.conf   insecure

What several files say of one server adds up. It holds for that host and port alone: never for what it redirects to,
nor for its token service elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from archfit.record import Record

Place: TypeAlias = tuple[str, int]


class Tls(Record):
    """ca: paths of PEM files, beside the usual CAs. client: paths of certificate and key, "" where one file has both.

    verify: certificate and name are checked.
    """

    ca: tuple[str, ...] = ()
    client: tuple[tuple[str, str], ...] = ()
    verify: bool = True


USUAL = Tls()


class Trust:
    """Of all servers of a run. ca_file: path of a PEM file that counts beside the usual CAs, "" for none.

    servers: those that are not trusted in the usual way. careless: URLs that were asked without care; see `warnings`.
    """

    def __init__(self, servers: Mapping[Place, Tls] | None = None, ca_file: str = "") -> None:
        self.servers: Mapping[Place, Tls] = {} if servers is None else servers
        self.ca_file = ca_file
        self.careless: set[str] = set()

    def of(self, host: str, port: int) -> Tls:
        """How far this server is trusted."""
        return self.servers.get((host.lower(), port), USUAL)

    def warnings(self) -> list[str]:
        """What was asked without knowing who answers."""
        return [
            f"{url} is asked without checking who answers, as it is configured to be insecure: "
            "whoever is on the way can say anything"
            for url in sorted(self.careless)
        ]


def added(known: Mapping[Place, Tls], more: Iterable[tuple[Place, Tls]]) -> dict[Place, Tls]:
    """`known` with what `more` says."""
    found = dict(known)
    for place, tls in more:
        before = found.get(place, USUAL)
        both = Tls(
            tuple(dict.fromkeys((*before.ca, *tls.ca))),
            tuple(dict.fromkeys((*before.client, *tls.client))),
            before.verify and tls.verify,
        )
        if both != USUAL:
            found[place] = both
    return found
