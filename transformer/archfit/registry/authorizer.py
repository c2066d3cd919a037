"""Requests to a registry that asks for credentials: its challenge is answered, with a token or with Basic.

    challenge remembered        token first, and so no 401; where the token service of an earlier run gives none, the
                                registry is asked again, because it may have moved that service
    401 with credentials        one new token, then it is an error
    400 with a token            the token is dropped, one new one is tried (ECR Public)
    401 behind a redirect       an anonymous token of that server, as containerd asks for; CRI-O does not

Credentials are sent only to a server that has asked for them, now or in an earlier run.
"""

from __future__ import annotations

from collections.abc import Callable

from archfit.registry.credentials.keychain import Keychain
from archfit.registry.credentials.tokens import Tokens, basic
from archfit.registry.http.challenges import Challenge, challenges, choose, scope_of
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.request import Reply, Request, origin_of
from archfit.registry.http.servers import ServerState
from archfit.registry.quirks import EXPIRED_TOKEN
from archfit.registry.refusals import MAX_ERROR, is_own, refusal
from archfit.registry.registry_errors import RegistryError
from archfit.registry.routing.endpoints import Endpoint


class Authorizer:
    """Safe to use from several threads. left: seconds until the run's deadline."""

    def __init__(self, http: HttpClient, keychain: Keychain, left: Callable[[], float]) -> None:
        self._http = http
        self._keychain = keychain
        self._tokens = Tokens(http)
        self._left = left
        self._sent: set[tuple[str, str]] = set()

    def sent_credential(self, endpoint: Endpoint) -> bool:
        """A credential was used at the endpoint, or a token that was had for one."""
        return (endpoint.host, endpoint.repository) in self._sent

    def send(self, request: Request, endpoint: Endpoint) -> Reply:
        """The last answer, after the challenges of the server; see the module. Raises RegistryError."""
        server = self._http.servers.of(endpoint.origin)

        def send(authorization: str) -> Reply:
            more = {"authorization": authorization} if authorization else {}
            return self._http.send(request.replace(headers={**request.headers, **more}))

        left = self._left()
        first = server.asks_first(left, expected=not server.known and self._keychain.mentions(endpoint.host))
        offered: Challenge | None = None
        try:
            challenge, remembered = server.challenge, server.remembered
            scope = scope_of(endpoint.repository, Challenge(""))
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
            if reply.status == 401 and is_own(reply, endpoint):
                offered = self._learn(server, endpoint, reply)
                if moved and challenge and offered and _same(challenge, scope, offered, scope):
                    raise moved  # the registry still names the service that gave no token
            elif header:
                server.remembered = False
            server.known = True
        finally:
            if first:
                server.first_answer.set()
        for _ in range(2 if not header else 1):
            if reply.status == 401 and offered:
                wanted = scope_of(endpoint.repository, offered)
                same = challenge is not None and _same(challenge, scope, offered, wanted)
                # A token that was fetched just now for exactly this scope is not better the second time.
                if header and same and fresh and offered.error not in {"insufficient_scope", "invalid_token"}:
                    break
                challenge, scope = offered, wanted
            elif reply.status != EXPIRED_TOKEN or challenge is None or not header.startswith("Bearer "):
                break
            header, fresh = self._authorization(endpoint, challenge, scope, header.removeprefix("Bearer "))
            if not header:
                break
            reply = send(header)
            if not is_own(reply, endpoint):
                break
            offered = self._learn(server, endpoint, reply) if reply.status == 401 else None
        return reply if is_own(reply, endpoint) else self._elsewhere(server, request, reply)

    def _elsewhere(self, server: ServerState, request: Request, reply: Reply) -> Reply:
        """The answer of the server that the registry redirected to, with a token that it gives to anybody."""
        offered = choose(challenges(reply.challenges)) if reply.status == 401 else None
        if offered is None or offered.scheme != "bearer":
            return reply
        token, _ = self._tokens.bearer(offered, offered.scope, None, origin_of(reply.url), "")
        accept = {name: value for name, value in request.headers.items() if name == "accept"}
        headers = {**accept, "authorization": f"Bearer {token}"}
        server.elsewhere = origin_of(reply.url)
        return self._http.send(request.replace(url=reply.url, headers=headers))

    def _learn(self, server: ServerState, endpoint: Endpoint, reply: Reply) -> Challenge | None:
        """The challenge of a 401, remembered for the host; asks `/v2/` where the 401 carries none."""
        offered = choose(challenges(reply.challenges))
        if offered is None:
            root = f"{endpoint.origin}{endpoint.base}/"
            ping = self._http.send(
                Request("ping", "GET", root, dict(endpoint.headers), endpoint.origin, MAX_ERROR)
            )
            offered = choose(challenges(ping.challenges)) if is_own(ping, endpoint) else None
        if offered:
            server.challenge = offered
        return offered

    def _authorization(
        self, endpoint: Endpoint, challenge: Challenge, scope: str, refused: str
    ) -> tuple[str, bool]:
        """The header that answers the challenge, "" if there is none, and whether it is new."""
        credential = self._keychain.find(endpoint.host, endpoint.repository)
        if credential:
            self._sent.add((endpoint.host, endpoint.repository))
        if challenge.scheme == "basic":
            return (basic(credential), True) if credential and credential.password else ("", False)
        token, fresh = self._tokens.bearer(challenge, scope, credential, endpoint.origin, refused)
        return f"Bearer {token}", fresh

    def _secrets(self, endpoint: Endpoint) -> list[str]:
        """Secrets that requests to the endpoint may have carried; messages must not repeat them."""
        secrets = [value for _, value in endpoint.headers]
        sent = self.sent_credential(endpoint)
        credential = self._keychain.find(endpoint.host, endpoint.repository) if sent else None
        if credential:
            secrets += [credential.password, credential.identity_token, credential.registry_token]
            secrets.append(basic(credential).removeprefix("Basic "))
        return [secret for secret in (*secrets, *self._tokens.given()) if secret]

    def refusal(self, reply: Reply, endpoint: Endpoint, what: str) -> RegistryError:
        """What a status other than 200 means. what: was asked for."""
        credential = (
            self._keychain.find(endpoint.host, endpoint.repository)
            if reply.status in {401, 403} and is_own(reply, endpoint)
            else None
        )
        return refusal(reply, endpoint, what, credential, self._secrets(endpoint))


def _same(challenge: Challenge, scope: str, offered: Challenge, wanted: str) -> bool:
    """Answering `offered` would send what answered `challenge`."""
    if challenge.scheme == offered.scheme == "basic":
        return True
    return (challenge.realm, challenge.service, scope) == (offered.realm, offered.service, wanted)
