"""A registry that does what it is told, for what real ones cannot be made to do.

    fake = FakeRegistry()                          a server on loopback, in a thread
    fake.index("app", "1", ["linux/amd64", ..])    put documents; each returns its digest
    fake.on(lambda asked: Answer(429) if .. )      a script: the first that returns an Answer decides
    fake.bearer()                                  anonymous or authenticated tokens, at /token of the same server
    fake.asked                                     every request as received, in order
    fake.connections                               how many were accepted

Scripts are called for each request before the registry's own answer. `Answer.hold` waits for an event before it
answers; the fake releases it when it closes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlsplit

from archfit.registry import manifest as media

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable


@dataclass
class Asked:
    """A request. headers: lower-case names."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""

    @property
    def kind(self) -> str:
        """`token`, `ping`, `blob`, `head` or `manifest`."""
        path = urlsplit(self.path).path
        if path.startswith("/token"):
            return "token"
        if path == "/v2/":
            return "ping"
        return "blob" if "/blobs/" in path else "head" if self.method == "HEAD" else "manifest"

    @property
    def query(self) -> dict[str, list[str]]:
        """Parameters of the URL and of a posted form."""
        return {**parse_qs(urlsplit(self.path).query), **parse_qs(self.body.decode())}


@dataclass
class Answer:
    """What to send. chunks: sent one by one instead of body, until the client has gone. hold: wait for it first."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None
    hold: threading.Event | None = None

    def held(self, event: threading.Event) -> Answer:
        """The same, once the event is set."""
        return replace(self, hold=event)


def digest_of(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def as_json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


def descriptor(media_type: str, body: bytes, **more: object) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest_of(body), "size": len(body), **more}


def platform_of(text: str) -> dict[str, str]:
    return dict(zip(("os", "architecture", "variant"), text.split("/"), strict=False))


class FakeRegistry:
    """See the module. Use as a context manager, or call `close`."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.most_at_once = 0
        self._at_once = 0
        self._counting = threading.Lock()
        self._scripts: list[Callable[[Asked], Answer | None]] = []
        self._documents: dict[str, tuple[str, bytes]] = {}
        self._closing = threading.Event()
        self._server = _Server(self, context)
        self.scheme = "https" if context else "http"
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}"

    def count(self, kind: str = "") -> int:
        return sum(1 for asked in self.asked if not kind or asked.kind == kind)

    def kinds(self) -> list[str]:
        return [asked.kind for asked in self.asked]

    def forget(self) -> None:
        self.asked.clear()

    # Documents

    def put(self, repository: str, tag: str, media_type: str, body: bytes) -> str:
        """A manifest under its digest, and under `tag` unless that is ""."""
        for name in filter(None, (tag, digest_of(body))):
            self._documents[f"/v2/{repository}/manifests/{name}"] = (media_type, body)
        return digest_of(body)

    def blob(self, repository: str, body: bytes) -> str:
        self._documents[f"/v2/{repository}/blobs/{digest_of(body)}"] = ("application/octet-stream", body)
        return digest_of(body)

    def index(
        self, repository: str, tag: str, platforms: Iterable[str], media_type: str = media.OCI_INDEX
    ) -> str:
        """An index of images that are not there, with BuildKit's attestation for each."""
        child = media.OCI_MANIFEST if media_type == media.OCI_INDEX else media.DOCKER_MANIFEST
        entries = []
        for text in platforms:
            body = f"{repository}:{tag} {text}".encode()
            entries.append(descriptor(child, body, platform=platform_of(text)))
            entries.append(
                descriptor(
                    child,
                    body + b" attestation",
                    platform=platform_of("unknown/unknown"),
                    annotations={
                        "vnd.docker.reference.type": "attestation-manifest",
                        "vnd.docker.reference.digest": digest_of(body),
                    },
                )
            )
        body = as_json({"schemaVersion": 2, "mediaType": media_type, "manifests": entries})
        return self.put(repository, tag, media_type, body)

    def single(self, repository: str, tag: str, platform: str, **config: object) -> str:
        """One image, its config a blob of its own."""
        blob = as_json({**platform_of(platform), "rootfs": {}, **config, "name": f"{repository}:{tag}"})
        self.blob(repository, blob)
        return self.put(
            repository, tag, media.OCI_MANIFEST, self.manifest(descriptor(media.OCI_CONFIG, blob))
        )

    @staticmethod
    def manifest(config: dict[str, object], **more: object) -> bytes:
        layer = descriptor("application/vnd.oci.image.layer.v1.tar+gzip", b"layer")
        return as_json(
            {
                "schemaVersion": 2,
                "mediaType": media.OCI_MANIFEST,
                "config": config,
                "layers": [layer],
                **more,
            }
        )

    def remove(self, repository: str, tag: str) -> None:
        del self._documents[f"/v2/{repository}/manifests/{tag}"]

    # Behaviour

    def on(self, script: Callable[[Asked], Answer | None]) -> None:
        self._scripts.insert(0, script)

    def always(self, answer: Answer) -> None:
        """Every request gets this answer."""
        self.on(lambda _: answer)

    def once(self, *answers: Answer, kind: str = "") -> None:
        """The next requests of a kind get these answers, one each."""
        left = list(answers)
        self.on(lambda asked: left.pop(0) if left and (not kind or asked.kind == kind) else None)

    def bearer(
        self, *, realm: str = "", user: str = "", field: str = "token", life: object = 300
    ) -> dict[str, str]:
        """Ask for a token of the right scope; returns the tokens given out, by scope.

        user: `name:password` that the token service wants, "" for anyone.
        """
        given: dict[str, str] = {}
        where = realm or f"{self.url}/token"
        wanted = "Basic " + base64.b64encode(user.encode()).decode()

        def script(asked: Asked) -> Answer | None:
            if asked.kind == "token":
                if user and asked.headers.get("authorization") != wanted:
                    return Answer(401)
                scope = asked.query.get("scope", [""])[0]
                given[scope] = f"token-{len(given)}-{scope.replace(':', '-').replace('/', '-')}"
                return Answer(body=as_json({field: given[scope], "expires_in": life}))
            repository = asked.path.split("/manifests/")[0].split("/blobs/")[0].removeprefix("/v2/")
            scope = f"repository:{repository}:pull"
            if asked.headers.get("authorization") == f"Bearer {given.get(scope)}":
                return None
            challenge = f'Bearer realm="{where}",service="fake",scope="{scope}"'
            return Answer(401, headers={"WWW-Authenticate": challenge})

        self.on(script)
        return given

    def answer(self, asked: Asked) -> Answer:
        with self._counting:
            self.asked.append(asked)
            for script in self._scripts:
                decided = script(asked)
                if decided is not None:
                    return decided
        return self.stored(asked)

    def stored(self, asked: Asked) -> Answer:
        """The registry's own answer."""
        document = self._documents.get(urlsplit(asked.path).path)
        if document is None:
            error = {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}
            return Answer(404, as_json(error), {"Content-Type": "application/json"})
        media_type, body = document
        return Answer(200, body, {"Content-Type": media_type, "Docker-Content-Digest": digest_of(body)})

    def entered(self, change: int) -> None:
        with self._counting:
            self._at_once += change
            self.most_at_once = max(self.most_at_once, self._at_once)

    def connected(self) -> None:
        with self._counting:
            self.connections += 1

    def hold(self, event: threading.Event) -> None:
        while not event.wait(0.01) and not self._closing.is_set():
            pass

    def alias(self, repository: str, tag: str, known: str) -> None:
        """`tag` names what `known` names."""
        place = f"/v2/{repository}/manifests/"
        self._documents[place + tag] = self._documents[place + known]

    @property
    def closing(self) -> bool:
        return self._closing.is_set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, fake: FakeRegistry, context: ssl.SSLContext | None) -> None:
        self.fake = fake
        self.context = context
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        if self.server.context:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.fake.connected()
        super().setup()

    def finish(self) -> None:
        super().finish()
        if self.server.context:
            self.request.close()

    def _serve(self) -> None:
        fake = self.server.fake
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        names = {name.lower(): value for name, value in self.headers.items()}
        fake.entered(1)
        try:
            answer = fake.answer(Asked(self.command, self.path, names, body))
            if answer.hold:
                fake.hold(answer.hold)
        finally:
            fake.entered(-1)
        head = [f"HTTP/1.1 {answer.status} X"]
        length = {} if answer.chunks is not None else {"Content-Length": str(len(answer.body))}
        if answer.chunks is not None:
            self.close_connection = True
        head += [f"{name}: {value}" for name, value in {**length, **answer.headers}.items()]
        self.wfile.write(
            "\r\n".join([*head, "", ""]).encode("latin-1") + (b"" if self.command == "HEAD" else answer.body)
        )
        for chunk in answer.chunks or ():
            if fake.closing:
                return
            self.wfile.write(chunk)

    do_GET = do_HEAD = do_POST = _serve  # noqa: N815 - the names http.server calls

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""
