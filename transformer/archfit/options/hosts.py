"""Registry hosts: which registry's lookups go where, which servers count, and how often one is asked.

    mirror  = source "=" url
    source  = "*" | host [ ":" port ]            as in a normalised reference: docker.io
    url     = ( "http" | "https" ) "://" host [ ":" port ] *( "/" component )
    pattern = host [ ":" port ] | "*." host [ ":" port ] | "*"        `*` where servers are denied
    rate    = ( "*" | host [ ":" port ] ) "=" number                  `*` is each server without a row of its own
    number  = 0.01 to 10000                                           requests a second, such as 5 or 0.5

The path of a URL is a repository prefix, as `location` in containers-registries.conf(5): with
docker.io=https://harbor.example/hub nginx is asked for at https://harbor.example/v2/hub/library/nginx. No message
repeats a part of the text in which a user name or password may stand.
"""

from __future__ import annotations

from archfit.images.reference import HUB_NAMES, host_and_port, is_host, is_path
from archfit.options.option_entries import HostPattern, Mirror, RequestRate
from archfit.options.text_form import Problem


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


SLOWEST, FASTEST = 0.01, 10_000.0
_NUMBER = r"[0-9]{1,5}(?:\.[0-9]{1,3})?"


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


def request_rate(host: str, number: str) -> RequestRate:
    """One rate; its host is one of a normalised reference. Raises Problem."""
    import re

    host = registry_host(host).removesuffix(":443")
    value = float(number) if re.fullmatch(_NUMBER, number, re.ASCII) else 0.0
    if not SLOWEST <= value <= FASTEST:
        raise Problem(f"{number!r} is not a number of requests a second: write one from 0.01 to 10000, as 5")
    return RequestRate(host, value)


def request_rate_pair(text: str) -> RequestRate:
    """`HOST=N`. Raises Problem."""
    host, equals, number = text.partition("=")
    if not equals:
        raise Problem("a rate needs a registry's host and a number: write it as 'docker.io=5'")
    return request_rate(host.strip(), number.strip())
