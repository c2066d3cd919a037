"""HTTP/1.1 on one connection: a request is written, its answer is read (RFC 9112).

    usual     the head is printable ASCII, its lines end with CRLF and none is folded; one Content-Length, or no body:
              read here, with the methods of strings
    other     a chunked body, one that ends with the connection, 1xx, whatever is malformed: read by h11 (`h11_answer`)

h11 takes 4 ms to load and reads a head ten times slower, and registries answer in the usual way. It is the definition:
whatever is read here, h11 reads in the same way. A connection whose answer went on behind its end is not used again.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.record import Record
from archfit.registry.transport.http_message import Answer, Head, ProtocolError
from archfit.registry.transport.network_stream import NetworkStream

_LONGEST_HEAD = 32 * 1024
_LONGEST_LENGTH = 18
_NO_BODY = frozenset({204, 304})


class UsualHead(Record):
    """The head of a usual answer. length: of its body. stays: the connection stays open after it."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    length: int
    stays: bool


def ask(stream: NetworkStream, head: Head, encoded: bytes, content: bytes = b"") -> Answer:
    """Writes the request and reads the answer's head. Raises ProtocolError, and what the stream does.

    encoded: the head, encoded before the connection was there, when there was time for it.
    """
    try:
        stream.write(encoded + content)
    except TimeoutError:
        raise
    except OSError:
        pass  # a server may refuse a request before it has read all of it: what it answers counts
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0 and len(data) < _LONGEST_HEAD:
        more = stream.read()
        if not more:
            break
        data += more
    usual = usual_head(data[:end], head.method) if end >= 0 else None
    if usual:
        return _UsualAnswer(stream, usual, data[end + 4 :])
    from archfit.registry.transport.h11_answer import H11Answer

    return H11Answer(stream, head, content, data)


def usual_head(text: bytes, method: str) -> UsualHead | None:
    """A head without its last line end, read; None where h11 has to read it. method: of the request."""
    try:
        status_line, *lines = text.decode("ascii").split("\r\n")
    except UnicodeDecodeError:
        return None
    version, code, reason = status_line[:9], status_line[9:12], status_line[12:]
    if version != "HTTP/1.1 " or not code.isdigit() or not status_line.isprintable() or reason[:1].strip(" "):
        return None
    status, headers = int(code), []
    length, stays = -1, True
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not line.isprintable() or not _is_plain_name(name):
            return None
        name, value = name.lower(), value.strip(" ")
        if name == "content-length":
            if length >= 0 or not value.isdigit() or len(value) > _LONGEST_LENGTH:
                return None
            length = int(value)
        elif name == "transfer-encoding":
            return None
        elif name == "connection":
            stays = stays and value.lower() == "keep-alive"
        headers.append((name, value))
    if status < 200:
        return None
    if method == "HEAD" or status in _NO_BODY or (method == "CONNECT" and status < 300):
        length = 0
    return UsualHead(status, reason.strip(" "), headers, length, stays) if length >= 0 else None


def _is_plain_name(name: str) -> bool:
    """It has only letters, digits, `-` and `_`."""
    return name.isascii() and name.replace("-", "a").replace("_", "a").isalnum()


class _UsualAnswer:
    """An answer with a known length. begun: what was read of the body together with the head."""

    def __init__(self, stream: NetworkStream, head: UsualHead, begun: bytes) -> None:
        self.status, self.reason, self.headers = head.status, head.reason, head.headers
        self._stream = stream
        self._length = head.length
        self._left = head.length
        self._begun = begun
        self._stays = head.stays

    def body(self) -> Iterator[bytes]:
        part, self._begun = self._begun[: self._left], self._begun[self._left :]
        while True:
            self._left -= len(part)
            if part:
                yield part
            if not self._left:
                return
            part = self._stream.read()
            if not part:
                raise ProtocolError(
                    "peer closed connection without sending complete message body "
                    f"(received {self._length - self._left} bytes, expected {self._length})"
                )
            part, self._begun = part[: self._left], part[self._left :]

    def is_complete(self) -> bool:
        return self._stays and not self._left and not self._begun
