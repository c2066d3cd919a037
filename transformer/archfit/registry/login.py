"""Whether a registry accepts the credential that would be used for it.

an image        HEAD of its manifest, which no registry counts as a pull
a server        GET of the API's root
401             the challenge is answered as for any request, and the request made once more

status              verdict
200                 accepted
other 4xx           accepted; 404: there is no such image
401, 403            refused
anything else       RegistryError
"""

from __future__ import annotations

from archfit.base.record import Record
from archfit.registry.credentials.credential import Credential
from archfit.registry.credentials.tokens import Tokens, basic
from archfit.registry.http.challenges import Challenge, challenges, choose, scope_of
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.request import Request
from archfit.registry.manifest import ACCEPT
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.endpoints import Endpoint

_MAX_BODY = 64 * 1024


class LoginResult(Record):
    """accepted: the registry answered. asked: it asked for a credential or a token. detail: a sentence, or "".

    date: the Date header of the last answer, "" for none.
    """

    accepted: bool
    asked: bool
    detail: str
    date: str = ""


def check(
    http: HttpClient,
    tokens: Tokens,
    endpoint: Endpoint,
    tag_or_digest: str,
    credential: Credential | None,
) -> LoginResult:
    """The registry's verdict. tag_or_digest: of an image in the endpoint's repository, "" for the server itself.

    Raises RegistryError where the server cannot be asked, Unauthorized where its token service refuses.
    """
    root, origin = f"{endpoint.origin}{endpoint.base}/", endpoint.origin
    headers = {**dict(endpoint.headers), "accept": ACCEPT if tag_or_digest else "*/*"}
    request = Request("ping", "GET", root, headers, origin, _MAX_BODY)
    if tag_or_digest:
        url = f"{root}{endpoint.repository}/manifests/{tag_or_digest}"
        request = Request("head", "HEAD", url, headers, origin, 0)

    def send(authorization: str) -> tuple[int, Challenge | None, str]:
        sent = {**headers, "authorization": authorization} if authorization else headers
        reply = http.send(request.replace(headers=sent))
        return reply.status, choose(challenges(reply.challenges)), reply.headers.get("date", "")

    status, challenge, date = send("")
    asked = status == 401
    if asked and challenge:
        header = _answer(tokens, challenge, endpoint, credential)
        if header:
            status, _, date = send(header)
    return _verdict(status, origin, asked=asked, image=bool(tag_or_digest)).replace(date=date)


def _answer(tokens: Tokens, challenge: Challenge, endpoint: Endpoint, credential: Credential | None) -> str:
    """The Authorization header that answers the challenge, "" if there is none."""
    if challenge.scheme == "basic":
        return basic(credential) if credential and credential.password else ""
    scope = scope_of(endpoint.repository, challenge) if endpoint.repository else ""
    return f"Bearer {tokens.bearer(challenge, scope, credential, endpoint.origin, '')[0]}"


def _verdict(status: int, origin: str, *, asked: bool, image: bool) -> LoginResult:
    if status in {401, 403}:
        return LoginResult(accepted=False, asked=asked, detail=f"{origin} answers {status}")
    if status == 429 or status >= 500:
        raise RegistryError(f"{origin} answers {status}: try again later", status=status)
    if status != 200 and not image:
        raise RegistryError(
            f"{origin} answers {status} to /v2/, so it is no registry: correct the host", status=status
        )
    return LoginResult(accepted=True, asked=asked, detail="there is no such image" if status == 404 else "")
