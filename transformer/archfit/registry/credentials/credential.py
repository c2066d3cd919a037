"""A credential, and how a credentials file writes one.

    an entry of `auths`       {"auth": "base64 of user:password"}  or  {"username": .., "password": ..}
                              {"identitytoken": ".."}               for a token service, in place of a password
                              {"registrytoken": ".."}               the bearer token itself

Sources: containers-auth.json(5); docker/cli, cli/config/types/authconfig.go.
"""

from __future__ import annotations

import base64
import re

from archfit.registry.registry_errors import Misconfigured
from archfit.startup.record import Record

VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII).fullmatch
"""Characters that a header can hold: ASCII without blanks and control characters."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]").search


class Credential(Record):
    """One of: user and password, an identity token, a registry token. source: where it is from, for messages."""

    username: str = ""
    password: str = ""
    identity_token: str = ""
    registry_token: str = ""
    source: str = ""

    def __repr__(self) -> str:
        return f"Credential(source={self.source!r})"


def from_entry(entry: object, source: str) -> Credential | None:
    """The credential in one entry of `auths`, None if it is empty. Raises RegistryError for a malformed one."""
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise Misconfigured(f"the credential {source} is not a JSON object: log in again")
    auth, user, password, identity, token = (
        entry.get(key) or "" for key in ("auth", "username", "password", "identitytoken", "registrytoken")
    )
    if not all(isinstance(value, str) for value in (auth, user, password, identity, token)):
        raise Misconfigured(f"the credential {source} has a value that is not a string: log in again")
    if auth:
        try:
            user, colon, password = base64.b64decode(auth).decode("utf-8").rstrip("\0").partition(":")
        except ValueError:
            colon = ""
        if not colon:
            raise Misconfigured(f"the credential {source} is not base64 of user:password: log in again")
    if not (identity or token or (user and password)):
        return None
    return checked(Credential(user, password, identity, token, source))


def checked(credential: Credential) -> Credential:
    """The credential, if a request can carry it. Raises RegistryError, which shows nothing of it.

    A registry token is a header as it is (RFC 6750, b64token, and all that is visible); the others are sent as UTF-8 in
    base64 or in a form. A user name has no colon and no control character (RFC 7617).
    """
    if credential.registry_token and not VISIBLE(credential.registry_token):
        raise Misconfigured(
            f"the registrytoken {credential.source} has a blank, a line end or another character that no header can "
            "hold: log in again, or store it without"
        )
    texts = (credential.username, credential.password, credential.identity_token)
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError:
        raise Misconfigured(
            f"the credential {credential.source} has a character that is not valid Unicode: log in again"
        ) from None
    if ":" in credential.username or _CONTROL(credential.username + credential.password):
        raise Misconfigured(
            f"the credential {credential.source} has a control character, or a colon in the user name: log in again"
        )
    return credential
