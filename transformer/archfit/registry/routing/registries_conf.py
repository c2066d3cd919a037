"""registries.conf, version 2: rewriting, mirrors, insecure and blocked registries.

    [[registry]]
    prefix = "docker.io/library"                  of host/repository, whole components; the longest one counts;
                                                  or "*.example.com"; by default the location
    location = "harbor.example/hub/library"       what stands in place of the prefix; by default the prefix
    insecure = true                               no check of certificates, and plain HTTP where TLS is not spoken
    blocked = true
    mirror-by-digest-only = true
    [[registry.mirror]]                           asked before the location, in the file's order
    location = "mirror.example/library"
    insecure = false
    pull-from-mirror = "digest-only"              all (default), digest-only, tag-only

Official images of Docker Hub are docker.io/library/NAME here. Of the file's other settings, those about short names
and credential helpers are not used. Drop-in directories are not read. Source: containers-registries.conf(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from archfit.base.errors import UsageError
from archfit.images.reference import Reference, is_host, is_path
from archfit.registry.http.trust import HostPort, Tls, host_port
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing import toml_file
from archfit.registry.routing.endpoints import Endpoint, at
from archfit.registry.routing.toml_file import TomlTable
from archfit.startup.record import Record

_UNUSED = (
    "unqualified-search-registries",
    "short-name-mode",
    "aliases",
    "credential-helpers",
    "additional-layer-store-auth-helper",
)
_LOCATION = ("location", "insecure")
_REGISTRY = (*_LOCATION, "prefix", "blocked", "mirror-by-digest-only", "mirror")
_MIRROR = (*_LOCATION, "pull-from-mirror")
_WHEN = ("all", "digest-only", "tag-only")


class _Location(Record):
    """host_path: `host[/path]`, "" leaves the name as it is. when: one of `_WHEN`."""

    host_path: str
    insecure: bool
    when: str = "all"


class _Registry(Record):
    """One table. locations: of its mirrors, then its own."""

    prefix: str
    blocked: bool
    locations: tuple[_Location, ...]


class RegistriesConf:
    """The file at `path`. Raises UsageError for what cannot be understood."""

    def __init__(self, path: str) -> None:
        self._path = path
        root = toml_file.read(path)
        if root.get("registries") is not None:
            raise UsageError(
                f"{path} is of version 1: write [[registry]] tables (containers-registries.conf(5))"
            )
        root.only((*_UNUSED, "registry"))
        self._registries = [_registry(table) for table in root.tables("registry")]
        prefixes = [registry.prefix for registry in self._registries]
        for prefix in prefixes:
            if prefixes.count(prefix) > 1:
                raise UsageError(f"{path} has two tables for the prefix {prefix!r}: write one")

    def check(self, reference: Reference) -> None:
        """Raises RegistryError where the file blocks the image."""
        found = self._of(reference)
        if found and found.blocked:
            raise RegistryError(f"{self._path} blocks {found.prefix}")

    def endpoints(self, reference: Reference) -> tuple[Endpoint, ...]:
        """Where to ask, in order; nothing if no table is about this image."""
        found = self._of(reference)
        if not found:
            return ()
        wanted = "digest-only" if reference.digest else "tag-only"
        return tuple(
            endpoint
            for location in found.locations
            if location.when in {"all", wanted}
            for endpoint in _endpoints(location, _rewritten(reference, found.prefix, location.host_path))
        )

    def trust(self) -> Iterator[tuple[HostPort, Tls]]:
        """Host and port of every server that the file names, and how far it is trusted."""
        for registry in self._registries:
            for location in registry.locations:
                if location.host_path:
                    for endpoint in _endpoints(location, f"{location.host_path}/x"):
                        yield host_port(endpoint.origin), Tls(verify=not location.insecure)

    def trust_of(self, reference: Reference) -> Iterator[tuple[HostPort, Tls]]:
        """The same for a server that only a wildcard names."""
        found = self._of(reference)
        for location in found.locations if found else ():
            if not location.host_path:
                for endpoint in _endpoints(location, reference.name):
                    yield host_port(endpoint.origin), Tls(verify=not location.insecure)

    def _of(self, reference: Reference) -> _Registry | None:
        matching = [registry for registry in self._registries if _matches(registry.prefix, reference)]
        return max(matching, key=lambda registry: _length(registry.prefix, reference), default=None)


def _matches(prefix: str, reference: Reference) -> bool:
    if prefix.startswith("*."):
        return _bare(reference.registry).endswith(prefix[1:])
    return f"{reference.name}/".startswith(f"{prefix}/")


def _length(prefix: str, reference: Reference) -> int:
    """How much of the name a matching prefix covers."""
    return len(_bare(reference.registry)) if prefix.startswith("*.") else len(prefix)


def _bare(host: str) -> str:
    return host.rpartition(":")[0] if re.search(r":[0-9]+$", host) else host


def _rewritten(reference: Reference, prefix: str, location: str) -> str:
    if not location:
        return reference.name
    covered = reference.registry if prefix.startswith("*.") else prefix
    return location + reference.name[len(covered) :]


def _endpoints(location: _Location, name: str) -> Iterator[Endpoint]:
    host, _, repository = name.partition("/")
    yield at("https", host, repository)
    if location.insecure:
        yield at("http", host, repository).replace(fallback=True)


def _registry(table: TomlTable) -> _Registry:
    table.only(_REGISTRY)
    location = _location(table, "location")
    prefix = table.text("prefix") or location
    if not prefix:
        table.refuse("prefix", "is missing, and so is location: write one of them")
    if prefix.startswith("*."):
        if not is_host(prefix[2:]) or ":" in prefix:
            table.refuse("prefix", "has to be *.DOMAIN, without a path or port")
    else:
        _check(table, "prefix", prefix)
        location = location or prefix
    digests = table.switch("mirror-by-digest-only")
    mirrors = tuple(_mirror(mirror, digests) for mirror in table.tables("mirror"))
    own = _Location(location, table.switch("insecure"))
    return _Registry(prefix, table.switch("blocked"), (*mirrors, own))


def _mirror(table: TomlTable, digests: bool) -> _Location:
    table.only(_MIRROR)
    location = _location(table, "location")
    if not location:
        table.refuse("location", "is missing: write host[:port][/path]")
    when = table.text("pull-from-mirror")
    if when and when not in _WHEN:
        table.refuse("pull-from-mirror", f"has to be one of {', '.join(_WHEN)}")
    if when and digests:
        table.refuse(
            "pull-from-mirror", "contradicts mirror-by-digest-only of its registry: write one of them"
        )
    return _Location(location, table.switch("insecure"), when or ("digest-only" if digests else "all"))


def _location(table: TomlTable, key: str) -> str:
    text = table.text(key)
    if text:
        _check(table, key, text)
    return text


def _check(table: TomlTable, key: str, text: str) -> None:
    host, slash, path = text.partition("/")
    if not is_host(host) or (slash and not is_path(path)):
        table.refuse(key, "has to be host[:port][/path], without scheme, tag or digest")
