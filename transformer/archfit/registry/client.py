"""Images, manifests and blobs from registries (OCI distribution-spec 1.1, Pull).

A tag that is stale in the cache is asked for by HEAD: the same digest confirms it. Several endpoints are asked in
order, a tag only at those that may resolve it, the next one where one cannot be asked, refuses, or does not have it;
Absent only where the last one says so. A server that gave no HTTP answer is not asked again in this run, if there is
another.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import TypeVar
from urllib.parse import quote

from archfit.images.contents import ImageContents, Part
from archfit.images.platforms import Found
from archfit.images.reference import Reference, is_digest
from archfit.images.tag_list import TagList
from archfit.options.settings import Operator
from archfit.registry import manifest, tag_list, untrusted_json
from archfit.registry.authorizer import Authorizer
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.http.connections import ConnectionPool
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.http_client import HttpClient
from archfit.registry.http.limits import OF_PROCESS, LargeBodies, ProcessorBudget, RequestBudget, Reserve
from archfit.registry.http.request import Reply, Request, Unreachable, origin_of
from archfit.registry.http.trust import Trust, host_port
from archfit.registry.lookup_context import LookupContext
from archfit.registry.manifest import ACCEPT, Descriptor, Index, Manifest
from archfit.registry.quirks import NO_HEAD, quirk_of
from archfit.registry.refusals import MAX_ERROR, is_own, joined, placed
from archfit.registry.registry_errors import InvalidManifest, ManifestUnknown, RegistryError
from archfit.registry.resolve_platforms import Offer, matches, resolve_platforms
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Route, Routes
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.programs.layer import LayerDescriptor, Meter
    from archfit.programs.program import Programs
    from archfit.programs.start import Start

T = TypeVar("T")
MAX_MANIFEST = 4 * 1024 * 1024
MAX_CONFIG = 4 * 1024 * 1024
_ACCEPTED = {"blob": "*/*", "layer": "*/*", "list": "application/json"}


class RawManifest(Record):
    """A manifest as received. content_type: the header. digest: of the bytes, computed here."""

    body: bytes
    content_type: str
    digest: str


class RegistryClient:
    """Asks registries; safe to use from several threads.

    recall: platforms that the cache has for a digest of a repository; called from several threads. reserve: where
    processes share the budgets of `--requests-per-second`, None where each has its own.
    documents: by normalised reference, the manifest and where it was read; None keeps none.
    contents: by digest, what is behind the documents that were read; None keeps none.
    """

    def __init__(
        self,
        operator: Operator,
        context: LookupContext,
        recall: Callable[[Reference, str], Found | None],
        keychain: Keychain,
        routes: Routes,
        *,
        reserve: Reserve | None = None,
    ) -> None:
        rates, left = operator.requests_per_second, context.deadline.left
        policy = HostPolicy(routes.named, operator.allow_hosts, operator.deny_hosts, keychain.named_hosts)
        self.trust = Trust(routes.tls, operator.ca_file)
        self._bodies = LargeBodies(left, OF_PROCESS)
        budget = None if reserve else context.budget
        if rates and not budget:
            budget = RequestBudget(rates, monotonic, context.wait, reserve)
        self.work = ProcessorBudget(context.processor_seconds)
        connections = ConnectionPool(left, policy, self.trust, context.environ, self.work)
        self.http = HttpClient(
            connections, self._bodies, clock=context.clock, wait=context.wait, budget=budget
        )
        self.documents: dict[str, tuple[Endpoint, RawManifest]] | None = None
        self.contents: dict[str, ImageContents] | None = None
        self._routes = routes
        self._named_hosts_only = context.named_hosts_only
        self.authorizer = Authorizer(self.http, keychain, left)
        self._left = left
        self._recall = recall
        self._remembered: dict[str, str] = {}
        self._unreachable: set[str] = set()

    def route(self, reference: Reference) -> Route:
        """Where an image is asked for; its own registry becomes dialable."""
        route = self._routes.route(reference)
        for endpoint in route.endpoints:
            if not endpoint.configured and not self._named_hosts_only:
                with contextlib.suppress(RegistryError):  # the request raises the same error
                    self.http.policy.referenced.add(host_port(endpoint.origin))
        return route

    def remember(self, kept: Mapping[str, str]) -> None:
        """Take over what earlier runs learned of servers. kept: what the store has under `host:<origin>`."""
        self._remembered |= kept
        for key, text in kept.items():
            self.http.servers.of(key.removeprefix("host:")).from_json(text)

    def changed_servers(self) -> dict[str, str]:
        """What the store should have for servers that answered, where it has not, by `host:<origin>`."""
        texts = {f"host:{server.origin}": server.to_json() for server in self.http.servers if server.known}
        changed = {key: text for key, text in texts.items() if self._remembered.get(key) != text}
        self._remembered |= changed
        return changed

    def credential_sent(self, route: Route) -> bool:
        """A credential was used for this image at one of its endpoints, or a token that was had for one."""
        return any(map(self.authorizer.sent_credential, route.endpoints))

    def image(self, reference: Reference, known: Found | None, route: Route) -> tuple[Found, Endpoint]:
        """What an image offers, and who answered. known: what the cache has for its tag, too old to be used as it is.

        Raises RegistryError, ManifestUnknown, InvalidManifest.
        """
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        if not reference.tag:
            return self._in_turn(pulls, lambda endpoint: self._read(reference, endpoint, reference.digest))
        resolving = [endpoint for endpoint in route.endpoints if endpoint.resolves]
        return self._in_turn(resolving, lambda endpoint: self._tagged(reference, known, endpoint, pulls))

    def part(self, part: Part, route: Route) -> tuple[ImageContents, Endpoint]:
        """What is behind a digest, and who answered. Raises the same."""
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        return self._in_turn(pulls, lambda endpoint: self._part_at(part, endpoint))

    def tags(self, route: Route, near: Sequence[str] = ()) -> tuple[TagList, Endpoint]:
        """The tags of a repository, and who answered. near: how those begin that matter most. Raises the same."""
        resolving = [endpoint for endpoint in route.endpoints if endpoint.resolves]
        return self._in_turn(resolving, lambda endpoint: self._listed_at(endpoint, near))

    def programs(
        self, reference: Reference, starts: Sequence[Start], meter: Meter, route: Route
    ) -> tuple[Programs, Endpoint]:
        """What an image starts, by the digest of its manifest, and who answered. Raises the same."""
        from archfit.programs.read import read_programs  # for --programs alone

        def programs_at(endpoint: Endpoint) -> Programs:
            document = self._manifest(endpoint, reference.digest)
            parsed = self._parsed(document)
            if not isinstance(parsed, Manifest) or parsed.config is None:
                raise InvalidManifest("it is no manifest of an image")
            config = untrusted_json.load(self._blob(endpoint, parsed.config.digest))
            self._bodies.enter()  # the names of an image's files are as large as large answers

            def opened(layer: LayerDescriptor, take: Callable[[Iterable[bytes]], None]) -> None:
                reply = self._ask("layer", endpoint, f"blobs/{layer.digest}", MAX_ERROR, take)
                if reply.status != 200:
                    raise self.authorizer.refusal(reply, endpoint, f"a layer of {endpoint.repository}")

            return read_programs(config, manifest.layers_of(document.body), starts, opened, meter)

        return self._in_turn([endpoint for endpoint in route.endpoints if endpoint.pulls], programs_at)

    def _listed_at(self, endpoint: Endpoint, near: Sequence[str]) -> TagList:
        listing = quirk_of(endpoint.host).listing
        if listing and not endpoint.configured:
            with contextlib.suppress(RegistryError, InvalidManifest):
                return self._listed_apart(listing.format(repository=endpoint.repository), near)
        first = f"{endpoint.origin}{endpoint.base}/{endpoint.repository}/tags/list{_namespace(endpoint)}"

        def ask(url: str, limit: int) -> Reply:
            if origin_of(url) != endpoint.origin:
                headers = {"accept": "application/json"}
                reply = self.http.send(Request("list", "GET", url, headers, endpoint.origin, limit))
            else:
                reply = self._ask("list", endpoint, url, limit)
            if reply.status == 404 and is_own(reply, endpoint):
                raise ManifestUnknown(
                    f"{endpoint.origin} has no repository {endpoint.repository}", status=404
                )
            if reply.status != 200:
                raise self.authorizer.refusal(reply, endpoint, f"the tags of {endpoint.repository}")
            return reply

        joint = "&" if "?" in first else "?"
        starts = [f"{first}{joint}n={tag_list.PAGE}&last={beginning}" for beginning in near]
        return tag_list.read_tags(first, ask, tag_list.registry_page, starts)

    def _listed_apart(self, first: str, near: Sequence[str]) -> TagList:
        """Docker Hub's own listing, which takes no credentials of the registry."""

        def ask(url: str, limit: int) -> Reply:
            headers = {"accept": "application/json"}
            reply = self.http.send(Request("list", "GET", url, headers, origin_of(first), limit))
            if reply.status != 200:
                raise RegistryError(f"{origin_of(url)} answered {reply.status} for a list of tags")
            return reply

        starts = [f"{first}&name={beginning}" for beginning in near]
        return tag_list.read_tags(first, ask, tag_list.hub_page, starts)

    def _part_at(self, part: Part, endpoint: Endpoint) -> ImageContents:
        digest = part.reference.digest
        if part.kind == "config":
            return ImageContents("config", platform=manifest.parse_config(self._blob(endpoint, digest)))
        if part.kind == "presence":
            # A proxy cache may answer a HEAD with 404, and fetch the manifest for a GET.
            if self._digest(endpoint, digest) != digest:
                self._manifest(endpoint, digest)
            return ImageContents("presence")
        parsed = self._parsed(self._manifest(endpoint, digest))
        if part.kind == "manifest" and isinstance(parsed, Manifest):
            return _contents(parsed, None)
        return _contents(parsed, self._offer(parsed, digest, endpoint))

    def _tagged(
        self, reference: Reference, known: Found | None, endpoint: Endpoint, pulls: Sequence[Endpoint]
    ) -> Found:
        """What the tag points to, at a server that may resolve tags."""
        digest = self._digest(endpoint, reference.tag) if known or not endpoint.pulls else ""
        if digest:
            if known and digest == known.digest:
                return known.replace(origin="registry", age_seconds=0)
            seen = self._recall(reference, digest)
            if seen:
                return seen.replace(origin="registry", age_seconds=0)
            if not endpoint.pulls:
                return self._in_turn(pulls, lambda other: self._read(reference, other, digest))[0]
            with contextlib.suppress(ManifestUnknown):
                # The tag may have moved since; or the server sent a digest that it does not have.
                return self._read(reference, endpoint, digest)
        if not endpoint.pulls:
            raise RegistryError(
                f"{endpoint.origin} may only resolve tags, and gives no digest for {reference.tag}"
            )
        return self._read(reference, endpoint, reference.tag)

    def _in_turn(self, endpoints: Sequence[Endpoint], ask: Callable[[Endpoint], T]) -> tuple[T, Endpoint]:
        """The first answer, and who gave it. Raises an error of the last server's kind, with the messages of all."""
        failed: list[RegistryError] = []
        for index, endpoint in enumerate(endpoints):
            after = [other for other in endpoints[index + 1 :] if not other.fallback]
            if endpoint.fallback and not isinstance(failed[-1] if failed else None, Unreachable):
                continue
            following = endpoints[index + 1 : index + 2]
            if following and endpoint.origin in self._unreachable:
                gave_up = f"{endpoint.origin}, or what it leads to, was not reached before"
                failed.append(Unreachable(gave_up, retryable=False))
                continue
            try:
                with self._bodies:
                    return ask(endpoint.replace(last=not after)), endpoint
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
        def fetch(kind: str, descriptor: Descriptor) -> bytes:
            if kind == "blobs":
                return self._blob(endpoint, descriptor.digest)
            try:
                return self._manifest(endpoint, descriptor.digest).body
            except ManifestUnknown as error:
                raise RegistryError(f"{error}, which its index names", status=404) from None

        return resolve_platforms(parsed, digest, fetch)

    def _parsed(self, document: RawManifest) -> Index | Manifest:
        if self._left() <= 0:
            raise RegistryError("its answer came too late: allow more time with --timeout")
        return manifest.parse(document.body, document.content_type)

    def _manifest(self, endpoint: Endpoint, tag_or_digest: str) -> RawManifest:
        what = _named(endpoint, tag_or_digest)
        reply = self._ask("manifest", endpoint, f"manifests/{tag_or_digest}", MAX_MANIFEST)
        if reply.status == 404 and is_own(reply, endpoint):
            raise ManifestUnknown(f"{endpoint.origin} has no {what}", status=404)
        if reply.status != 200:
            raise self.authorizer.refusal(reply, endpoint, what)
        digest = _verified(reply.body, tag_or_digest, f"{endpoint.origin} sent for {what}")
        return RawManifest(reply.body, reply.headers.get("content-type", ""), digest)

    def _digest(self, endpoint: Endpoint, tag_or_digest: str) -> str:
        """The digest for one HEAD, "" where only a GET can tell. Raises RegistryError."""
        server = self.http.servers.of(endpoint.origin)
        if not server.head:
            return ""
        reply = self._ask("head", endpoint, f"manifests/{tag_or_digest}", 0)
        if reply.status in {401, 403, 429} or (reply.status >= 500 and reply.status not in NO_HEAD):
            raise self.authorizer.refusal(reply, endpoint, _named(endpoint, tag_or_digest))
        digest = reply.headers.get("docker-content-digest", "")
        if reply.status in NO_HEAD or (reply.status == 200 and not is_digest(digest)):
            server.head = False
        return digest if reply.status == 200 and is_digest(digest) else ""

    def _blob(self, endpoint: Endpoint, digest: str) -> bytes:
        what = f"the config {digest} of {endpoint.repository}"
        reply = self._ask("blob", endpoint, f"blobs/{digest}", MAX_CONFIG)
        if reply.status != 200:
            raise self.authorizer.refusal(reply, endpoint, what)
        _verified(reply.body, digest, f"{endpoint.origin} sent for {what}")
        return reply.body

    def _ask(
        self,
        kind: str,
        endpoint: Endpoint,
        path: str,
        limit: int,
        take: Callable[[Iterable[bytes]], None] | None = None,
    ) -> Reply:
        """The last answer, after the challenges of the server. path: of a list, its URL. take: as of a Request."""
        url = f"{endpoint.origin}{endpoint.base}/{endpoint.repository}/{path}{_namespace(endpoint)}"
        headers = {**dict(endpoint.headers), "accept": _ACCEPTED.get(kind, ACCEPT)}
        method, url = "HEAD" if kind == "head" else "GET", path if kind == "list" else url
        request = Request(kind, method, url, headers, endpoint.origin, limit, retry=endpoint.last, take=take)
        return self.authorizer.send(request, endpoint)


def _named(endpoint: Endpoint, tag_or_digest: str) -> str:
    return f"{endpoint.repository}{'@' if is_digest(tag_or_digest) else ':'}{tag_or_digest}"


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
