"""A real registry, distribution 2.8 as Debian packages it, on loopback and seeded over HTTP.

    config and layer    POST /v2/R/blobs/uploads/ -> 202 Location, PUT Location?digest=.. -> 201
    children            PUT /v2/R/manifests/DIGEST -> 201
    what the tag names  PUT /v2/R/manifests/TAG -> 201

Hosts are prefixes of repositories, as in `registry.Registry`; the same documents make the same digests
there and here.
"""

from __future__ import annotations

import http.client
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from image_documents import image, name_of
from registry import mirrors_of, prefix_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from image_documents import Document, Image, Name

_CONFIG = """\
version: 0.1
log: {{level: warn, accesslog: {{disabled: false}}}}
storage: {{inmemory: {{}}}}
http: {{addr: "127.0.0.1:{port}", relativeurls: true}}
"""
_ACCESS = re.compile(r'"(GET|HEAD|PUT|POST|PATCH|DELETE) (\S+) HTTP')
_PATIENCE_SECONDS = 60.0


class DebianRegistry:
    """A running registry that holds `images`; what is no reference, or has no platforms, is left out."""

    def __init__(self, binary: str, folder: Path, images: Mapping[str, Sequence[str] | None]) -> None:
        self._binary = binary
        self._folder = folder
        self._images = {text: made for text, made in images.items() if made and name_of(text)}
        self._process: subprocess.Popen[bytes] | None = None
        self._seen = 0
        self.port = 0

    @property
    def url(self) -> str:
        """Where it listens, without a final slash."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.port = _free_port()
        config = self._folder / "config.yml"
        config.write_text(_CONFIG.format(port=self.port), encoding="utf-8")
        with (self._folder / "registry.log").open("wb") as log:
            self._process = subprocess.Popen([self._binary, "serve", config], stdout=log, stderr=log)
        try:
            self._await()
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda row: self._push(*row), self._images.items()))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self.forget()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait()

    def mirrors(self) -> list[str]:
        """The `--mirror` arguments for every host of its images."""
        return mirrors_of(self.url, [name for name in map(name_of, self._images) if name])

    def requests(self) -> list[str]:
        """`METHOD path` of each request since it was seeded or `forget` was called, from its access log."""
        return self._log()[self._seen :]

    def forget(self) -> None:
        """Start counting anew."""
        self._seen = len(self._log())

    def _log(self) -> list[str]:
        log = (self._folder / "registry.log").read_text(encoding="utf-8", errors="replace")
        return [f"{found[1]} {found[2]}" for found in _ACCESS.finditer(log)]

    def _await(self) -> None:
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_SECONDS)
            try:
                connection.request("GET", "/v2/")
                if connection.getresponse().status == 200:
                    return
            except ConnectionError:
                if self._process is None or self._process.poll() is not None or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)
            finally:
                connection.close()

    def _push(self, reference: str, platforms: Sequence[str]) -> None:
        name, made = name_of(reference), image(reference, platforms)
        if name is None:
            raise ValueError(reference)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_SECONDS)
        try:
            _upload(connection, name, made)
        finally:
            connection.close()


def _upload(connection: http.client.HTTPConnection, name: Name, made: Image) -> None:
    repository = f"/v2/{prefix_of(name.host)}/{name.repository}"
    for blob in made.blobs:
        place = _ask(connection, "POST", f"{repository}/blobs/uploads/", 202)
        _ask(connection, "PUT", f"{place}{'&' if '?' in place else '?'}digest={blob.digest}", 201, blob)
    for manifest in made.manifests:
        _ask(connection, "PUT", f"{repository}/manifests/{manifest.digest}", 201, manifest)
    if name.tag:
        _ask(connection, "PUT", f"{repository}/manifests/{name.tag}", 201, made.top)


def _ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    expected: int,
    document: Document | None = None,
) -> str:
    """Send one request; its Location. Raises AssertionError with the registry's words."""
    blob = "/blobs/" in path
    kind = "application/octet-stream" if blob or not document else document.media_type
    connection.request(method, path, document.body if document else b"", {"Content-Type": kind})
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == expected, f"{method} {path}: {answer.status} {body[:300]!r}"
    return answer.getheader("Location") or ""


def _free_port() -> int:
    """A port that was free a moment ago; distribution cannot be asked to choose one."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
