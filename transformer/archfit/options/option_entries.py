"""Entries of the options that are lists, and the cache server: a run without such options loads none of them.

Seven records take 0.15 ms, a fiftieth of what Python itself takes to start.
"""

from __future__ import annotations

from archfit.startup.record import Record


class Match(Record):
    """Which pods a rule is about. Globs as in fnmatch; "" matches all; every label has to be there."""

    namespace: str = ""
    kind: str = ""
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()


class Rule(Record):
    """One entry of `rules:`: gradual roll-out. None leaves the option as it is for the whole run.

    offered: `only` narrows where all images of the pod run on one of its architectures, and changes nothing elsewhere.
    """

    match: Match
    only: tuple[str, ...] | None = None
    tolerate: bool | None = None
    prefer: tuple[tuple[str, int], ...] | None = None
    skip: bool | None = None
    offered: bool = False


class Exclude(Record):
    """Workloads that are left alone. Globs as in fnmatch; "" matches all."""

    kind: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


class Mirror(Record):
    """Lookups of `source`, a registry host of a normalised reference or "*", go to another server.

    scheme: http or https. host: `host[:port]`, lower case. prefix: in front of the repository, without slashes at
    its ends.
    """

    source: str
    scheme: str
    host: str
    prefix: str = ""


class CacheServer(Record):
    """A Redis or Valkey server. Its text has no user, so that it can be shown. host: without brackets."""

    tls: bool
    host: str
    port: int = 6379
    database: int = 0
    user: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis{'s' if self.tls else ''}://{host}:{self.port}/{self.database}"


class HostPattern(Record):
    """Servers that the operator allows or denies. name: a host, `*.DOMAIN` or `*`, lower case, without brackets."""

    name: str
    port: int | None = None


class RequestRate(Record):
    """How often a server may be asked. host: of a normalised reference, or "*" for each server without a row."""

    host: str
    per_second: float
