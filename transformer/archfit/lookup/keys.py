"""Under which keys an image's answer is kept.

    tag:<host/repository:tag>[~<server>][#<who>]
    digest:<host/repository>@<digest>[~<server>][#<who>]

`server` is there when somebody else than the image's own registry answered, or in another way: its URL and how it is
trusted (`images.endpoints`).

`who` is there when the answer was learned with a credential that others who read the cache may not have: in a cache
of several users any, in a user's own a pull secret of the stream. Whoever asks with another one, or with none, neither
finds the entry nor can tell for which credential it is. It is a slow hash (scrypt, RFC 7914) of server and credential,
secret included, because a user name alone could be claimed by anybody, and a fast hash of a password could be guessed
back. Docker's official images are public whoever asks Docker for them.

A run reads the entries of all servers that it might ask, the public ones and those of the credentials in its files. A
credential helper takes long and is asked only for servers of which the cache says that they want credentials.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.images.reference import Reference
from archfit.lookup.entries import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.credentials.keychain import Credential, Keychain
    from archfit.registry.routing.endpoints import Target
    from archfit.registry.routing.routes import Routes

_OFFICIAL = "docker.io/library/"
_HELPERS = 32


class OwnKeys:
    """Keys in the cache of one user, of answers that the images' own registries give."""

    def of(self, reference: Reference) -> list[str]:
        """The keys to read."""
        return [key_of(reference)]

    def claimed(self, reference: Reference) -> str:
        """The key that says who asks for it just now."""
        return key_of(reference)

    def host(self, reference: Reference) -> str:
        """The key of what is known of the server, where `late` wants to see it; else ""."""
        del reference
        return ""

    def prepare(self, servers: Iterable[tuple[Reference, str]]) -> None:
        """Get ready for `late` of these references and servers' entries."""

    def late(self, reference: Reference, host: str) -> list[str]:
        """More keys, once the server's entry is known ("" if there is none)."""
        del reference, host
        return []

    def written(self, reference: Reference, server: Target | None, *, used: bool) -> str:
        """The key to write. server: who answered, None for the image's own registry. used: a credential was sent."""
        del server, used
        return key_of(reference)


class ScopedKeys:
    """Keys of answers that other servers may have given, or that others may read.

    routes: where a reference is asked for; all credentials for it count together. keychain: the one that the requests
    use; None in a user's own cache, where its credentials make no difference.
    """

    def __init__(self, routes: Routes, keychain: Keychain | None) -> None:
        from archfit.lookup.endpoint_keys import Endpoints

        self._routes = routes
        self._endpoints = Endpoints(routes)
        self._keychain = keychain
        self._names: dict[tuple[str, Credential], str] = {}

    def of(self, reference: Reference) -> list[str]:
        keys, name = self._keys(reference), self._who(reference, helpers=False)
        return [*keys, *([f"{key}#{name}" for key in keys] if name else [])]

    def host(self, reference: Reference) -> str:
        if self._who(reference, helpers=False) is not None:
            return ""
        first = next((place for place in self._places(reference) if self._needs_helper(place)), None)
        return f"host:{first.origin}" if first else ""

    def prepare(self, servers: Iterable[tuple[Reference, str]]) -> None:
        asking = [reference for reference, host in servers if _wants_credentials(host)]
        places = {place.host: place for reference in asking for place in self._places(reference)}
        slow = [place for place in places.values() if self._needs_helper(place)]
        if not slow:
            return
        # Helpers take long and wait for nobody but themselves, so they run side by side.
        import threading

        threads = [
            threading.Thread(target=self._name_at, args=(place,), kwargs={"helpers": True}, daemon=True)
            for place in slow[:_HELPERS]
        ]
        try:
            for thread in threads:
                thread.start()
        except RuntimeError:
            pass  # This machine allows no more threads: `late` asks the others' helpers, one by one.
        for thread in threads:
            if thread.ident is not None and self._keychain:
                thread.join(min(self._keychain.left(), threading.TIMEOUT_MAX))

    def late(self, reference: Reference, host: str) -> list[str]:
        if not _wants_credentials(host):
            return []
        name = self._who(reference, helpers=True)
        return [f"{key}#{name}" for key in self._keys(reference)] if name else []

    def written(self, reference: Reference, server: Target | None, *, used: bool) -> str:
        name = self._who(reference, helpers=True) if used else ""
        key = key_of(reference) + (self._endpoints.name(reference, server) if server else "")
        return f"{key}#{name}" if name else key

    def claimed(self, reference: Reference) -> str:
        return next(reversed(self.of(reference)), key_of(reference))

    def _keys(self, reference: Reference) -> list[str]:
        """Without credentials: one for each server that may say what the reference stands for."""
        places = self._places(reference)
        able = [place for place in places if (place.resolves if reference.tag else place.pulls)]
        names = dict.fromkeys(self._endpoints.name(reference, place) for place in able)
        return [key_of(reference) + name for name in names]

    def _places(self, reference: Reference) -> Sequence[Target]:
        from archfit.errors import RegistryError

        try:
            return self._routes.places(reference)
        except RegistryError:  # nobody may be asked for it
            return ()

    def _needs_helper(self, place: Target) -> bool:
        return self._name_at(place, helpers=False) is None

    def _who(self, reference: Reference, *, helpers: bool) -> str | None:
        """The credentials' name, "" where there are none, None where only a helper could say."""
        if self._keychain is None:
            return ""
        official = reference.name.startswith(_OFFICIAL)
        names = [
            self._name_at(place, helpers=helpers)
            for place in self._places(reference)
            if place.configured or not official
        ]
        known = [name for name in names if name is not None]
        return "-".join(filter(None, known)) if len(known) == len(names) else None

    def _name_at(self, place: Target, *, helpers: bool) -> str | None:
        from archfit.errors import RegistryError
        from archfit.registry.credentials.keychain import HelperNeeded

        host = place.host
        if self._keychain is None:
            return ""
        try:
            credential = self._keychain.find(host, place.repository, helpers=helpers)
        except HelperNeeded:
            return None
        except RegistryError:
            return ""
        if credential is None:
            return ""
        if (host, credential) not in self._names:
            self._names[host, credential] = _hashed(host, credential)
        return self._names[host, credential]


def _wants_credentials(host: str) -> bool:
    """The server's entry says that it asks for credentials."""
    return '"bearer"' in host or '"basic"' in host


def _hashed(host: str, credential: Credential) -> str:
    from archfit.lookup.endpoint_keys import slow_hash

    return slow_hash(
        host,
        (credential.username, credential.password, credential.identity_token, credential.registry_token),
    )
