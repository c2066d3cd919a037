"""The part of a cache key that says who answered, where that is not the image's own registry in the usual way.

    docker.io/library/nginx from registry-1.docker.io    ""
    the same from a mirror                               ~https://harbor.example/v2/hub/library/nginx
    told whose images it is asked for                    ~https://mirror.example/v2/library/nginx?ns=docker.io
    without verification, with CAs of its own            ~...!insecure, ~...!ca=/etc/mirror.crt
    with headers or a client certificate                 ~...!scrypt, a slow hash of those

An answer serves only runs that would ask the same server in the same way: a mirror may say something else than the
registry, and a server may say more to whom it knows.
"""

from __future__ import annotations

from archfit.images.reference import Reference
from archfit.registry.routing.endpoints import Target, itself, place_of
from archfit.registry.transport.trust import USUAL, Tls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.routing.routes import Routes

_ROUNDS = 2**13  # 8 MiB and 15 ms
_LONGEST_FILE = 1024 * 1024


class Endpoints:
    """Names of servers, as parts of keys. Secrets are hashed once for each server."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._secrets: dict[object, str] = {}

    def name(self, reference: Reference, target: Target) -> str:
        """The part of the key for an answer of `target`, "" for the image's own registry. Raises RegistryError."""
        own = itself(reference)
        tls = self._routes.tls.get(place_of(target.origin), USUAL)
        same = (target.origin, target.base, target.repository) == (own.origin, own.base, own.repository)
        if same and not target.headers and tls == USUAL:
            return ""
        parts = [f"~{target.origin}{target.base}/{target.repository}"]
        parts += [f"?ns={target.namespace}"] if target.namespace else []
        parts += [] if tls.verify else ["!insecure"]
        parts += [f"!ca={path}" for path in tls.ca]
        parts += (
            [f"!{self._secret(target.origin, target.headers, tls)}"] if target.headers or tls.client else []
        )
        return "".join(parts)

    def _secret(self, origin: str, headers: tuple[tuple[str, str], ...], tls: Tls) -> str:
        key = origin, headers, tls.client
        if key not in self._secrets:
            told = [list(headers), [[_content(path) for path in pair if path] for pair in tls.client]]
            self._secrets[key] = slow_hash(origin, told)
        return self._secrets[key]


def slow_hash(salt: str, secrets: object) -> str:
    """A hash (scrypt, RFC 7914) from which a password cannot be guessed back as fast as from SHA-256."""
    import hashlib
    import json

    return hashlib.scrypt(
        json.dumps(secrets).encode(), salt=f"archfit cache 1 {salt}".encode(), n=_ROUNDS, r=8, p=1, dklen=16
    ).hex()


def _content(path: str) -> str:
    """What is in a certificate's file; its path where it cannot be read, as asking the server will say."""
    try:
        with open(path, "rb") as file:
            return file.read(_LONGEST_FILE).hex()
    except OSError:
        return path
