"""A request, its honest answer, and the connection that an answer is written to."""

from typing import NamedTuple, Protocol

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


class Wire(Protocol):
    """The server's side of a connection. Each raises OSError once the client or the script is gone."""

    def send(self, data: bytes) -> None: ...

    def pause(self, seconds: float) -> None: ...

    def close(self, *, reset: bool) -> None: ...


def answer(wire: Wire, asked: Asked, status: int, headers: Headers, body: bytes) -> None:
    given = {name.lower() for name, _ in headers}
    more = (
        [] if "content-length" in given or "transfer-encoding" in given else [("Content-Length", len(body))]
    )
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in [*headers, *more]), "", ""]
    wire.send("\r\n".join(lines).encode("latin-1") + (b"" if asked.method == "HEAD" else body))
