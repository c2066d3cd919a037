"""A request, its honest answer, and the connection that an answer is written to."""

import contextlib
import socket
import struct
import threading
import time
from typing import NamedTuple

_LONGEST_HEAD = 256 * 1024
Headers = list[tuple[str, str]]


class Asked(NamedTuple):
    """A request. headers: lower-case names. secure: over TLS."""

    method: str
    path: str
    headers: dict[str, str]
    secure: bool
    port: int

    @property
    def kind(self) -> str:
        """`token`, `blob`, `head` or `manifest`."""
        if self.path.startswith("/token"):
            return "token"
        return "blob" if "/blobs/" in self.path else "head" if self.method == "HEAD" else "manifest"


class Honest(NamedTuple):
    status: int
    headers: Headers
    body: bytes


class Connection:
    """The server's side. What writes raises OSError once the client or the script is gone."""

    def __init__(self, client: socket.socket, over: threading.Event) -> None:
        self.client = client
        self.over = over
        self._held = b""

    def read(self, *, secure: bool) -> Asked | None:
        """The next request, None where there is none."""
        while b"\r\n\r\n" not in self._held:
            part = self.client.recv(65_536)
            if not part or len(self._held) > _LONGEST_HEAD:
                return None
            self._held += part
        head, _, self._held = self._held.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(self._held) < length:
            self._held += self.client.recv(65_536) or b" " * length
        self._held = self._held[length:]
        return Asked(method, path, headers, secure, self.client.getsockname()[1])

    def send(self, data: bytes) -> None:
        if self.over.is_set():
            raise OSError
        self.client.sendall(data)

    def pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.over.wait(min(left, 0.5)):
                raise OSError

    def close(self, *, reset: bool) -> None:
        if reset:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            with contextlib.suppress(OSError):  # the client was faster
                self.client.shutdown(socket.SHUT_RDWR)
        self.client.close()


def answer(wire: Connection, asked: Asked, status: int, headers: Headers, body: bytes) -> None:
    given = {name.lower() for name, _ in headers}
    more = (
        [] if "content-length" in given or "transfer-encoding" in given else [("Content-Length", len(body))]
    )
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in [*headers, *more]), "", ""]
    wire.send("\r\n".join(lines).encode("latin-1") + (b"" if asked.method == "HEAD" else body))
