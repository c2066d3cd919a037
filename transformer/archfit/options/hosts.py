"""Registry hosts and the cache server: which registry's lookups go where, which servers count, how often one is asked.

    mirror  = source "=" url
    source  = "*" | host [ ":" port ]            as in a normalised reference: docker.io
    url     = ( "http" | "https" ) "://" host [ ":" port ] *( "/" component )
    pattern = host [ ":" port ] | "*." host [ ":" port ] | "*"        `*` where servers are denied
    rate    = ( "*" | host [ ":" port ] ) "=" number                  `*` is each server without a row of its own
    number  = 0.01 to 10000                                           requests a second, such as 5 or 0.5
    cache   = path | "redis" [ "s" ] "://" [ user "@" ] host [ ":" port ] [ "/" database ]       6379, 0; rediss is TLS

The path of a URL is a repository prefix, as `location` in containers-registries.conf(5): with
docker.io=https://harbor.example/hub nginx is asked for at https://harbor.example/v2/hub/library/nginx. No message
repeats a part of the text in which a user name or password may stand; a password in the URL of a cache is an error:
lists of processes would show it.
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.images.reference import HUB_NAMES, host_and_port, is_host, is_path
from archfit.options.option_types import (
    FILE,
    TEXT,
    file_path,
    mapping_of,
    member_of,
    pair_of,
    single,
    texts_of,
)
from archfit.options.settings import CacheServer, HostPattern, Mirror, RequestRate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")


def registry_host(text: str) -> str:
    """A registry host as normalised references have it, or `*`. Raises Problem."""
    if "@" in text or "/" in text:  # perhaps the start of a URL, and with it a password: never repeated
        raise Problem(
            "the part before '=' is not a registry host: write it as in 'docker.io=https://hub.example'"
        )
    if text != "*" and not is_host(text):
        raise Problem(
            f"{text!r} is not a registry host: write one as 'docker.io' or 'host:5000', or '*' for all"
        )
    if text.lower() in HUB_NAMES - {"docker.io"}:
        raise Problem(f"{text!r} is called 'docker.io' in references: write 'docker.io'")
    return text.lower()


def _of_host(parse: Callable[[str, str], T], host: str, value: object) -> T:
    """A member of a mapping. Raises Problem, without a key that is no host: a password may stand in it."""
    registry_host(host)
    return member_of(parse, host, value)


def mirror(source: str, url: str) -> Mirror:
    """Where lookups of `source` go. Raises Problem, which never repeats a secret."""
    source = registry_host(source)
    of = f"the URL for {source!r}"
    scheme, colon, rest = url.partition("://")
    if not colon or scheme not in {"http", "https"}:
        raise Problem(
            f"{of} is not one: write it with http:// or https://, as '{source}=https://hub.example/proxy'"
        )
    if "@" in rest:
        raise Problem(f"{of} holds a user name or password: write it without, and put those in --authfile")
    if "?" in rest or "#" in rest:
        raise Problem(f"{of} has a query or fragment: write host and path alone")
    host, _slash, path = rest.partition("/")
    path = path.rstrip("/")
    if not is_host(host):
        raise Problem(f"{of} has no valid host: write it as 'https://hub.example/proxy'")
    if path == "v2":
        raise Problem(f"{of} ends in '/v2', which is added to it: write {scheme + '://' + host!r}")
    if path and not is_path(path):
        raise Problem(
            f"{of} has a path that is not a repository prefix: write lower-case names, as in '/hub/proxy'"
        )
    return Mirror(source, scheme, host.lower(), path)


mirror_pair = pair_of(
    mirror, "a mirror needs a registry and a URL: write it as 'docker.io=https://hub.example/proxy'"
)
MIRRORS = mapping_of(
    mirror_pair,
    lambda source, url: _of_host(mirror, source, url),
    lambda row: row.source,
    "docker.io: 'https://hub.example/proxy'",
    {"additionalProperties": {"type": "string", "pattern": "^https?://[^@?#]+$"}},
    "Mirror",
    "str",
)


def host_pattern(text: str, *, every: bool = False) -> HostPattern:
    """One pattern of the grammar above; `*` only with `every`. Raises Problem."""
    if "@" in text or "/" in text:  # perhaps a URL, and with it a password
        raise Problem("is not a host: write it as 'harbor.corp.example:8443', without scheme and path")
    if every and text == "*":
        return HostPattern("*")
    if is_host(text.removeprefix("*.")):
        name, port = host_and_port(text.lower())
        return HostPattern(name, int(port) if port else None)
    raise Problem(
        f"{text!r} is not a host: write it as 'harbor.corp.example', 'localhost:5000' or '*.corp.example'"
    )


ALLOWED_HOSTS = texts_of(
    host_pattern,
    {"type": "string", "pattern": "^[^/@ ]+$"},
    "harbor.corp.example, '*.corp.example'",
    "HostPattern",
)
DENIED_HOSTS = texts_of(lambda text: host_pattern(text, every=True), TEXT, "'*.example.com'", "HostPattern")

_SLOWEST, _FASTEST = 0.01, 10_000.0
_NUMBER = r"[0-9]{1,5}(?:\.[0-9]{1,3})?"


def request_rate(host: str, number: str) -> RequestRate:
    """One rate; its host is one of a normalised reference. Raises Problem."""
    import re

    host = registry_host(host).removesuffix(":443")
    value = float(number) if re.fullmatch(_NUMBER, number, re.ASCII) else 0.0
    if not _SLOWEST <= value <= _FASTEST:
        raise Problem(f"{number!r} is not a number of requests a second: write one from 0.01 to 10000, as 5")
    return RequestRate(host, value)


RATES = mapping_of(
    pair_of(request_rate, "a rate needs a registry's host and a number: write it as 'docker.io=5'"),
    lambda host, number: _of_host(request_rate, host, str(number) if isinstance(number, float) else number),
    lambda row: row.host,
    "docker.io: 5",
    {"additionalProperties": {"type": "number", "minimum": _SLOWEST, "maximum": _FASTEST}},
    "RequestRate",
    "float",
)

# Not the grammar of registries: names of containers, which serve as hosts here, have underscores.
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?|\[[a-fA-F0-9:.]+\]"
_URL = rf"redis(s?)://(?:([^@/?#:\s]+)@)?({_HOST})(?::([0-9]{{1,5}}))?(?:/([0-9]{{1,4}})?)?"
_EXAMPLE = "'redis://cache.example:6379/0'"


def cache_path(text: str) -> str | CacheServer:
    """The path of a file, or a server. Raises Problem, which never repeats a user or password."""
    if text.startswith(("redis:", "rediss:")) and "://" not in text:
        raise Problem(f"begins as a URL without its two slashes: write it as {_EXAMPLE}, or a path behind ./")
    return _server(text) if "://" in file_path(text) else text


def _server(text: str) -> CacheServer:
    import re  # the table of options is loaded for every option, and most name no server

    scheme, _, rest = text.partition("://")
    if scheme not in {"redis", "rediss"}:
        raise Problem(f"{scheme!r} is not the scheme of a cache: write a path, or a URL as {_EXAMPLE}")
    if "@" in rest and ":" in rest.rpartition("@")[0]:
        raise Problem(
            "has a password in it, which others can see: put it into ARCHFIT_CACHE_PASSWORD or the file of "
            "--cache-password-file, and leave it out here"
        )
    parts = re.fullmatch(_URL, text, re.ASCII)
    if parts is None or not 0 < int(parts[4] or 6379) <= 65535:
        shown = re.split("[?#]", f"{scheme}://{rest.rpartition('@')[2]}")[0]
        raise Problem(f"{shown!r} is not the URL of a cache: write it as {_EXAMPLE}")
    return CacheServer(
        bool(parts[1]), parts[3].strip("[]"), int(parts[4] or 6379), int(parts[5] or 0), parts[2] or ""
    )


CACHE = single(cache_path, TEXT, "str | CacheServer", FILE)
