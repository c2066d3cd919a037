"""Token requests and their answers, without I/O.

    challenge   Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="..."
    request     GET https://auth.docker.io/token?service=registry.docker.io&scope=repository:library/nginx:pull
    answer      {"token": "...", "expires_in": 300}
    then        Authorization: Bearer ...

    credential                 token request
    none                       GET, anonymous
    user and password          GET with Basic
    identity token             POST grant_type=refresh_token; some services only take GET
    registry token             none: it is the bearer token

Sources: distribution, docs/content/spec/auth/token.md and oauth.md; RFC 7617 (Basic).
"""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, urlsplit

from archfit.base.record import Record
from archfit.registry.credentials.credential import VISIBLE, Credential
from archfit.registry.http.challenges import Challenge
from archfit.registry.registry_errors import RegistryError

_DEFAULT_LIFE_SECONDS = 60
_RENEW_EARLY_SECONDS = 5
_MAX_LIFE_SECONDS = 86400


class TokenRequest(Record):
    """What to send to the token service. form: body of a POST, "" for a GET. authorization: "" if anonymous."""

    url: str
    form: str = ""
    authorization: str = ""


def basic(credential: Credential) -> str:
    """The Authorization header of a user and a password (RFC 7617)."""
    pair = f"{credential.username}:{credential.password}".encode()
    return "Basic " + base64.b64encode(pair).decode("ascii")


def token_get(challenge: Challenge, scope: str, credential: Credential | None) -> TokenRequest:
    """The usual request. Query parameters already in the realm are kept. scope: "" asks for no right at all."""
    query = [f"service={quote(challenge.service, safe='')}"] if challenge.service else []
    query += [f"scope={quote(scope)}"] if scope else []
    joint = "&" if urlsplit(challenge.realm).query else "?"
    url = challenge.realm + (joint if query else "") + "&".join(query)
    return TokenRequest(url, authorization=basic(credential) if credential and credential.password else "")


def token_post(challenge: Challenge, scope: str, credential: Credential) -> TokenRequest:
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
    return TokenRequest(challenge.realm, form=form)


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
