"""Whether a registry accepts the credential that would be used for it.

an image        HEAD of its manifest, which no registry counts as a pull
a server        GET of the API's root
401             the challenge is answered as for any request, and the request made once more

status              verdict
200                 accepted
404, and the like   accepted; there is no such image
401, 403            refused
anything else       nobody knows
"""

from __future__ import annotations

from archfit.errors import RegistryError
from archfit.record import Record
from archfit.registry.credentials.keychain import Credential
from archfit.registry.credentials.tokens import Tokens
from archfit.registry.manifest import ACCEPT
from archfit.registry.routing.endpoints import Target
from archfit.registry.transport import challenges
from archfit.registry.transport.retrying_client import Asker

_MAX_BODY = 64 * 1024


class Verdict(Record):
    """accepted: the registry answered. asked: it wanted credentials, or a token. detail: what it said, a sentence."""

    accepted: bool
    asked: bool
    detail: str


def check(
    asker: Asker, tokens: Tokens, target: Target, tag_or_digest: str, credential: Credential | None
) -> Verdict:
    """The registry's verdict. tag_or_digest: of an image in target's repository, "" for the server itself.

    Raises RegistryError where the server cannot be asked, Unauthorized where its token service refuses.
    """
    root = f"{target.origin}{target.base}/"
    method, url = (
        ("HEAD", f"{root}{target.repository}/manifests/{tag_or_digest}") if tag_or_digest else ("GET", root)
    )
    headers = {**dict(target.headers), "accept": ACCEPT if tag_or_digest else "*/*"}

    def send(authorization: str) -> tuple[int, challenges.Challenge | None]:
        sent = {**headers, "authorization": authorization} if authorization else headers
        kind = "head" if tag_or_digest else "ping"
        reply = asker.ask(
            kind, method, url, sent, home=target.origin, limit=0 if tag_or_digest else _MAX_BODY
        )
        return reply.status, challenges.choose(challenges.challenges(reply.challenges))

    status, challenge = send("")
    asked = status == 401
    if asked and challenge:
        header = _answer(tokens, challenge, target, credential)
        if header:
            status, _ = send(header)
    return _verdict(status, target.origin, asked=asked)


def _answer(
    tokens: Tokens, challenge: challenges.Challenge, target: Target, credential: Credential | None
) -> str:
    """The Authorization header that answers the challenge, "" if there is none."""
    if challenge.scheme == "basic":
        return challenges.basic(credential) if credential and credential.password else ""
    scope = challenges.scope_of(target.repository, challenge) if target.repository else ""
    return f"Bearer {tokens.bearer(challenge, scope, credential, target.origin, '')[0]}"


def _verdict(status: int, origin: str, *, asked: bool) -> Verdict:
    if status in {401, 403}:
        return Verdict(accepted=False, asked=asked, detail=f"{origin} answers {status}")
    if status == 429 or status >= 500:
        raise RegistryError(f"{origin} answers {status}: try again later", status=status)
    return Verdict(accepted=True, asked=asked, detail="there is no such image" if status == 404 else "")
