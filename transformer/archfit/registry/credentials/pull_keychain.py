"""Pull secrets as a keychain: each for one repository of one registry, before the operator's own credentials.

They come with the stream, not from the operator: they do not permit a private host, and are never sent to a mirror.
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit.registry.credentials.credential import Credential
from archfit.registry.credentials.keychain import Keychain


class PullKeychain(Keychain):
    """chosen: by `host[:port]`, as it is asked, and repository. The rest is the operator's."""

    def __init__(
        self, authfile: str, environ: Mapping[str, str], chosen: Mapping[tuple[str, str], Credential]
    ) -> None:
        super().__init__(authfile, environ)
        self._chosen = chosen

    def find(self, host: str, repository: str, *, helpers: bool = True) -> Credential | None:
        """As for any keychain."""
        return self._chosen.get((host, repository)) or super().find(host, repository, helpers=helpers)

    def mentions(self, host: str) -> bool:
        """As for any keychain."""
        return any(host == known for known, _ in self._chosen) or super().mentions(host)
