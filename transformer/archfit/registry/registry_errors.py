"""The errors of registries; a run whose answers are all known loads none of them."""

from __future__ import annotations

from archfit.base.errors import ArchfitError

NO_THREAD = "this machine does not allow: raise its limit of processes (`ulimit -u`, or the pids limit)"
"""The end of a message about a thread that could not be started."""


class InvalidManifest(ArchfitError):
    """A registry's document cannot be understood."""


class RegistryError(ArchfitError):
    """A registry could not be asked, or would not answer.

    status: HTTP status code, 0 where there was no HTTP answer. mistake: the configuration has to be corrected, so that
    no `--on-unknown` is advised.
    """

    mistake = False

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class HelperNeeded(RegistryError):
    """Only a helper has the credential, and the caller allows none to be run."""


class ManifestUnknown(RegistryError):
    """The registry answered: there is no such manifest."""


class Misconfigured(RegistryError):
    """Credentials, certificates or addresses of the configuration cannot be used."""

    mistake = True


class Unauthorized(RegistryError):
    """The registry or its token service answered 401 or 403."""

    mistake = True
