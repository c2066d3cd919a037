"""Keys of answers that other servers may have given, or that other users may read.

    tag:<host/repository:tag>[~<endpoint>][#<credential>]

`endpoint`: a mirror may answer something else than the registry, and a server may show more to a client that it knows.

    docker.io/library/nginx from registry-1.docker.io    ""
    the same from a mirror                               ~https://harbor.example/v2/hub/library/nginx
    a mirror that is sent the registry's name            ~https://mirror.example/v2/library/nginx?ns=docker.io
    without verification, with CAs of its own            ~...!insecure, ~...!ca=/etc/mirror.crt
    with headers or a client certificate                 ~...!<slow hash of those>

`credential`: in a cache of several users any credential that the answer was learned with, in a user's own cache a pull
secret of the stream. It is a slow hash (scrypt, RFC 7914) of server and credential, secret included: anybody could
claim a user name, and guessing reverses a fast hash of a password. Docker's official images are public for everybody.

A credential helper is slow and runs only for servers whose entry in the cache says that they ask for credentials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from archfit.images.reference import Reference
from archfit.lookup.entries import OwnKeys, key_of
from archfit.registry.http.trust import USUAL, Tls, host_port
from archfit.registry.registry_errors import HelperNeeded, RegistryError
from archfit.registry.routing.endpoints import Endpoint, itself
from archfit.registry.routing.routes import Routes
from archfit.startup import c_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.credentials.credential import Credential
    from archfit.registry.credentials.keychain import Keychain

_OFFICIAL = "docker.io/library/"
_HELPERS = 32
_SCRYPT_ROUNDS = 2**13  # 8 MiB and 15 ms
_LONGEST_FILE = 1024 * 1024


class ScopedKeys(OwnKeys):
    """routes: where a reference is asked for; all credentials for it count together.

    keychain: the one that the requests use; None in a user's own cache, where its credentials make no difference.
    """

    def __init__(self, routes: Routes, keychain: Keychain | None) -> None:
        self._routes = routes
        self._secrets: dict[object, str] = {}
        self._keychain = keychain
        self._names: dict[tuple[str, Credential], str] = {}

    def of(self, reference: Reference) -> list[str]:
        keys, name = self._keys(reference), self._credentials(reference, helpers=False)
        return [*keys, *([f"{key}#{name}" for key in keys] if name else [])]

    def late(
        self, references: Sequence[Reference], get: Callable[[list[str]], dict[str, str]]
    ) -> dict[str, list[str]]:
        servers = {reference: self._server(reference) for reference in references}
        texts = get(list(dict.fromkeys(filter(None, servers.values()))))
        asking = [reference for reference, key in servers.items() if _asks(texts.get(key, ""))]
        self._run_helpers(asking)
        names = {reference: self._credentials(reference, helpers=True) for reference in asking}
        return {
            reference.normalised: [f"{key}#{name}" for key in self._keys(reference)]
            for reference, name in names.items()
            if name
        }

    def _server(self, reference: Reference) -> str:
        """The key of the server whose helper may have to be run, "" where no helper could tell more."""
        if self._credentials(reference, helpers=False) is not None:
            return ""
        slow = (endpoint for endpoint in self._asked(reference) if self._needs_helper(endpoint))
        return next((f"host:{endpoint.origin}" for endpoint in slow), "")

    def _run_helpers(self, asking: Sequence[Reference]) -> None:
        endpoints = {endpoint.host: endpoint for reference in asking for endpoint in self._asked(reference)}
        slow = [endpoint for endpoint in endpoints.values() if self._needs_helper(endpoint)]
        if not slow:
            return
        # Helpers take long and do not depend on each other, so they run side by side.
        import threading

        threads = [
            threading.Thread(target=self._name_at, args=(endpoint,), kwargs={"helpers": True}, daemon=True)
            for endpoint in slow[:_HELPERS]
        ]
        try:
            for thread in threads:
                thread.start()
        except RuntimeError:
            pass  # This machine allows no more threads: the others' helpers are asked one by one.
        for thread in threads:
            if thread.ident is not None and self._keychain:
                thread.join(min(self._keychain.left(), threading.TIMEOUT_MAX))

    def written(self, reference: Reference, endpoint: Endpoint | None, *, used: bool) -> str:
        name = self._credentials(reference, helpers=True) if used else ""
        key = key_of(reference) + (self.endpoint_name(reference, endpoint) if endpoint else "")
        return f"{key}#{name}" if name else key

    def _keys(self, reference: Reference) -> list[str]:
        """Without credentials: one for each endpoint that may answer for the reference."""
        able = [endpoint for endpoint in self._asked(reference) if endpoint.may_answer(reference)]
        names = dict.fromkeys(self.endpoint_name(reference, endpoint) for endpoint in able)
        return [key_of(reference) + name for name in names]

    def _asked(self, reference: Reference) -> Sequence[Endpoint]:
        try:
            return self._routes.endpoints(reference)
        except RegistryError:  # no server may be asked for it
            return ()

    def _needs_helper(self, endpoint: Endpoint) -> bool:
        return self._name_at(endpoint, helpers=False) is None

    def _credentials(self, reference: Reference, *, helpers: bool) -> str | None:
        """The name of the credentials, "" where there are none, None where only a helper could tell."""
        if self._keychain is None:
            return ""
        official = reference.name.startswith(_OFFICIAL)
        names = [
            self._name_at(endpoint, helpers=helpers)
            for endpoint in self._asked(reference)
            if endpoint.configured or not official
        ]
        known = [name for name in names if name is not None]
        return "-".join(filter(None, known)) if len(known) == len(names) else None

    def _name_at(self, endpoint: Endpoint, *, helpers: bool) -> str | None:
        if self._keychain is None:
            return ""
        host = endpoint.host
        try:
            credential = self._keychain.find(host, endpoint.repository, helpers=helpers)
        except HelperNeeded:
            return None
        except RegistryError:
            return ""
        if credential is None:
            return ""
        if (host, credential) not in self._names:
            fields = ("username", "password", "identity_token", "registry_token")
            self._names[host, credential] = _slow_hash(host, [getattr(credential, name) for name in fields])
        return self._names[host, credential]

    def endpoint_name(self, reference: Reference, endpoint: Endpoint) -> str:
        """`~..` as in the module, "" for the image's own registry in the usual way. Raises RegistryError."""
        own = itself(reference)
        tls = self._routes.tls.get(host_port(endpoint.origin), USUAL)
        same = all(getattr(endpoint, name) == getattr(own, name) for name in ("origin", "base", "repository"))
        if same and not endpoint.headers and tls == USUAL:
            return ""
        parts = [f"~{endpoint.origin}{endpoint.base}/{endpoint.repository}"]
        parts += [f"?ns={endpoint.namespace}"] if endpoint.namespace else []
        parts += [] if tls.verify else ["!insecure"]
        parts += [f"!ca={path}" for path in tls.ca]
        if endpoint.headers or tls.client:
            parts.append(f"!{self._secret(endpoint, tls)}")
        return "".join(parts)

    def _secret(self, endpoint: Endpoint, tls: Tls) -> str:
        key = endpoint.origin, endpoint.headers, tls.client
        if key not in self._secrets:
            certificates = [[_content(path) for path in pair if path] for pair in tls.client]
            self._secrets[key] = _slow_hash(endpoint.origin, [list(endpoint.headers), certificates])
        return self._secrets[key]


def _asks(server: str) -> bool:
    """The server's entry says that it asks for credentials."""
    return '"bearer"' in server or '"basic"' in server


def _slow_hash(salt: str, secrets: object) -> str:
    """32 hexadecimal digits, from which the secrets cannot be had back without trying them."""
    import hashlib  # only where a secret names an entry

    return hashlib.scrypt(
        c_json.dumps(secrets).encode(),
        salt=f"archfit cache 1 {salt}".encode(),
        n=_SCRYPT_ROUNDS,
        r=8,
        p=1,
        dklen=16,
    ).hex()


def _content(path: str) -> str:
    """What is in a certificate's file; its path where it cannot be read; the request then fails with the reason."""
    try:
        with open(path, "rb") as file:
            return file.read(_LONGEST_FILE).hex()
    except OSError:
        return path
