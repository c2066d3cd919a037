"""Mirrors: which registry's lookups go where.

    mirror  = source "=" url
    source  = "*" | host [ ":" port ]            as in a normalised reference: docker.io
    url     = ( "http" | "https" ) "://" host [ ":" port ] *( "/" component )

The path is a repository prefix, as `location` in containers-registries.conf(5):

    docker.io=https://harbor.example/hub    asks https://harbor.example/v2/hub/library/nginx/manifests/1.27

No message repeats a part of the text in which a user name or password may stand.
"""

from __future__ import annotations

from archfit.images.reference import HUB_NAMES, is_host, is_path
from archfit.options.option_entries import Mirror
from archfit.options.problem import Problem


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


def mirror_pair(text: str) -> Mirror:
    """`SOURCE=URL`. Raises Problem."""
    source, equals, url = text.partition("=")
    if not equals:
        raise Problem(
            "a mirror needs a registry and a URL: write it as 'docker.io=https://hub.example/proxy'"
        )
    return mirror(source.strip(), url.strip())
