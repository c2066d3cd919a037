"""Manifests and blobs from a registry (OCI distribution-spec 1.1, Pull).

    GET  /v2/<repository>/manifests/<tag or digest>     one Accept header with all four types; bytes hashed here
    HEAD the same                                       only Docker-Content-Digest is read, and only as a hint
    GET  /v2/<repository>/blobs/<digest>                image configs

    no challenge known          ask without credentials; a 401 carries the challenge, then once more
    challenge remembered        token first, and so no 401; where the token service of an earlier run gives none, the
                                registry is asked again, because it may have moved that service
    401 with credentials        one new token, then it is an error
    400 with a token            the token is dropped, one new one is tried (ECR Public)

Credentials are sent only to a server that has asked for them, now or in an earlier run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from urllib.parse import quote

from archfit.images.reference import is_digest
from archfit.printable import visible
from archfit.record import Record
from archfit.registry.credentials.credential import Credential
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.credentials.token_requests import basic
from archfit.registry.credentials.tokens import Tokens
from archfit.registry.manifest import ACCEPT
from archfit.registry.registry_errors import (
    InvalidManifest,
    ManifestUnknown,
    RateLimited,
    RegistryError,
    Unauthorized,
)
from archfit.registry.resolve_platforms import matches
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.transport import challenges, retry_policy
from archfit.registry.transport.challenges import Challenge
from archfit.registry.transport.request import Reply, Request, origin_of
from archfit.registry.transport.retrying_client import RetryingClient
from archfit.registry.transport.servers import ServerState
from archfit.typing_names import NoReturn

MAX_MANIFEST = 4 * 1024 * 1024
MAX_CONFIG = 4 * 1024 * 1024
MAX_PING = 64 * 1024


class RawManifest(Record):
    """A manifest as received. content_type: the header. digest: of the bytes, computed here."""

    body: bytes
    content_type: str
    digest: str


class RegistryClient:
    """Asks registries; safe to use from several threads.

    credentials_sent: host and repository of what was asked for with a credential.
    """

    def __init__(self, http: RetryingClient, keychain: Keychain, tokens: Tokens) -> None:
        self._http = http
        self._keychain = keychain
        self._tokens = tokens
        self.credentials_sent: set[tuple[str, str]] = set()

    def manifest(self, endpoint: Endpoint, tag_or_digest: str) -> RawManifest:
        """The manifest. Raises ManifestUnknown, other RegistryErrors, and InvalidManifest for a wrong digest."""
        what = f"{endpoint.repository}{'@' if is_digest(tag_or_digest) else ':'}{tag_or_digest}"
        path = f"manifests/{tag_or_digest}"
        reply = self._ask("manifest", endpoint, path, MAX_MANIFEST)
        if reply.status == 404:
            raise ManifestUnknown(f"{endpoint.origin} has no {what}", status=404)
        if reply.status != 200:
            self._refuse(reply, endpoint, what)
        digest = _verified(reply.body, tag_or_digest, f"{endpoint.origin} sent for {what}")
        return RawManifest(reply.body, reply.headers.get("content-type", ""), digest)

    def digest(self, endpoint: Endpoint, tag: str) -> str:
        """The tag's digest for one HEAD, "" where only a GET can tell. Raises RegistryError."""
        server = self._http.servers.of(endpoint.origin)
        if not server.head:
            return ""
        reply = self._ask("head", endpoint, f"manifests/{tag}", 0)
        if reply.status in {401, 403, 429} or (reply.status >= 500 and reply.status != 501):
            self._refuse(reply, endpoint, f"{endpoint.repository}:{tag}")
        digest = reply.headers.get("docker-content-digest", "")
        if reply.status in {405, 501} or (reply.status == 200 and not is_digest(digest)):
            server.head = False
        return digest if reply.status == 200 and is_digest(digest) else ""

    def blob(self, endpoint: Endpoint, digest: str) -> bytes:
        """The blob's bytes. Raises RegistryError, and InvalidManifest for a wrong digest."""
        what = f"the config {digest} of {endpoint.repository}"
        reply = self._ask("blob", endpoint, f"blobs/{digest}", MAX_CONFIG)
        if reply.status != 200:
            self._refuse(reply, endpoint, what)
        _verified(reply.body, digest, f"{endpoint.origin} sent for {what}")
        return reply.body

    def _ask(self, kind: str, endpoint: Endpoint, path: str, limit: int) -> Reply:
        """The last answer, after the challenges of the server; see the module."""
        url = f"{endpoint.origin}{endpoint.base}/{endpoint.repository}/{path}{_namespace(endpoint)}"
        headers = {**dict(endpoint.headers), "accept": "*/*" if kind == "blob" else ACCEPT}
        method = "HEAD" if kind == "head" else "GET"
        request = Request(kind, method, url, headers, endpoint.origin, limit, retry=endpoint.last)
        server = self._http.servers.of(endpoint.origin)

        def send(authorization: str) -> Reply:
            more = {"authorization": authorization} if authorization else {}
            return self._http.send(request.replace(headers={**headers, **more}))

        left = self._http.connections.left()
        first = server.asks_first(left, expected=not server.known and self._keychain.mentions(endpoint.host))
        offered: Challenge | None = None
        try:
            challenge, remembered = server.challenge, server.remembered
            scope = challenges.scope_of(endpoint.repository, challenges.Challenge(""))
            header, fresh = "", False
            moved: RegistryError | None = None
            if challenge:
                # Raises its errors here, because they are not a reason to ask the registry for another challenge.
                self._keychain.find(endpoint.host, endpoint.repository)
                try:
                    header, fresh = self._authorization(endpoint, challenge, scope, "")
                except RegistryError as error:
                    if not remembered:
                        raise
                    moved = error
                    server.forget(challenge)
            reply = send(header)
            if reply.status == 401 and _own(reply, endpoint):
                offered = self._learn(server, endpoint, reply)
                if moved and challenge and offered and _same(challenge, scope, offered, scope):
                    raise moved  # the registry still names the service that gave no token
            elif header:
                server.remembered = False
            server.known = True
        finally:
            if first:
                server.first_answered()
        for _ in range(2 if not header else 1):
            if reply.status == 401 and offered:
                wanted = challenges.scope_of(endpoint.repository, offered)
                same = challenge is not None and _same(challenge, scope, offered, wanted)
                # A token that was fetched just now for exactly this scope is not better the second time.
                if header and same and fresh and offered.error not in {"insufficient_scope", "invalid_token"}:
                    break
                challenge, scope = offered, wanted
            elif reply.status != 400 or challenge is None or not header.startswith("Bearer "):
                break
            header, fresh = self._authorization(endpoint, challenge, scope, header.removeprefix("Bearer "))
            if not header:
                break
            reply = send(header)
            if not _own(reply, endpoint):
                break
            offered = self._learn(server, endpoint, reply) if reply.status == 401 else None
        return reply

    def _learn(self, server: ServerState, endpoint: Endpoint, reply: Reply) -> Challenge | None:
        """The challenge of a 401, remembered for the host; asks `/v2/` where the 401 carries none."""
        offered = challenges.choose(challenges.challenges(reply.challenges))
        if offered is None:
            root = f"{endpoint.origin}{endpoint.base}/"
            ping = self._http.send(
                Request("ping", "GET", root, dict(endpoint.headers), endpoint.origin, MAX_PING)
            )
            offered = (
                challenges.choose(challenges.challenges(ping.challenges)) if _own(ping, endpoint) else None
            )
        if offered:
            server.challenge = offered
        return offered

    def _authorization(
        self, endpoint: Endpoint, challenge: Challenge, scope: str, refused: str
    ) -> tuple[str, bool]:
        """The header that answers the challenge, "" if there is none, and whether it is new."""
        credential = self._keychain.find(endpoint.host, endpoint.repository)
        if credential:
            self.credentials_sent.add((endpoint.host, endpoint.repository))
        if challenge.scheme == "basic":
            return (basic(credential), True) if credential and credential.password else ("", False)
        token, fresh = self._tokens.bearer(challenge, scope, credential, endpoint.origin, refused)
        return f"Bearer {token}", fresh

    def _secrets(self, endpoint: Endpoint) -> list[str]:
        """Secrets that requests to the endpoint may have carried; messages must not repeat them."""
        found = [value for _, value in endpoint.headers]
        sent = (endpoint.host, endpoint.repository) in self.credentials_sent
        credential = self._keychain.find(endpoint.host, endpoint.repository) if sent else None
        if credential:
            found += [credential.password, credential.identity_token, credential.registry_token]
            found.append(basic(credential).removeprefix("Basic "))
        return [secret for secret in (*found, *self._tokens.given()) if secret]

    def _refuse(self, reply: Reply, endpoint: Endpoint, what: str) -> NoReturn:
        """Raise what a status other than 200 means."""
        where, words = origin_of(reply.url), _error_message(reply, self._secrets(endpoint))
        if reply.status in {401, 403} and _own(reply, endpoint):
            credential = self._keychain.find(endpoint.host, endpoint.repository)
            raise Unauthorized(
                f"{where} {_denied(credential, endpoint)} {what} ({reply.status}{words})", status=reply.status
            )
        if reply.status == 429:
            limit = retry_policy.is_pull_limit(reply.headers, reply.body)
            advice = (
                "its pull limit is used up: log in, ask a mirror (--mirror), or wait some hours"
                if limit
                else "it is asked too often: try later, or ask a mirror (--mirror)"
            )
            raise RateLimited(f"{where} answered 429 for {what}: {advice}", status=429)
        later = ": try again later" if reply.status >= 500 and not words else ""
        raise RegistryError(f"{where} answered {reply.status} for {what}{words}{later}", status=reply.status)


def _same(challenge: Challenge, scope: str, offered: Challenge, wanted: str) -> bool:
    """Answering `offered` would send what answered `challenge`."""
    if challenge.scheme == offered.scheme == "basic":
        return True
    return (challenge.realm, challenge.service, scope) == (offered.realm, offered.service, wanted)


def _denied(credential: Credential | None, endpoint: Endpoint) -> str:
    if credential:
        return f"found nothing, or gives the credentials from {credential.source} no access, for"
    return f"found nothing, or gives no anonymous access (log in with `docker login {endpoint.host}`), for"


def _namespace(endpoint: Endpoint) -> str:
    """The query that names the registry to a mirror (containerd, docs/hosts.md)."""
    return f"?ns={quote(endpoint.namespace, safe=':[]')}" if endpoint.namespace else ""


def _own(reply: Reply, endpoint: Endpoint) -> bool:
    """The answer is the registry's own, not that of a server it redirected to."""
    return origin_of(reply.url) == endpoint.origin


def _verified(body: bytes, wanted: str, sent: str) -> str:
    """The digest of the bytes: `wanted` if that is one, which they must hash to, else their SHA-256."""
    if not is_digest(wanted):
        return f"sha256:{hashlib.sha256(body).hexdigest()}"
    if not matches(body, wanted):
        raise InvalidManifest(f"{sent} bytes that do not have the digest {wanted}")
    return wanted


def _error_message(reply: Reply, secrets: Sequence[str]) -> str:
    """The first error message of the body, short and printable (distribution-spec, Error Codes).

    "" where it repeats one of the secrets.
    """
    if len(reply.body) > MAX_PING:
        return ""
    try:
        first = json.loads(reply.body)["errors"][0]
        words = f"{first.get('code', '')} {first.get('message', '')}".strip()
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return ""
    if any(secret in words for secret in secrets):
        return ""
    return f", {visible(words[:200])}" if words else ""
