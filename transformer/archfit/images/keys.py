"""Under which keys an image's answer is kept.

    cache of one user        tag:<host/repository:tag>            digest:<digest>
    cache of several users   tag:<host/repository:tag>[#<who>]    digest:<host/repository>@<digest>[#<who>]

`who` is there when the answer was learned with a credential: whoever asks with another one, or with none, neither
finds the entry nor can tell for which credential it is. It is a slow hash (scrypt, RFC 7914) of server and
credential, secret included, because a user name alone could be claimed by anybody, and a fast hash of a password
could be guessed back. Docker's official images are public whoever asks Docker for them.

A run reads the public entry and that of the credential in its files. A credential helper takes long and is asked only
for servers of which the cache says that they want credentials.
"""

from __future__ import annotations

from archfit.images.entries import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from archfit.images.reference import Reference
    from archfit.registry.credentials import Credential, Keychain
    from archfit.registry.mirrors import Target

_OFFICIAL = "docker.io/library/"
_HELPERS = 32
_ROUNDS = 2**13  # 8 MiB and 15 ms for each credential


class OwnKeys:
    """Keys in the cache of one user."""

    def of(self, reference: Reference) -> list[str]:
        """The keys to read, the one to claim last."""
        return [key_of(reference)]

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

    def written(self, reference: Reference, *, used: bool) -> str:
        """The key to write. used: a credential was sent for the answer."""
        del used
        return key_of(reference)


class SharedKeys:
    """Keys in a cache that several users share. keychain: the same that the requests use.

    places: where a reference is asked for; all credentials for it count together.
    """

    def __init__(self, places: Callable[[Reference], Sequence[Target]], keychain: Keychain) -> None:
        self._places_of = places
        self._keychain = keychain
        self._names: dict[tuple[str, Credential], str] = {}

    def of(self, reference: Reference) -> list[str]:
        name = self._who(reference, helpers=False)
        return [_shared(reference), *([f"{_shared(reference)}#{name}"] if name else [])]

    def host(self, reference: Reference) -> str:
        if self._who(reference, helpers=False) is not None:
            return ""
        first = next((place for place in self._places(reference) if self._needs_helper(place)), None)
        return f"host:{first.origin}" if first else ""

    def prepare(self, servers: Iterable[tuple[Reference, str]]) -> None:
        # Helpers take long and wait for nobody but themselves, so they run side by side.
        import threading

        asking = [reference for reference, host in servers if _wants_credentials(host)]
        places = {place.host: place for reference in asking for place in self._places(reference)}
        slow = [place for place in places.values() if self._needs_helper(place)]
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
            if thread.ident is not None:
                thread.join(min(self._keychain.left(), threading.TIMEOUT_MAX))

    def late(self, reference: Reference, host: str) -> list[str]:
        if not _wants_credentials(host):
            return []
        name = self._who(reference, helpers=True)
        return [f"{_shared(reference)}#{name}"] if name else []

    def written(self, reference: Reference, *, used: bool) -> str:
        name = self._who(reference, helpers=True) if used else ""
        return f"{_shared(reference)}#{name}" if name else _shared(reference)

    def _places(self, reference: Reference) -> Sequence[Target]:
        from archfit.errors import RegistryError

        try:
            return self._places_of(reference)
        except RegistryError:  # nobody may be asked for it
            return ()

    def _needs_helper(self, place: Target) -> bool:
        return self._name_at(place, helpers=False) is None

    def _who(self, reference: Reference, *, helpers: bool) -> str | None:
        """The credentials' name, "" where there are none, None where only a helper could say."""
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
        from archfit.registry.credentials import HelperNeeded

        host = place.host
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


def _shared(reference: Reference) -> str:
    return f"{'digest' if reference.digest else 'tag'}:{reference.normalised}"


def _hashed(host: str, credential: Credential) -> str:
    import hashlib
    import json

    parts = (
        credential.username,
        credential.password,
        credential.identity_token,
        credential.registry_token,
    )
    salt = f"archfit cache 1 {host}".encode()
    return hashlib.scrypt(json.dumps(parts).encode(), salt=salt, n=_ROUNDS, r=8, p=1, dklen=16).hex()
