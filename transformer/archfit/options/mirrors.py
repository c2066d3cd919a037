"""Mirrors: which registry's lookups go where.

    mirror  = source "=" url
    source  = "*" | host [ ":" port ]            as in a normalised reference: docker.io
    url     = ( "http" | "https" ) "://" host [ ":" port ] *( "/" component )

The path is a repository prefix, as `location` in containers-registries.conf(5):

    docker.io=https://harbor.example/hub    asks https://harbor.example/v2/hub/library/nginx/manifests/1.27

No message repeats a part of the text in which a user name or password may stand.
"""

from __future__ import annotations

import re

from archfit.options.settings import Mirror
from archfit.options.syntax import Problem

_HOST = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"


def registry_host(text: str) -> str:
    """A registry host as normalised references have it, or `*`. Raises Problem."""
    if "@" in text or "/" in text:  # perhaps the start of a URL, and with it a password: never repeated
        raise Problem(
            "the part before '=' is not a registry host: write it as in 'docker.io=https://hub.example'"
        )
    if text != "*" and not _is_host(text):
        raise Problem(
            f"{text!r} is not a registry host: write one as 'docker.io' or 'host:5000', or '*' for all"
        )
    if text.lower() in {"index.docker.io", "registry-1.docker.io"}:
        raise Problem(f"{text!r} is called 'docker.io' in references: write 'docker.io'")
    return text.lower()


def host_pattern(text: str, *, every: bool = False) -> str:
    """`HOST[:PORT]` or `*.DOMAIN[:PORT]`; `*` only with `every`. Raises Problem."""
    if "@" in text or "/" in text:  # as above
        raise Problem("is no host: write it as 'harbor.corp.example:8443', without scheme and path")
    if (every and text == "*") or _is_host(text.removeprefix("*.")):
        return text.lower()
    raise Problem(
        f"{text!r} is no host: write it as 'harbor.corp.example', 'localhost:5000' or '*.corp.example'"
    )


def _is_host(text: str) -> bool:
    """`HOST[:PORT]`, with a port that exists."""
    port = text.rpartition("]")[2].partition(":")[2]
    return re.fullmatch(_HOST, text, re.ASCII) is not None and int(port or 443) in range(1, 65536)


def mirror(source: str, url: str) -> Mirror:
    """Where lookups of `source` go; no slash at the end. Raises Problem, which never repeats a secret."""
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
    if not _is_host(host):
        raise Problem(f"{of} names no host that could be asked: write it as 'https://hub.example/proxy'")
    if path == "v2":
        raise Problem(f"{of} ends in '/v2', which is added to it: write {scheme + '://' + host!r}")
    if path and not all(re.fullmatch(_COMPONENT, part) for part in path.split("/")):
        raise Problem(
            f"{of} has a path that is no repository prefix: write lower-case names, as in '/hub/proxy'"
        )
    return Mirror(source, f"{scheme}://{host.lower()}" + (f"/{path}" if path else ""))


def mirror_pair(text: str) -> Mirror:
    """`SOURCE=URL`. Raises Problem."""
    source, equals, url = text.partition("=")
    if not equals:
        raise Problem(
            "a mirror needs a registry and a URL: write it as 'docker.io=https://hub.example/proxy'"
        )
    return mirror(source.strip(), url.strip())
