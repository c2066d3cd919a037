"""Which credential belongs to a repository: Docker's and Podman's files and their helpers.

    files      --authfile, else $REGISTRY_AUTH_FILE, else this chain, searched until an entry matches:
               $DOCKER_AUTH_CONFIG, `auths` of the text itself (docker 28 and later; GitLab's runners)
               $DOCKER_CONFIG/config.json, if set
               $XDG_RUNTIME_DIR/containers/auth.json (/run/containers/$UID/auth.json where it is not set)
               $XDG_CONFIG_HOME/containers/auth.json (~/.config where it is not set)
               ~/.docker/config.json, if DOCKER_CONFIG is not set
               ~/.dockercfg
    in a file  1. credHelpers[host]
               2. auths[host/path], the longest path first, then auths[host]
               3. auths under legacy spellings: https://host/v1/, and Docker Hub's https://index.docker.io/v1/
               4. credsStore

An empty entry only says that a helper has the credential. A helper that fails and a file that cannot be read are errors
for the registry: it is not asked anonymously, nor with another entry. No helper runs before a registry asks for
credentials.

Sources: containers-auth.json(5); containers/image, pkg/docker/config; docker/cli, cli/config/credentials.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from archfit.base.files import read_regular
from archfit.images.reference import HUB_NAMES
from archfit.registry.credentials.credential import Credential, checked, from_entry
from archfit.registry.quirks import quirk_of
from archfit.registry.registry_errors import HelperNeeded, Misconfigured, RegistryError
from archfit.startup import c_json

_OLDEST = ".dockercfg"
VARIABLE = "$DOCKER_AUTH_CONFIG"
_MAX_FILE = 4 * 1024 * 1024

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.credentials.credential_helper import Helper


class Keychain:
    """The operator's credentials; safe to ask from several threads. left: seconds that a helper may take now."""

    def __init__(self, authfile: str, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._authfile = authfile
        self._files: tuple[tuple[str, dict[str, Any]], ...] | None = None
        self.left: Callable[[], float] = lambda: float("inf")
        self._helpers: dict[tuple[str, str], Helper] = {}
        self._reading = threading.Lock()
        self._choosing = threading.Lock()

    def find(self, host: str, repository: str, *, helpers: bool = True) -> Credential | None:
        """The credential for `host[:port]` and a path below it, None if there is none.

        helpers: a helper that has not answered yet may be run; else HelperNeeded is raised. Raises RegistryError for an
        unreadable file, a malformed entry or a helper that fails.
        """
        for path, document in self._read():
            credential = self._in_file(path, document, host, repository, helpers=helpers)
            if credential:
                return credential
        return None

    def close(self) -> None:
        """End the helpers that still run."""
        with self._choosing:
            for helper in self._helpers.values():
                helper.end()

    def mentions(self, host: str) -> bool:
        """A file has an entry for this host: the registry can be expected to ask for credentials."""
        try:
            return not _aliases(host).isdisjoint(self._hosts())
        except RegistryError:
            return True

    def named_hosts(self) -> tuple[str, ...]:
        """Hosts (`host[:port]`) that keys of the files name. Nothing where a file cannot be read."""
        try:
            return tuple(self._hosts())
        except RegistryError:
            return ()

    def _hosts(self) -> dict[str, None]:
        keys = (key for _, file in self._read() for part in ("credHelpers", "auths") for key in file[part])
        return dict.fromkeys(map(_host_of, keys))

    def _read(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        with self._reading:
            if self._files is None:
                self._files = tuple(
                    (path, load_file(path, self._environ))
                    for path, required in places(self._authfile, self._environ)
                    if required or os.path.exists(path)
                )
            return self._files

    def _in_file(
        self, path: str, document: dict[str, Any], host: str, repository: str, *, helpers: bool
    ) -> Credential | None:
        aliases = _aliases(host)
        for key, name in document["credHelpers"].items():
            if _host_of(key) in aliases and (
                credential := self._from_helper(name, host, path, helpers=helpers)
            ):
                return credential
        auths = document["auths"]
        for key in (*_scoped(host, repository), *(key for key in auths if _legacy(key) in aliases)):
            if key in auths and (credential := from_entry(auths[key], f"{path} ({key})")):
                return credential
        store = document["credsStore"]
        return self._from_helper(store, host, path, helpers=helpers) if store else None

    def _from_helper(self, name: str, host: str, path: str, *, helpers: bool) -> Credential | None:
        from archfit.registry.credentials.credential_helper import Helper  # `subprocess`: 1.5 ms

        server = quirk_of(host).helper_server or host
        with self._choosing:
            helper = self._helpers.setdefault((name, server), Helper(name, server, self._environ))
        if not helpers and not helper.asked:
            raise HelperNeeded(f"docker-credential-{name} was not run")
        answer = helper.answer(self.left())
        if answer is None:
            return None
        user, secret = answer
        source = f"docker-credential-{name} ({path})"
        if user == "<token>":
            return checked(Credential(identity_token=secret, source=source))
        return checked(Credential(user, secret, source=source))


def places(authfile: str, environ: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Files to read in order, and whether each has to exist; `VARIABLE` is none."""
    named = authfile or environ.get("REGISTRY_AUTH_FILE", "")
    if named:
        yield named, True
        return
    if (
        environ.get(VARIABLE[1:], "").lstrip()[:1] == "{"
    ):  # else it may be a path, of GitLab's variables for files
        yield VARIABLE, True
    home = _folder(environ.get("HOME") or os.path.expanduser("~"))
    docker = environ.get("DOCKER_CONFIG", "")
    runtime = _folder(environ.get("XDG_RUNTIME_DIR", ""))
    config = _folder(environ.get("XDG_CONFIG_HOME", "")) or (home and os.path.join(home, ".config"))
    if docker and not os.path.isabs(docker):
        raise Misconfigured(f"DOCKER_CONFIG is {docker!r}: set it to an absolute path, or unset it")
    for folder, *path in (
        (docker, "config.json"),
        (runtime, "containers", "auth.json"),
        (_of_user(environ), "auth.json"),
        (config, "containers", "auth.json"),
        ("" if docker else home, ".docker", "config.json"),
        (home, _OLDEST),
    ):
        if folder:
            yield os.path.join(folder, *path), False


def _of_user(environ: Mapping[str, str]) -> str:
    """Where Podman, Buildah and Skopeo store logins without XDG_RUNTIME_DIR, as for root and in containers."""
    return "" if environ.get("XDG_RUNTIME_DIR") or os.name == "nt" else f"/run/containers/{os.getuid()}"


def _folder(path: str) -> str:
    """The path if it is absolute, else "": the working directory may belong to another user."""
    return path if os.path.isabs(path) else ""


def load_file(path: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """`auths`, `credHelpers` and `credsStore` of a place, each of the right type. Raises RegistryError."""
    try:
        text = environ[VARIABLE[1:]] if path == VARIABLE else read_regular(path, _MAX_FILE + 1)
    except OSError as error:
        raise Misconfigured(f"the credentials file {path} cannot be read: {error.strerror}") from None
    try:
        document = c_json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or len(text) > _MAX_FILE:
        raise Misconfigured(
            f"the credentials file {path} is not a JSON object: log in again, or name another"
        )
    if os.path.basename(path) == _OLDEST:
        document = {"auths": document}
    elif (
        path == VARIABLE
    ):  # as Docker has it; GitLab's runners start the helpers of theirs on their own machine
        document = {"auths": document.get("auths")}
    auths, helpers = document.get("auths") or {}, document.get("credHelpers") or {}
    store = document.get("credsStore") or ""
    tables = isinstance(auths, dict) and isinstance(helpers, dict)
    if not tables or not all(isinstance(name, str) for name in (store, *helpers.values())):
        raise Misconfigured(
            f"the credentials file {path} has auths, credHelpers or credsStore of a wrong type: "
            "log in again, or name another"
        )
    return {"auths": auths, "credHelpers": helpers, "credsStore": store}


def _aliases(host: str) -> frozenset[str]:
    return HUB_NAMES if host in HUB_NAMES else frozenset({host})


def _scoped(host: str, repository: str) -> Iterator[str]:
    """`host/a/b/c`, `host/a/b`, `host/a`, `host`; for Docker Hub under each of its names."""
    path = repository
    while path:
        for alias in sorted(_aliases(host)):
            yield f"{alias}/{path}"
        path = path.rpartition("/")[0]
    yield from sorted(_aliases(host))


def _host_of(key: str) -> str:
    return key.removeprefix("https://").removeprefix("http://").partition("/")[0]


def _legacy(key: str) -> str:
    """The host of a key that means a whole registry in an older spelling, "" for any other key."""
    bare = key.removeprefix("https://").removeprefix("http://")
    host, _, path = bare.partition("/")
    return host if bare != key or path in {"", "v1", "v1/", "v2", "v2/"} else ""


class PullKeychain(Keychain):
    """chosen: the stream's pull secrets, by `host[:port]`, as it is asked, and repository; the rest is the operator's.

    Each is for one repository. They do not permit a private host, and are never sent to a mirror.
    """

    def __init__(
        self, authfile: str, environ: Mapping[str, str], chosen: Mapping[tuple[str, str], Credential]
    ) -> None:
        super().__init__(authfile, environ)
        self._chosen = chosen

    def find(self, host: str, repository: str, *, helpers: bool = True) -> Credential | None:
        return self._chosen.get((host, repository)) or super().find(host, repository, helpers=helpers)

    def mentions(self, host: str) -> bool:
        return any(host == known for known, _ in self._chosen) or super().mentions(host)
