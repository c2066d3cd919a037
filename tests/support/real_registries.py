"""Other people's registries on loopback: Debian's docker-registry (distribution 2.8) and go-containerregistry's.

    distribution(folder)                      plain http
    distribution(folder, htpasswd=True)       TLS, Basic: user `user`, password `hush`
    distribution(folder, token=...)           TLS, Bearer from a token service that signs with openssl
    ggcr(folder)                              plain http, in memory

Several distributions on one folder serve the same content, so that a plain one takes the pushes. Recipe:
registry-and-libs, Part 3.2.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from image_documents import Document, Image, image

import machine
from fake_registry import Answer, Asked, FakeRegistry, as_json, descriptor, digest_of
from tls_files import TlsFiles

_ACCESS = re.compile(r'"(GET|HEAD|PUT|POST) (\S+) HTTP/[0-9.]+" (\d+)')
# bcrypt of `hush`; distribution reads no other kind.
_HTPASSWD = "user:$2b$05$abcdefghijklmnopqrstuulzd.YqjLDl8lvpSmVj3De/fioSBHnUa\n"
_PATIENCE_SECONDS = 60.0


class Running:
    """A registry that has been started. log: its access log, "" where it writes none."""

    def __init__(self, port: int, scheme: str, log: Path | None) -> None:
        self.port = port
        self.host = f"127.0.0.1:{port}"
        self.url = f"{scheme}://{self.host}"
        self._log = log
        self._seen = 0

    def asked(self) -> list[tuple[str, str, int]]:
        """(method, path, status) of each request since `forget`."""
        return self._all()[self._seen :]

    def forget(self) -> None:
        self._seen = len(self._all())

    def _all(self) -> list[tuple[str, str, int]]:
        text = self._log.read_text(errors="replace") if self._log else ""
        return [(method, path, int(status)) for method, path, status in _ACCESS.findall(text)]

    def push(self, path: str, body: bytes, media_type: str) -> str:
        """PUT a manifest to `repository/manifests/tag`; its digest. Raises AssertionError."""
        self._request("PUT", f"/v2/{path}", 201, body, media_type)
        return digest_of(body)

    def blob(self, repository: str, body: bytes) -> None:
        place = self._request("POST", f"/v2/{repository}/blobs/uploads/", 202)
        where = urlsplit(place)
        query = f"{where.query}&" if where.query else ""
        self._request(
            "PUT", f"{where.path}?{query}digest={digest_of(body)}", 201, body, "application/octet-stream"
        )

    def put(self, repository: str, tag: str, made: Image) -> Document:
        """Push an image with all of its documents, under a tag unless that is ""; its top."""
        for blob in made.blobs:
            self.blob(repository, blob.body)
        for manifest in made.manifests:
            self.push(f"{repository}/manifests/{manifest.digest}", manifest.body, manifest.media_type)
        if tag:
            self.push(f"{repository}/manifests/{tag}", made.top.body, made.top.media_type)
        return made.top

    def single(self, repository: str, tag: str, platform: str, *, docker: bool = False) -> dict[str, object]:
        """Push one image; its descriptor."""
        top = self.put(repository, tag, image(_reference(repository, tag, docker=docker), [platform]))
        return descriptor(top.media_type, top.body)

    def index(self, repository: str, tag: str, platforms: Sequence[str], *, docker: bool = False) -> str:
        """Push an index with its images, and in an OCI index one attestation; its digest."""
        made = image(_reference(repository, tag, docker=docker), platforms, index=True)
        return self.put(repository, tag, made).digest

    def _request(self, method: str, path: str, status: int, body: bytes = b"", kind: str = "") -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_SECONDS)
        try:
            connection.request(method, path, body, {"Content-Type": kind} if kind else {})
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == status, f"{method} {path}: {answer.status} {text[:300]!r}"
            return answer.getheader("Location") or ""
        finally:
            connection.close()


def _reference(repository: str, tag: str, *, docker: bool) -> str:
    """Of an image with Docker's media types or OCI's."""
    return f"{'docker.io' if docker else 'x.io'}/{repository}{tag and f':{tag}'}"


@contextlib.contextmanager
def distribution(
    folder: Path,
    tls: TlsFiles | None = None,
    *,
    htpasswd: bool = False,
    token: TokenService | None = None,
    port: int = 0,
    in_memory: bool = False,
) -> Iterator[Running]:
    """Debian's registry over the content in `folder`. Skips or fails the running test where it is missing.

    port: that of one that was stopped, whose log goes on; 0 for a free one. in_memory: it keeps nothing in the folder.
    """
    binary = machine.tool("docker-registry")
    port = port or free_port()
    own = folder / str(port)
    own.mkdir(parents=True, exist_ok=True)
    files = {"filesystem": {"rootdirectory": str(folder / "content")}}
    settings: dict[str, object] = {
        "version": "0.1",
        "log": {"level": "warn", "accesslog": {"disabled": False}},
        "storage": {"inmemory": {}} if in_memory else files,
        "http": {"addr": f"127.0.0.1:{port}", "relativeurls": True}
        | ({"tls": {"certificate": str(tls.certificate), "key": str(tls.key)}} if tls else {}),
    }
    if htpasswd:
        (own / "htpasswd").write_text(_HTPASSWD)
        settings["auth"] = {"htpasswd": {"realm": "test", "path": str(own / "htpasswd")}}
    if token:
        settings["auth"] = {
            "token": {
                "realm": f"{token.url}/token",
                "service": "real",
                "issuer": "archfit tests",
                "rootcertbundle": str(token.certificate),
            }
        }
    # JSON is YAML.
    (own / "config.yml").write_text(json.dumps(settings))
    running = Running(port, "https" if tls else "http", own / "log")
    with listening([binary, "serve", str(own / "config.yml")], port, own / "log"):
        yield running


@contextlib.contextmanager
def ggcr(folder: Path) -> Iterator[Running]:
    """go-containerregistry's registry. Skips or fails the running test where it is missing."""
    port = free_port()
    with listening([machine.tool("registry"), "-port", str(port)], port, folder / "ggcr.log"):
        yield Running(port, "http", None)


@contextlib.contextmanager
def listening(command: list[str], port: int, log: Path) -> Iterator[None]:
    """A program, once it listens on the port of loopback, until the end of the block."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                break
            assert process.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < give_up, f"{command[0]} does not listen"
            time.sleep(0.01)
        yield
    finally:
        process.terminate()
        process.wait()


class TokenService:
    """Signs tokens as distribution wants them: RS256, with the certificate in the header (x5c).

    user: `name:password` it wants, "" for anyone. repositories: those it gives rights for, all if empty.
    """

    def __init__(
        self, folder: Path, tls: TlsFiles, user: str = "", repositories: tuple[str, ...] = ()
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate = folder / "token.crt"
        self._key = folder / "token.key"
        self._user = "Basic " + base64.b64encode(user.encode()).decode() if user else ""
        self._repositories = repositories
        new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
        files = ("-subj", "/CN=tokens", "-keyout", self._key, "-out", self.certificate)
        subprocess.run([*new, *files], check=True, capture_output=True)
        self.fake = FakeRegistry(tls.context())
        self.fake.on(self._answer)
        self.url = self.fake.url

    def close(self) -> None:
        self.fake.close()

    def _answer(self, asked: Asked) -> Answer:
        if self._user and asked.headers.get("authorization") != self._user:
            return Answer(401)
        _, name, actions = asked.query["scope"][0].split(":")
        granted = not self._repositories or name in self._repositories
        access = [{"type": "repository", "name": name, "actions": actions.split(",")}] if granted else []
        return Answer(body=as_json({"token": self._sign(access), "expires_in": 300}))

    def _sign(self, access: Sequence[Mapping[str, object]]) -> str:
        der = "".join(self.certificate.read_text().split("-----")[2].split())
        now = int(time.time())
        claims = {
            "iss": "archfit tests",
            "sub": "",
            "aud": "real",
            "exp": now + 300,
            "nbf": now - 10,
            "iat": now,
            "access": access,
        }
        header = {"typ": "JWT", "alg": "RS256", "x5c": [der]}
        text = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
        signed = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self._key],
            input=text.encode(),
            check=True,
            capture_output=True,
        )
        return f"{text}.{_base64(signed.stdout)}"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def free_port() -> int:
    """A port that was free a moment ago; these programs cannot be asked to choose one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
