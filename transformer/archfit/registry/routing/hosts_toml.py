"""containerd's host directories: where a registry's images are asked for, and how far each server is trusted.

    DIR/docker.io/hosts.toml          for docker.io
    DIR/host_5000_/, DIR/host:5000/   for host:5000, the first that exists
    DIR/_default/                     for every registry without a directory

    server = "https://registry-1.docker.io"       asked last; by default the registry itself
    [host."https://mirror.example"]               asked before it, in the file's order
      capabilities = ["pull", "resolve"]          resolve: may answer for tags, not only for digests
      ca = "ca.crt"                               a path or a list, from the directory
      client = [["client.cert", "client.key"]]    or one file with both, or a list of those
      skip_verify = true
      override_path = true                        the URL's path is the API's root; else /v2 is added to it
      [host."https://mirror.example".header]
        x-token = "secret"
      [host."https://mirror.example".rewrite]     of k3s and RKE2: a regular expression on the repository, as Go has it
        "^rancher/(.*)" = "mirror/rancher-$1"     the first that changes it counts

A directory without hosts.toml holds certificates as Docker's certs.d does: *.crt are CAs, *.cert with *.key are for
the client. Unlike containerd, archfit refuses a file with a mistake, and uses plain HTTP only where it says `http://`.
Source: containerd, docs/hosts.md and core/remotes/docker/config/hosts.go; k3s, its page on private registries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from posixpath import normpath
from urllib.parse import urlsplit

from archfit.base.errors import UsageError
from archfit.images.reference import Reference, is_host
from archfit.registry.http.trust import USUAL, HostPort, Tls, host_port
from archfit.registry.routing import toml_file
from archfit.registry.routing.endpoints import Endpoint, at, itself
from archfit.registry.routing.toml_file import TomlTable
from archfit.startup.record import Record

_DEFAULT = "_default"
_TLS_KEYS = ("ca", "client", "skip_verify")
_SERVER_KEYS = ("capabilities", *_TLS_KEYS, "override_path", "header", "dial_timeout", "rewrite")
# What archfit does is to resolve and pull; the others are of no use to it.
_CAPABILITIES = ("pull", "resolve", "push", "referrers")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII).fullmatch
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*", re.ASCII).fullmatch
_DURATION = re.compile(r"(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)?", re.ASCII).fullmatch
_BASE = re.compile(r"(?:/[A-Za-z0-9._~-]+)*", re.ASCII).fullmatch
# What RE2 knows and Python does not, or the reverse.
_FOREIGN = re.compile(r"\(\?(?!:|P<\w+>)|\\[1-9pPzQE]|[*+?}]\+|\[\[:").search
_ATOM = re.compile(r"\\.|\[\^?\]?[^\]]*\]")
# A repeat tries as many ways as a repository has letters, some 2^8; a choice, `?` or `|`, tries two.
_REPEAT = re.compile(r"(\))?[*+{]").findall
_CHOICE = re.compile(r"(?<!\()\?|\|").findall
_MOST_REPEATS = 3
_CHOICES_OF_REPEAT = 8
_WRITTEN = re.compile(r"(?!.*\.\.)[A-Za-z0-9._/-]+", re.ASCII).fullmatch
_VARIABLE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)\})", re.ASCII)
_FRAMING = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


class _Server(Record):
    """One server of a directory. host: "" is the registry itself. As in `endpoints.Endpoint` otherwise."""

    scheme: str = ""
    host: str = ""
    base: str = "/v2"
    headers: tuple[tuple[str, str], ...] = ()
    resolves: bool = True
    pulls: bool = True
    tls: Tls = USUAL
    rewrites: tuple[tuple[str, str], ...] = ()
    fallback: bool = False

    def rewritten(self, repository: str) -> str:
        """The repository that this server is asked for."""
        for pattern, replacement in self.rewrites:
            rewritten = _replaced(pattern, replacement, repository)
            if rewritten != repository:
                return rewritten
        return repository


class HostsDir:
    """All directories below one, read at once. Raises UsageError for what cannot be understood."""

    def __init__(self, folder: str) -> None:
        self._of: dict[str, tuple[_Server, ...]] = {}
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise UsageError(
                f"the hosts directory {folder} cannot be read ({error.strerror}): name one that can be"
            ) from None
        for name in names:
            inner = os.path.join(folder, name)
            if not name.startswith(".") and os.path.isdir(inner):
                # `host_5000_` is `host:5000`, and is looked at before a directory of that name.
                registry = re.sub(r"^(.+)_([0-9]{1,5})_\Z", r"\1:\2", name.lower())
                if ":" not in name or registry not in self._of:
                    self._of[registry] = tuple(_servers(inner))

    def endpoints(self, reference: Reference) -> tuple[Endpoint, ...]:
        """Where to ask, in order; nothing if no directory is about this registry."""
        registry = reference.registry.lower()
        own = registry in self._of
        return tuple(
            _endpoint(server, reference, own) for server in self._of.get(registry if own else _DEFAULT, ())
        )

    def trust(self) -> Iterator[tuple[HostPort, Tls]]:
        """Host and port of every server that the directories name, and how far it is trusted."""
        for registry, servers in self._of.items():
            for server in servers:
                if server.host or registry != _DEFAULT:
                    endpoint = at(server.scheme or "https", server.host or registry, "x")
                    yield host_port(endpoint.origin), server.tls


def _endpoint(server: _Server, reference: Reference, named: bool) -> Endpoint:
    own = itself(reference, configured=named)
    endpoint = at(server.scheme, server.host, reference.repository) if server.host else own
    namespace = "" if endpoint.host.lower() == own.host.lower() else reference.registry
    inner = server.base.removeprefix("/v2/") if server.base.startswith("/v2/") else ""
    repository = server.rewritten(reference.repository)
    return endpoint.replace(
        repository=f"{inner}/{repository}" if inner else repository,
        base="/v2" if inner else server.base,
        namespace=namespace,
        headers=server.headers,
        resolves=server.resolves,
        pulls=server.pulls,
        fallback=server.fallback,
    )


def _servers(folder: str) -> Iterator[_Server]:
    path = os.path.join(folder, "hosts.toml")
    if not os.path.exists(path):
        yield _Server(tls=_certificates(folder))
        return
    root = toml_file.read_toml(path)
    root.only((*_SERVER_KEYS, "server", "host"))
    for url, table in root.named("host"):
        table.only(_SERVER_KEYS)
        yield from _both(_server(url, table, folder), table)
    server = root.text("server")
    if server:
        yield from _both(_server(server, root, folder), root)
    else:
        _can(root)  # the registry itself always has all capabilities
        yield _Server(headers=_headers(root), tls=_tls(root, folder))


def _both(server: _Server, table: TomlTable) -> Iterator[_Server]:
    """The server; for `http://` with settings of TLS, it is asked with TLS first, as containerd does."""
    says_tls = any(key in _TLS_KEYS for key in table)
    if server.scheme == "http" and says_tls and not server.host.endswith(":80"):
        yield server.replace(scheme="https")
        server = server.replace(fallback=True)
    yield server


def _can(table: TomlTable) -> list[str]:
    """What a server can do. Raises UsageError for what makes containerd read nothing of the file."""
    can = [word.lower() for word in table.texts("capabilities")] or list(_CAPABILITIES)
    for word in can:
        if word not in _CAPABILITIES:
            table.refuse("capabilities", f"has to be of {', '.join(_CAPABILITIES)}")
    if not _DURATION(table.text("dial_timeout")):
        table.refuse("dial_timeout", "has to be a duration such as 3s")
    return can


def _server(url: str, table: TomlTable, folder: str) -> _Server:
    can = _can(table)
    parts = urlsplit(url if url.startswith("http") else f"https://{url}")
    path = normpath(parts.path) if parts.path not in {"", "/"} else ""
    good = parts.scheme in {"http", "https"} and not parts.query and not parts.fragment and _BASE(path)
    if not good or not is_host(parts.netloc):
        table.refuse(
            "server" if not table.where else "the URL",
            "has to be https://HOST[:PORT][/PATH], without query or user",
        )
    if not table.switch("override_path") and not path.endswith("/v2"):
        path += "/v2"
    return _Server(
        parts.scheme,
        parts.netloc.lower(),
        path,
        _headers(table),
        "resolve" in can,
        "pull" in can,
        _tls(table, folder),
        tuple(_rewrites(table)),
    )


def _rewrites(table: TomlTable) -> Iterator[tuple[str, str]]:
    """(pattern, replacement). Raises UsageError for a pattern that is none, or that may take long."""
    rewrite = table.inner("rewrite", "regular expressions and what replaces them")
    for pattern in rewrite:
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError):
            rewrite.refuse(repr(pattern), "is no regular expression: correct it")
        plain = _ATOM.sub("a", pattern)
        repeats = _REPEAT(plain)
        weight = len(repeats) + len(_CHOICE(plain)) / _CHOICES_OF_REPEAT
        if _FOREIGN(pattern) or any(repeats) or weight > _MOST_REPEATS:
            rewrite.refuse(
                repr(pattern),
                "is more than archfit matches in bounded time, as the runtime does: write it with groups that are not "
                f"repeated, and at most {_MOST_REPEATS} of * + {{..}}; {_CHOICES_OF_REPEAT} of ? | count as one",
            )
        if not _WRITTEN(_VARIABLE.sub("a", rewrite.text(pattern))):
            rewrite.refuse(repr(pattern), "has to be replaced by a repository, with $1 for the first group")
        yield pattern, rewrite.text(pattern)


def _replaced(pattern: str, replacement: str, text: str) -> str:
    """As Go's regexp.ReplaceAllString: an empty match behind another match is none."""

    def value(match: re.Match[str]) -> str:
        def group(variable: re.Match[str]) -> str:
            name = variable[2] or variable[3]
            if variable[1]:
                return "$"
            try:
                return match[int(name) if name.isdecimal() else name] or ""
            except IndexError:
                return ""

        return _VARIABLE.sub(group, replacement)

    parts, end = list[str](), -1
    for match in re.finditer(pattern, text):
        if match.start() == match.end() == end:
            continue
        parts += (text[max(end, 0) : match.start()], value(match))
        end = match.end()
    return "".join((*parts, text[max(end, 0) :]))


def _headers(table: TomlTable) -> tuple[tuple[str, str], ...]:
    headers = table.inner("header", "names and values")
    pairs = []
    for name in headers:
        value = ", ".join(headers.texts(name))
        if not _HEADER_NAME(name) or name.lower() in _FRAMING or not _HEADER_VALUE(value):
            headers.refuse(name, "is not a header that can be sent: correct the name or the value")
        pairs.append((name.lower(), value))
    return tuple(pairs)


def _tls(table: TomlTable, folder: str) -> Tls:
    ca = tuple(os.path.join(folder, path) for path in table.texts("ca"))
    given = table.get("client")
    given = [given] if isinstance(given, str) else given if given is not None else []
    pairs = []
    for item in given if isinstance(given, list) else [None]:
        pair = [item, ""] if isinstance(item, str) else item
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            table.refuse("client", "has to be a path, a list of paths, or a list of pairs [certificate, key]")
        pairs.append((os.path.join(folder, pair[0]), os.path.join(folder, pair[1]) if pair[1] else ""))
    for key, paths in (("ca", ca), ("client", [path for pair in pairs for path in pair if path])):
        for path in paths:
            if not os.path.exists(path):
                table.refuse(key, f"there is no file {path!r}: correct the path")
    return Tls(ca, tuple(pairs), verify=not table.switch("skip_verify"))


def _certificates(folder: str) -> Tls:
    """The certificates of a directory as in Docker's certs.d. Raises UsageError for half a pair."""
    names = sorted(os.listdir(folder))
    ca = tuple(os.path.join(folder, name) for name in names if name.endswith(".crt"))
    pairs = []
    for name in names:
        stem, dot, ending = name.rpartition(".")
        if dot and ending in {"cert", "key"}:
            other = f"{stem}.{'key' if ending == 'cert' else 'cert'}"
            if other not in names:
                raise UsageError(
                    f"{os.path.join(folder, name)} is one half of a client certificate: add {other}"
                )
            if ending == "cert":
                pairs.append((os.path.join(folder, name), os.path.join(folder, other)))
    return Tls(ca, tuple(pairs))
