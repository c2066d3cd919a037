"""How a server asks for credentials, without I/O.

    challenge      = scheme [ 1*SP parameter *( "," parameter ) ]         several in one header, separated by commas
    parameter      = token "=" ( token | quoted-string )

The registry chooses the realm, the URL of a token service, and so it is checked before anything is sent there.
Sources: RFC 9110 11.6.1 (grammar); distribution, docs/content/spec/auth/token.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from urllib.parse import urlsplit

from archfit.registry.quirks import SHARED_PARENTS, quirk_of
from archfit.registry.registry_errors import RegistryError
from archfit.startup.record import Record

_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"  # noqa: S105 - RFC 9110's name for a word
_PARAMETER = re.compile(rf'({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))', re.ASCII).match
_SCHEME = re.compile(rf"({_TOKEN})(?=\s|,|$)", re.ASCII).match
_SCOPE = re.compile(r"repository:[a-z0-9._/:-]{1,512}:pull", re.ASCII).fullmatch
_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII).fullmatch
_MAX_HEADER = 8192
_MAX_HEADERS = 8
_MAX_CHALLENGES = 16


class Challenge(Record):
    """One challenge. scheme: lower case. realm, service, scope, error: "" where missing."""

    scheme: str
    realm: str = ""
    service: str = ""
    scope: str = ""
    error: str = ""


def challenges(headers: Iterable[str]) -> tuple[Challenge, ...]:
    """The challenges in the WWW-Authenticate headers, in order; what cannot be read is left out.

    The first 16 of the first 8 headers count, and 8 KiB of each header: registries send one or two.
    """
    headers = islice(headers, _MAX_HEADERS)
    read = (challenge for header in headers for challenge in _parsed(header[:_MAX_HEADER]))
    return tuple(islice(read, _MAX_CHALLENGES))


def _parsed(header: str) -> list[Challenge]:
    schemes: list[tuple[str, dict[str, str]]] = []
    at = 0
    while at < len(header) and len(schemes) <= _MAX_CHALLENGES:
        if header[at] in " \t,":
            at += 1
            continue
        if schemes and (parameter := _PARAMETER(header, at)):
            name, quoted, plain = parameter.groups()
            value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            schemes[-1][1].setdefault(name.lower(), value)
            at = parameter.end()
        elif scheme := _SCHEME(header, at):
            schemes.append((scheme[1].lower(), {}))
            at = scheme.end()
        else:
            # A token68, or a malformed part: skip to the next comma.
            at = (header.find(",", at) + 1) or len(header)
    names = ("realm", "service", "scope", "error")
    return [Challenge(scheme, *(values.get(name, "") for name in names)) for scheme, values in schemes]


def choose(offered: Iterable[Challenge]) -> Challenge | None:
    """Bearer before Basic; Negotiate, NTLM and other schemes are not supported. None where nothing is left."""
    usable = [challenge for challenge in offered if challenge.scheme in {"bearer", "basic"}]
    usable = [challenge for challenge in usable if challenge.scheme == "basic" or challenge.realm]
    return min(usable, key=lambda challenge: challenge.scheme == "basic", default=None)


def scope_of(repository: str, challenge: Challenge) -> str:
    """The scope to ask for: one repository's pull, as the challenge or the plain form has it; "" for no repository."""
    if not repository:
        return ""
    return challenge.scope if _SCOPE(challenge.scope) else f"repository:{repository}:pull"


def check_realm(realm: str, origin: str) -> None:
    """Raises RegistryError unless tokens may be asked for at `realm` by a registry at `origin`.

    https, a host, no user name in it; plain http only on the very host and port of a registry spoken to over http.
    """
    try:
        parts, own = urlsplit(realm), urlsplit(origin)
        port, own_port = parts.port, own.port
    except ValueError:
        parts, own, port, own_port = urlsplit(""), urlsplit(""), None, None
    readable = _VISIBLE(realm) and len(realm) <= 2048
    if not parts.hostname or parts.scheme not in {"https", "http"} or not readable:
        raise RegistryError(
            f"{origin} names a token service that is no https URL: its operator has to correct that"
        )
    if "@" in parts.netloc or parts.fragment:
        raise RegistryError(
            f"{origin} names a token service with a user name or fragment in its URL: refused"
        )
    same = own.scheme == "http" and (parts.hostname, port or 80) == (own.hostname, own_port or 80)
    if parts.scheme == "http" and not same:
        raise RegistryError(f"{origin} names a token service over plain http, {parts.netloc}: refused")


def may_have_credentials(realm: str, origin: str) -> bool:
    """The token service belongs to the registry: the same host, the same site, or a known pair."""
    registry, service = urlsplit(origin).hostname or "", urlsplit(realm).hostname or ""
    if registry == service or service in quirk_of(registry).token_hosts or service.endswith(f".{registry}"):
        return True
    parent = registry.partition(".")[2]
    if "." not in parent or parent.replace(".", "").isdigit() or ":" in registry or SHARED_PARENTS(parent):
        return False
    return service == parent or service.endswith(f".{parent}")
