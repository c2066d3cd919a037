"""What a request says and what an answer is, whoever reads it (RFC 9110, section 6).

Head      GET /v2/a/manifests/1 HTTP/1.1, and the headers
Answer    status, headers, and the parts of the body
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from archfit.record import Record
from archfit.typing_names import Protocol

_NAME = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class ProtocolError(Exception):
    """The other side does not speak HTTP/1.1 as it should."""


class InvalidHeader(Exception):
    """A header of a request that cannot be sent. Its words are not repeated: they may be a secret."""


class Head(Record):
    """A request's first part. target: as in the request line. headers: with Host; values may be secrets."""

    method: str
    target: str
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Head({self.method})"

    def encoded(self) -> bytes:
        """The bytes to send. Raises InvalidHeader."""
        lines = [f"{self.method} {self.target} HTTP/1.1"]
        for name, value in self.headers.items():
            plain = value.isascii() and value.replace("\t", " ").isprintable() and value == value.strip(" \t")
            if not plain or not name or not _NAME.issuperset(name):
                raise InvalidHeader
            lines.append(f"{name}: {value}")
        return "\r\n".join((*lines, "", "")).encode("ascii")


class Answer(Protocol):
    """An answer whose head was read. headers: lower-case names, in order, as often as they came."""

    status: int
    reason: str
    headers: list[tuple[str, str]]

    def body(self) -> Iterator[bytes]:
        """The body's parts. Raises ProtocolError and what the stream raises."""

    def is_complete(self) -> bool:
        """Nothing is left to be read, so that the connection can be used again."""
