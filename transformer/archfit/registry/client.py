"""Images, manifests and blobs from registries (OCI distribution-spec 1.1, Pull).

    GET  /v2/<repository>/manifests/<tag or digest>     one Accept header with all four types; bytes hashed here
    HEAD the same                                       only Docker-Content-Digest is read, and only as a hint
    GET  /v2/<repository>/blobs/<digest>                image configs
    GET  /v2/<repository>/tags/list                     tags (`tag_list`)

    tag, stale in the cache     HEAD; the same digest confirms it; another one is looked up in the cache, then fetched
    anything else               GET by tag or digest; platforms by `resolve_platforms`

    several endpoints           in order; a tag only at those that may resolve it. The next one where one cannot be
                                asked, refuses, or does not have it; Absent only where the last one says so. A server
                                that gave no HTTP answer is not asked again in this run, if there is another.

    no challenge known          ask without credentials; a 401 carries the challenge, then once more
    challenge remembered        token first, and so no 401; where the token service of an earlier run gives none, the
                                registry is asked again, because it may have moved that service
    401 with credentials        one new token, then it is an error
    400 with a token            the token is dropped, one new one is tried (ECR Public)

Credentials are sent only to a server that has asked for them, now or in an earlier run. `fetcher` loads this module,
and with it all that asks and reads, while the first connections are made.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar
from urllib.parse import quote

from archfit.base.record import Record
from archfit.images.contents import ImageContents
from archfit.images.platforms import Found
from archfit.images.reference import HUB_API, Reference, is_digest
from archfit.images.tags import TagList
from archfit.registry import manifest, tag_list
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.credentials.tokens import Tokens, basic
from archfit.registry.http.challenges import Challenge, challenges, choose, scope_of
from archfit.registry.http.request import Reply, Request, Unreachable, origin_of
from archfit.registry.http.retries import RetryingClient
from archfit.registry.http.servers import Servers, ServerState
from archfit.registry.http.transport import HttpTransport
from archfit.registry.lookup_context import LookupContext
from archfit.registry.manifest import ACCEPT, Descriptor, Index, Manifest
from archfit.registry.refusals import MAX_ERROR, is_own, joined, placed, refusal
from archfit.registry.registry_errors import InvalidManifest, ManifestUnknown, RegistryError
from archfit.registry.registry_questions import Part, Question, Route
from archfit.registry.resolve_platforms import Offer, matches, resolve_platforms
from archfit.registry.routing.endpoints import Endpoint

T = TypeVar("T")

MAX_MANIFEST = 4 * 1024 * 1024
MAX_CONFIG = 4 * 1024 * 1024
_ACCEPTED = {"blob": "*/*", "list": "application/json"}


class RawManifest(Record):
    """A manifest as received. content_type: the header. digest: of the bytes, computed here."""

    body: bytes
    content_type: str
    digest: str


class RegistryClient:
    """Asks registries; safe to use from several threads.

    recall: platforms that the cache has for a digest of a repository; called from several threads.
    answered_by: by normalised reference, the endpoint that answered.
    documents: by normalised reference, the manifest and where it was read; None keeps none.
    contents: by digest, what is behind the documents that were read; None keeps none.
    """

    def __init__(
        self,
        transport: HttpTransport,
        keychain: Keychain,
        context: LookupContext,
        recall: Callable[[Reference, str], Found | None],
    ) -> None:
        self.servers = Servers()
        self.http = RetryingClient(transport, self.servers, context.clock, context.wait)
        self.answered_by: dict[str, Endpoint] = {}
        self.documents: dict[str, tuple[Endpoint, RawManifest]] | None = None
        self.contents: dict[str, ImageContents] | None = None
        self._keychain = keychain
        self._tokens = Tokens(self.http, monotonic)
        self._left = context.deadline.left
        self._recall = recall
        self._unreachable: set[str] = set()
        self._credentials_sent: set[tuple[str, str]] = set()

    def credential_sent(self, route: Route) -> bool:
        """A credential was used for this image at one of its endpoints, or a token that was had for one."""
        sent = self._credentials_sent
        return any((endpoint.host, endpoint.repository) in sent for endpoint in route.endpoints)

    def platforms(self, question: Question, route: Route) -> Found:
        """The answer to a question. Raises RegistryError, ManifestUnknown, InvalidManifest."""
        reference = question.reference
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        if not reference.tag:
            return self._in_turn(pulls, lambda endpoint: self._pinned(reference, endpoint))
        return self._in_turn(
            [endpoint for endpoint in route.endpoints if endpoint.resolves],
            lambda endpoint: self._resolved_at(question, endpoint, pulls),
        )

    def part(self, part: Part, route: Route) -> ImageContents:
        """What is behind a digest. Raises the same."""
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        return self._in_turn(pulls, lambda endpoint: self._part_at(part, endpoint))

    def tags(self, question: Question, route: Route) -> TagList:
        """The tags of a repository. question: any reference of it. Raises the same."""
        reference = question.reference
        resolving = [endpoint for endpoint in route.endpoints if endpoint.resolves]
        return self._in_turn(resolving, lambda endpoint: self._tags_at(reference, endpoint))

    def _tags_at(self, reference: Reference, endpoint: Endpoint) -> TagList:
        listed = self._listed_at(endpoint)
        self.answered_by[reference.normalised] = endpoint
        return listed

    def _listed_at(self, endpoint: Endpoint) -> TagList:
        if endpoint.host == HUB_API and not endpoint.configured:
            with contextlib.suppress(RegistryError, InvalidManifest):
                first = tag_list.hub_url(endpoint.repository)
                return tag_list.read_tags(first, self._hub_reply, tag_list.hub_page)
        first = f"{endpoint.origin}{endpoint.base}/{endpoint.repository}/tags/list{_namespace(endpoint)}"

        def ask(url: str, limit: int) -> Reply:
            if origin_of(url) != endpoint.origin:
                headers = {"accept": "application/json"}
                reply = self.http.send(Request("list", "GET", url, headers, endpoint.origin, limit))
            else:
                reply = self._ask("list", endpoint, url, limit)
            if reply.status == 404:
                raise ManifestUnknown(
                    f"{endpoint.origin} has no repository {endpoint.repository}", status=404
                )
            if reply.status != 200:
                raise self._refusal(reply, endpoint, f"the tags of {endpoint.repository}")
            return reply

        return tag_list.read_tags(first, ask, tag_list.registry_page)

    def _hub_reply(self, url: str, limit: int) -> Reply:
        """A page of Docker Hub's own listing, which takes no credentials of the registry."""
        headers = {"accept": "application/json"}
        reply = self.http.send(Request("list", "GET", url, headers, tag_list.HUB_LISTING, limit))
        if reply.status != 200:
            raise RegistryError(f"{origin_of(url)} answered {reply.status} for a list of tags")
        return reply

    def _part_at(self, part: Part, endpoint: Endpoint) -> ImageContents:
        reference = part.reference
        if part.kind == "config":
            contents = ImageContents(
                "config", platform=manifest.parse_config(self._blob(endpoint, reference.digest))
            )
        else:
            document = self._manifest(endpoint, reference.digest)
            parsed = self._parsed(document)
            if part.kind == "manifest" and isinstance(parsed, Manifest):
                contents = _contents(parsed, None)
            else:
                contents = _contents(parsed, self._offer(parsed, document.digest, endpoint))
        self.answered_by[reference.normalised] = endpoint
        return contents

    def _resolved_at(self, question: Question, endpoint: Endpoint, pulls: Sequence[Endpoint]) -> Found:
        found = self._tagged(question, endpoint, pulls)
        self.answered_by[question.reference.normalised] = endpoint
        return found

    def _pinned(self, reference: Reference, endpoint: Endpoint) -> Found:
        found = self._read(reference, endpoint, reference.digest)
        self.answered_by[reference.normalised] = endpoint
        return found

    def _tagged(self, question: Question, endpoint: Endpoint, pulls: Sequence[Endpoint]) -> Found:
        """What the tag points to, at a server that may resolve tags."""
        reference, known = question.reference, question.known
        digest = self._digest(endpoint, reference.tag) if known or not endpoint.pulls else ""
        if digest:
            if known and digest == known.digest:
                return known.replace(origin="registry", age_seconds=0)
            seen = self._recall(reference, digest)
            if seen:
                return seen.replace(origin="registry", age_seconds=0)
            if not endpoint.pulls:
                return self._in_turn(pulls, lambda other: self._read(reference, other, digest))
            with contextlib.suppress(ManifestUnknown):
                # The tag may have moved since; or the server sent a digest that it does not have.
                return self._read(reference, endpoint, digest)
        if not endpoint.pulls:
            raise RegistryError(
                f"{endpoint.origin} may only resolve tags, and gives no digest for {reference.tag}"
            )
        return self._read(reference, endpoint, reference.tag)

    def _in_turn(self, endpoints: Sequence[Endpoint], ask: Callable[[Endpoint], T]) -> T:
        """The first answer. Raises an error of the last server's kind, with the messages of all."""
        failed: list[RegistryError] = []
        for index, endpoint in enumerate(endpoints):
            after = [other for other in endpoints[index + 1 :] if not other.fallback]
            if endpoint.fallback and not isinstance(failed[-1] if failed else None, Unreachable):
                continue
            following = endpoints[index + 1 : index + 2]
            if following and endpoint.origin in self._unreachable:
                failed.append(Unreachable(f"{endpoint.origin} was not reached before", retryable=False))
                continue
            try:
                return ask(endpoint.replace(last=not after))
            except RegistryError as error:
                if following and isinstance(error, Unreachable):
                    self._unreachable.add(endpoint.origin)
                # Its frames hold the answer that was read; a run has no garbage collector to free it later.
                failed.append(placed(error, endpoint).with_traceback(None))
        raise joined(failed)

    def _read(self, reference: Reference, endpoint: Endpoint, tag_or_digest: str) -> Found:
        document = self._manifest(endpoint, tag_or_digest)
        if self.documents is not None:
            self.documents[reference.normalised] = (endpoint, document)

        digest, parsed = document.digest, self._parsed(document)
        del document  # up to 4 MiB, which are not needed while its children are read
        offer = self._offer(parsed, digest, endpoint)
        if self.contents is not None:
            self.contents[digest] = _contents(parsed, offer)
        return Found(offer.platforms, digest, offer.index, offer.image)

    def _offer(self, parsed: Index | Manifest, digest: str, endpoint: Endpoint) -> Offer:
        def read(kind: str, descriptor: Descriptor) -> bytes:
            if kind == "blobs":
                return self._blob(endpoint, descriptor.digest)
            try:
                return self._manifest(endpoint, descriptor.digest).body
            except ManifestUnknown as error:
                raise RegistryError(f"{error}, which its index names", status=404) from None

        return resolve_platforms(parsed, digest, read)

    def _parsed(self, document: RawManifest) -> Index | Manifest:
        if self._left() <= 0:
            raise RegistryError("its answer came too late: allow more time with --timeout")
        return manifest.parse(document.body, document.content_type)

    def _manifest(self, endpoint: Endpoint, tag_or_digest: str) -> RawManifest:
        """The manifest. Raises ManifestUnknown, other RegistryErrors, and InvalidManifest for a wrong digest."""
        what = f"{endpoint.repository}{'@' if is_digest(tag_or_digest) else ':'}{tag_or_digest}"
        path = f"manifests/{tag_or_digest}"
        reply = self._ask("manifest", endpoint, path, MAX_MANIFEST)
        if reply.status == 404:
            raise ManifestUnknown(f"{endpoint.origin} has no {what}", status=404)
        if reply.status != 200:
            raise self._refusal(reply, endpoint, what)
        digest = _verified(reply.body, tag_or_digest, f"{endpoint.origin} sent for {what}")
        return RawManifest(reply.body, reply.headers.get("content-type", ""), digest)

    def _digest(self, endpoint: Endpoint, tag: str) -> str:
        """The tag's digest for one HEAD, "" where only a GET can tell. Raises RegistryError."""
        server = self.http.servers.of(endpoint.origin)
        if not server.head:
            return ""
        reply = self._ask("head", endpoint, f"manifests/{tag}", 0)
        if reply.status in {401, 403, 429} or (reply.status >= 500 and reply.status != 501):
            raise self._refusal(reply, endpoint, f"{endpoint.repository}:{tag}")
        digest = reply.headers.get("docker-content-digest", "")
        if reply.status in {405, 501} or (reply.status == 200 and not is_digest(digest)):
            server.head = False
        return digest if reply.status == 200 and is_digest(digest) else ""

    def _blob(self, endpoint: Endpoint, digest: str) -> bytes:
        """The blob's bytes. Raises RegistryError, and InvalidManifest for a wrong digest."""
        what = f"the config {digest} of {endpoint.repository}"
        reply = self._ask("blob", endpoint, f"blobs/{digest}", MAX_CONFIG)
        if reply.status != 200:
            raise self._refusal(reply, endpoint, what)
        _verified(reply.body, digest, f"{endpoint.origin} sent for {what}")
        return reply.body

    def _ask(self, kind: str, endpoint: Endpoint, path: str, limit: int) -> Reply:
        """The last answer, after the challenges of the server; see the module. path: of a list, its URL."""
        url = f"{endpoint.origin}{endpoint.base}/{endpoint.repository}/{path}{_namespace(endpoint)}"
        url = path if kind == "list" else url
        headers = {**dict(endpoint.headers), "accept": _ACCEPTED.get(kind, ACCEPT)}
        method = "HEAD" if kind == "head" else "GET"
        request = Request(kind, method, url, headers, endpoint.origin, limit, retry=endpoint.last)
        server = self.http.servers.of(endpoint.origin)

        def send(authorization: str) -> Reply:
            more = {"authorization": authorization} if authorization else {}
            return self.http.send(request.replace(headers={**headers, **more}))

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
                server.first_answered()
        for _ in range(2 if not header else 1):
            if reply.status == 401 and offered:
                wanted = scope_of(endpoint.repository, offered)
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
            if not is_own(reply, endpoint):
                break
            offered = self._learn(server, endpoint, reply) if reply.status == 401 else None
        return reply

    def _learn(self, server: ServerState, endpoint: Endpoint, reply: Reply) -> Challenge | None:
        """The challenge of a 401, remembered for the host; asks `/v2/` where the 401 carries none."""
        offered = choose(challenges(reply.challenges))
        if offered is None:
            root = f"{endpoint.origin}{endpoint.base}/"
            ping = self.http.send(
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
            self._credentials_sent.add((endpoint.host, endpoint.repository))
        if challenge.scheme == "basic":
            return (basic(credential), True) if credential and credential.password else ("", False)
        token, fresh = self._tokens.bearer(challenge, scope, credential, endpoint.origin, refused)
        return f"Bearer {token}", fresh

    def _secrets(self, endpoint: Endpoint) -> list[str]:
        """Secrets that requests to the endpoint may have carried; messages must not repeat them."""
        found = [value for _, value in endpoint.headers]
        sent = (endpoint.host, endpoint.repository) in self._credentials_sent
        credential = self._keychain.find(endpoint.host, endpoint.repository) if sent else None
        if credential:
            found += [credential.password, credential.identity_token, credential.registry_token]
            found.append(basic(credential).removeprefix("Basic "))
        return [secret for secret in (*found, *self._tokens.given()) if secret]

    def _refusal(self, reply: Reply, endpoint: Endpoint, what: str) -> RegistryError:
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


def _namespace(endpoint: Endpoint) -> str:
    """The query that names the registry to a mirror (containerd, docs/hosts.md)."""
    return f"?ns={quote(endpoint.namespace, safe=':[]')}" if endpoint.namespace else ""


def _verified(body: bytes, wanted: str, sent: str) -> str:
    """The digest of the bytes: `wanted` if that is one, which they must hash to, else their SHA-256."""
    if not is_digest(wanted):
        return f"sha256:{hashlib.sha256(body).hexdigest()}"
    if not matches(body, wanted):
        raise InvalidManifest(f"{sent} bytes that do not have the digest {wanted}")
    return wanted


def _contents(parsed: Index | Manifest, offer: Offer | None) -> ImageContents:
    if isinstance(parsed, Index):
        return ImageContents("index", offer.builds if offer else ())
    config = parsed.config.digest if parsed.config else ""
    return ImageContents(
        "manifest", config=config, platform=offer.platforms[0] if offer and offer.platforms else None
    )
