"""Bearer tokens of a run: fetched once for each realm, service, scope and credential, kept in memory only.

One scope for each token, because some services honour only the first. A refusal is remembered for the run, so that many
images cause one request. Sources: distribution, docs/content/spec/auth/token.md and oauth.md; RFC 7617 (Basic).
"""

from __future__ import annotations

import base64
import json
import threading
from time import monotonic
from urllib.parse import quote, urlsplit

from archfit.registry.credentials.credential import VISIBLE, Credential
from archfit.registry.http.challenges import Challenge, check_realm, may_have_credentials
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.request import Request, origin_of
from archfit.registry.http.trust import host_port
from archfit.registry.quirks import NO_TOKEN_BY_POST
from archfit.registry.registry_errors import RegistryError, Unauthorized

MAX_TOKEN_BODY = 128 * 1024
_DEFAULT_LIFE_SECONDS = 60
_RENEW_EARLY_SECONDS = 5
_MAX_LIFE_SECONDS = 86400


class _Slot:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.token = ""
        self.until = 0.0
        self.refused: Unauthorized | None = None


class Tokens:
    """Safe to use from several threads: those that need the same token wait for the one that fetches it."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._lock = threading.Lock()
        self._slots: dict[tuple[str, str, str, Credential | None], _Slot] = {}
        self._given: set[str] = set()

    def given(self) -> list[str]:
        """Every token that a token service has given in this run."""
        with self._lock:
            return sorted(self._given)

    def bearer(
        self, challenge: Challenge, scope: str, credential: Credential | None, origin: str, refused: str
    ) -> tuple[str, bool]:
        """A token, and whether it was fetched just now. refused: a token that the registry refused, "" for none.

        origin: the registry's. Raises RegistryError, Unauthorized where the token service refuses.
        """
        if credential and credential.registry_token:
            return credential.registry_token, True
        check_realm(challenge.realm, origin)
        withheld = ""
        where = origin_of(challenge.realm)
        belongs = may_have_credentials(challenge.realm, origin)
        if credential and not belongs and not self._http.policy.is_trusted(*host_port(where)):
            withheld = (
                f"; the credentials from {credential.source} were not sent, "
                f"because it is not {origin}'s own site"
            )
            credential = None
        with self._lock:
            slot = self._slots.setdefault((challenge.realm, challenge.service, scope, credential), _Slot())
        with slot.lock:
            if slot.refused:
                raise Unauthorized(str(slot.refused), status=slot.refused.status)
            if slot.token and slot.token != refused and monotonic() < slot.until:
                return slot.token, False
            try:
                slot.token, life = self._fetch(challenge, scope, credential, origin, withheld)
            except Unauthorized as error:
                slot.refused = error
                raise
            slot.until = monotonic() + life
            with self._lock:
                self._given.add(slot.token)
            return slot.token, True

    def _fetch(
        self, challenge: Challenge, scope: str, credential: Credential | None, origin: str, withheld: str
    ) -> tuple[str, float]:
        where = origin_of(challenge.realm)
        if credential and credential.identity_token:
            reply = self._http.send(token_post(challenge, scope, credential, origin))
            if reply.status in NO_TOKEN_BY_POST:
                as_password = credential.replace(password=credential.identity_token, identity_token="")
                reply = self._http.send(token_get(challenge, scope, as_password, origin))
        else:
            reply = self._http.send(token_get(challenge, scope, credential, origin))
        if reply.status in {401, 403}:
            if credential:
                raise Unauthorized(
                    f"the token service {where} refused the credentials from {credential.source} "
                    f"({reply.status}): log in again, or remove them if the image is public",
                    status=reply.status,
                )
            raise Unauthorized(
                f"the token service {where} gives no anonymous access ({reply.status}): log in to "
                f"{urlsplit(origin).netloc}{withheld}",
                status=reply.status,
            )
        if reply.status != 200:
            raise RegistryError(f"the token service {where} answered {reply.status}", status=reply.status)
        return parse_token(reply.body)


def basic(credential: Credential) -> str:
    """The Authorization header of a user and a password (RFC 7617)."""
    pair = f"{credential.username}:{credential.password}".encode()
    return "Basic " + base64.b64encode(pair).decode("ascii")


def token_get(challenge: Challenge, scope: str, credential: Credential | None, origin: str) -> Request:
    """The usual request, for the registry at `origin`. Query parameters already in the realm are kept.

    scope: "" asks for no right at all.
    """
    query = [f"service={quote(challenge.service, safe='')}"] if challenge.service else []
    query += [f"scope={quote(scope)}"] if scope else []
    joint = "&" if urlsplit(challenge.realm).query else "?"
    url = challenge.realm + (joint if query else "") + "&".join(query)
    headers = {"accept": "application/json"}
    if credential and credential.password:
        headers["authorization"] = basic(credential)
    return Request("token", "GET", url, headers, origin, MAX_TOKEN_BODY)


def token_post(challenge: Challenge, scope: str, credential: Credential, origin: str) -> Request:
    """The request of an identity token (oauth.md, grant_type=refresh_token)."""
    fields = {
        "grant_type": "refresh_token",
        "refresh_token": credential.identity_token,
        "service": challenge.service,
        "scope": scope,
        "client_id": "archfit",
    }
    form = "&".join(
        f"{name}={quote(value, safe='')}" for name, value in fields.items() if value or name != "scope"
    )
    headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
    return Request("token", "POST", challenge.realm, headers, origin, MAX_TOKEN_BODY, form.encode("ascii"))


def parse_token(body: bytes) -> tuple[str, float]:
    """The bearer token, and for how many seconds from its receipt it may be used. Raises RegistryError."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    token = (answer.get("token") or answer.get("access_token")) if isinstance(answer, dict) else None
    if not isinstance(token, str) or not VISIBLE(token):
        raise RegistryError("the token service's answer holds no usable token")
    life = answer.get("expires_in")
    if not isinstance(life, int | float) or isinstance(life, bool) or not life > 0:
        life = _DEFAULT_LIFE_SECONDS
    # An integer may be too large for a float, so the limit comes first.
    return token, max(1.0, float(min(life, _MAX_LIFE_SECONDS)) - _RENEW_EARLY_SECONDS)
