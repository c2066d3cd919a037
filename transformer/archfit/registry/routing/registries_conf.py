"""registries.conf, version 2: rewriting, mirrors, insecure and blocked registries.

    [[registry]]
    prefix = "docker.io/library"                  of host/repository, whole components; the longest one counts;
                                                  or "*.example.com"; or one image, host/repository:tag or @digest;
                                                  by default the location
    location = "harbor.example/hub/library"       what stands in place of the prefix; may lack for a wildcard alone
    insecure = true                               no check of certificates, and plain HTTP where TLS is not spoken
    blocked = true                                no server is asked by such a name, but for its mirrors
    mirror-by-digest-only = true
    [[registry.mirror]]                           asked before the location, in the file's order
    location = "mirror.example/library"
    insecure = false
    pull-from-mirror = "digest-only"              all (default), digest-only, tag-only

Official images of Docker Hub are docker.io/library/NAME here. Of the file's other settings, those about short names
and credential helpers are not used. Drop-in directories are not read. A prefix without a port matches a host with one,
too. Source: containers-registries.conf(5); containers/image pkg/sysregistriesv2 (findRegistryWithParsedConfig) and
docker/docker_client.go (newDockerClient), which looks up `blocked` by the name that a server is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from archfit.base.errors import InvalidReference, UsageError
from archfit.images.reference import Reference, is_host, is_path, parse
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
    """One table. image: `:tag` or `@digest` behind the prefix. locations: of its mirrors, then its own."""

    prefix: str
    image: str
    blocked: bool
    locations: tuple[_Location, ...]

    @property
    def location(self) -> str:
        """What runtimes know the table by."""
        return self.locations[-1].host_path + self.image or self.text

    @property
    def text(self) -> str:
        """The prefix as it was written."""
        return self.prefix + self.image


class RegistriesConf:
    """The file at `path`. Raises UsageError for what cannot be understood."""

    def __init__(self, path: str) -> None:
        self._path = path
        root = toml_file.read_toml(path)
        if root.get("registries") is not None:
            raise UsageError(
                f"{path} is of version 1: write [[registry]] tables (containers-registries.conf(5))"
            )
        root.only((*_UNUSED, "registry"))
        self._registries = [_registry(table) for table in root.tables("registry")]
        prefixes = [registry.text for registry in self._registries]
        for prefix in prefixes:
            if prefixes.count(prefix) > 1:
                raise UsageError(f"{path} has two tables for the prefix {prefix!r}: write one")
        switches: dict[str, tuple[bool, bool]] = {}
        for registry in self._registries:
            own = registry.locations[-1].insecure, registry.blocked
            if switches.setdefault(registry.location, own) != own:
                raise UsageError(
                    f"{path} has two tables for the location {registry.location!r} that differ in insecure or blocked, "
                    "so that no runtime reads it: write the same into both"
                )

    def endpoints(self, reference: Reference) -> tuple[Endpoint, ...]:
        """Where to ask, in order; nothing if no table is about this image.

        Raises RegistryError where the file blocks every server, or makes a name that nobody can read.
        """
        registry = self._of(reference)
        if not registry:
            return ()
        wanted = "digest-only" if reference.digest else "tag-only"
        endpoints, blocks = list[Endpoint](), ""
        for location in registry.locations:
            if location.when not in {"all", wanted}:
                continue
            rewritten = _rewritten(reference, registry.prefix, location.host_path)
            own = self._of(rewritten)
            if own and own.blocked:
                blocks = own.text
            else:
                endpoints += _endpoints(location, rewritten.name)
        if not endpoints:
            raise RegistryError(f"{self._path} blocks {blocks}")
        return tuple(endpoints)

    def trust(self) -> Iterator[tuple[HostPort, Tls]]:
        """Host and port of every server that the file names, and how far it is trusted."""
        for registry in self._registries:
            for location in registry.locations:
                if location.host_path:
                    yield from _trust(location, f"{location.host_path}/x")

    def trust_of(self, reference: Reference) -> Iterator[tuple[HostPort, Tls]]:
        """The same for a server that only a wildcard names."""
        registry = self._of(reference)
        for location in registry.locations if registry else ():
            if not location.host_path:
                yield from _trust(location, reference.name)

    def _of(self, reference: Reference) -> _Registry | None:
        matching = (registry for registry in self._registries if _matches(registry, reference))
        return min(matching, key=lambda registry: (-len(registry.text), registry.text), default=None)


def _matches(registry: _Registry, reference: Reference) -> bool:
    prefix = registry.prefix
    if prefix.startswith("*."):
        return _bare(reference.registry).endswith(prefix[1:])
    if registry.image:
        own = f"@{reference.digest}" if reference.digest else f":{reference.tag}"
        return (reference.name, own) == (prefix, registry.image)
    return reference.name == prefix or reference.name.startswith((f"{prefix}/", f"{prefix}:"))


def _bare(host: str) -> str:
    return host.rpartition(":")[0] if re.search(r":[0-9]+$", host) else host


def _rewritten(reference: Reference, prefix: str, location: str) -> Reference:
    if not location:
        return reference
    covered = _bare(reference.registry) if prefix.startswith("*.") else prefix
    rewritten = location + reference.name[len(covered) :]
    try:
        readable = parse(rewritten)
    except InvalidReference:
        readable = reference
    if readable.name != rewritten:
        raise RegistryError(
            f"registries.conf makes {rewritten} of it, which no runtime can read: correct the location, or "
            "write the port into the prefix"
        )
    return readable.replace(tag=reference.tag, digest=reference.digest)


def _trust(location: _Location, name: str) -> Iterator[tuple[HostPort, Tls]]:
    for endpoint in _endpoints(location, name):
        yield host_port(endpoint.origin), Tls(verify=not location.insecure)


def _endpoints(location: _Location, name: str) -> Iterator[Endpoint]:
    host, _, repository = name.partition("/")
    yield at("https", host, repository)
    if location.insecure:
        yield at("http", host, repository).replace(fallback=True)


def _registry(table: TomlTable) -> _Registry:
    table.only(_REGISTRY)
    key = "prefix" if table.text("prefix") else "location"
    prefix, image = _split(table.text(key).rstrip("/"))
    if not prefix:
        table.refuse("prefix", "is missing, and so is location: write one of them")
    location = _location(table, image)
    if prefix.startswith("*."):
        if not is_host(prefix[2:]) or ":" in prefix or image:
            table.refuse("prefix", "has to be *.DOMAIN, without a path or port")
    else:
        _check(table, key, prefix)
        if not location:
            table.refuse(
                "location",
                "is missing, so that no runtime reads the file: write what stands in place of the prefix, or it again",
            )
    digests = table.switch("mirror-by-digest-only")
    mirrors = tuple(_mirror(mirror, image, digests) for mirror in table.tables("mirror"))
    own = _Location(location, table.switch("insecure"))
    return _Registry(prefix, image, table.switch("blocked"), (*mirrors, own))


def _split(text: str) -> tuple[str, str]:
    """`host/repository` and `:tag` or `@digest`, "" without one."""
    name, at_sign, digest = text.partition("@")
    if at_sign:
        return name, f"@{digest}"
    host, slash, path = text.partition("/")
    path, colon, tag = path.partition(":")
    return f"{host}{slash}{path}", f"{colon}{tag}"


def _mirror(table: TomlTable, image: str, digests: bool) -> _Location:
    table.only(_MIRROR)
    location = _location(table, image)
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


def _location(table: TomlTable, image: str) -> str:
    """The location without `image`, which it has to repeat, as the prefix with it is what the location replaces."""
    name, own = _split(table.text("location").rstrip("/"))
    if name:
        _check(table, "location", name)
        if own != image and image:
            table.refuse("location", f"has to end with {image}, as the prefix does")
        if own != image:
            table.refuse("location", "has to be without tag or digest")
    return name


def _check(table: TomlTable, key: str, text: str) -> None:
    host, slash, path = text.partition("/")
    if not is_host(host) or (slash and not is_path(path)):
        table.refuse(key, "has to be host[:port][/path], without scheme")
