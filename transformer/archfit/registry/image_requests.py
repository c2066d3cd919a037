"""What one question needs of registries: which requests, at which endpoints.

    tag, stale in the cache     HEAD; the same digest confirms it; another one is looked up in the cache, then fetched
    anything else               GET by tag or digest; platforms by `resolve_platforms`

    several endpoints           in order; a tag only at those that may resolve it. The next one where one cannot be
                                asked, refuses, or does not have it; Absent only where the last one says so. A server
                                that gave no HTTP answer is not asked again in this run, if there is another.

`registry_session` loads this module, and with it all that reads answers, while the first connections are made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from time import monotonic

from archfit.images.contents import Contents
from archfit.images.platforms import Found
from archfit.images.reference import Reference
from archfit.registry import manifest
from archfit.registry.client import RawManifest, RegistryClient
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.credentials.tokens import Tokens
from archfit.registry.manifest import Descriptor, Index, Manifest
from archfit.registry.registry_errors import ManifestUnknown, Misconfigured, RegistryError
from archfit.registry.registry_questions import Part, Question, Route
from archfit.registry.resolve_platforms import Offer, resolve_platforms
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.request import NoTls, Unreachable
from archfit.registry.transport.retrying_client import RetryingClient
from archfit.registry.transport.servers import Servers
from archfit.typing_names import T


class ImageRequests:
    """Safe to use from several threads. now, wait: as `RetryingClient` takes them.

    recall: platforms that the cache has for a digest of a repository; called from several threads.
    answered_by: by normalised reference, the endpoint that answered.
    documents: by normalised reference, the manifest and where it was read; None keeps none.
    contents: by digest, what is behind the documents that were read; None keeps none.
    """

    def __init__(
        self,
        connections: Connections,
        keychain: Keychain,
        now: Callable[[], float],
        wait: Callable[[float], object],
        recall: Callable[[Reference, str], Found | None],
    ) -> None:
        self.servers = Servers()
        self.http = RetryingClient(connections, self.servers, now, wait)
        self.answered_by: dict[str, Endpoint] = {}
        self.documents: dict[str, tuple[Endpoint, RawManifest]] | None = None
        self.contents: dict[str, Contents] | None = None
        self._client = RegistryClient(self.http, keychain, Tokens(self.http, monotonic))
        self._connections = connections
        self._recall = recall
        self._unreachable: set[str] = set()

    def credential_sent(self, route: Route) -> bool:
        """A credential was used for this image at one of its endpoints, or a token that was had for one."""
        sent = self._client.credentials_sent
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

    def part(self, part: Part, route: Route) -> Contents:
        """What is behind a digest. Raises the same."""
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        return self._in_turn(pulls, lambda endpoint: self._part_at(part, endpoint))

    def _part_at(self, part: Part, endpoint: Endpoint) -> Contents:
        reference = part.reference
        if part.kind == "config":
            contents = Contents(
                "config", platform=manifest.parse_config(self._client.blob(endpoint, reference.digest))
            )
        else:
            document = self._client.manifest(endpoint, reference.digest)
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
        digest = self._client.digest(endpoint, reference.tag) if known or not endpoint.pulls else ""
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
                failed.append(_placed(error, endpoint).with_traceback(None))
        raise _joined(failed)

    def _read(self, reference: Reference, endpoint: Endpoint, tag_or_digest: str) -> Found:
        document = self._client.manifest(endpoint, tag_or_digest)
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
                return self._client.blob(endpoint, descriptor.digest)
            try:
                return self._client.manifest(endpoint, descriptor.digest).body
            except ManifestUnknown as error:
                raise RegistryError(f"{error}, which its index names", status=404) from None

        return resolve_platforms(parsed, digest, read)

    def _parsed(self, document: RawManifest) -> Index | Manifest:
        if self._connections.left() <= 0:
            raise RegistryError("its answer came too late: allow more time with --timeout")
        return manifest.parse(document.body, document.content_type)


def _contents(parsed: Index | Manifest, offer: Offer | None) -> Contents:
    if isinstance(parsed, Index):
        return Contents("index", offer.builds if offer else ())
    config = parsed.config.digest if parsed.config else ""
    return Contents(
        "manifest", config=config, platform=offer.platforms[0] if offer and offer.platforms else None
    )


def _placed(error: RegistryError, endpoint: Endpoint) -> RegistryError:
    """The error of a server that gave no answer, with what puts it in the place of the registry."""
    if not endpoint.named_by or not isinstance(error, Unreachable):
        return error
    if isinstance(error, NoTls):
        flag = endpoint.named_by
        url = flag.replace("=https://", "=http://", 1)
        return NoTls(error.server, f"write {url}" if url != flag else f"say so in the files of {flag}")
    message = f"{error} (it is asked for {endpoint.instead_of} because of {endpoint.named_by})"
    return Unreachable(message, retryable=error.retryable, mistake=error.mistake)


def _joined(failed: Sequence[RegistryError]) -> RegistryError:
    """One error for all servers that were asked: the last one's kind, with the messages of all."""
    if len(failed) == 1:
        return failed[0]
    messages = "; ".join(dict.fromkeys(str(error) for error in failed))
    if failed and isinstance(failed[-1], ManifestUnknown):
        return ManifestUnknown(messages, status=404)
    if failed and all(error.mistake for error in failed):
        return Misconfigured(messages)
    return RegistryError(messages or "no server may be asked for it")
