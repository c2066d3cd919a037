"""The answers that `http1` does not read by itself, read by h11: chunked, without a length, malformed.

Only `http1` loads this module, with the first such answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import h11

from archfit.registry.transport.http_message import Head, ProtocolError
from archfit.registry.transport.network_stream import NetworkStream

_LONGEST_HEAD = 100 * 1024


class H11Answer:
    """As `http_message.Answer`. content: the request's body. data: what was read so far."""

    def __init__(self, stream: NetworkStream, head: Head, content: bytes, data: bytes) -> None:
        self._stream = stream
        self._machine = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self._machine.send(
            h11.Request(method=head.method, target=head.target, headers=list(head.headers.items()))
        )
        if content:
            self._machine.send(h11.Data(data=content))
        self._machine.send(h11.EndOfMessage())
        if data:
            self._machine.receive_data(data)
        event = self._next()
        while not isinstance(event, h11.Response):  # 1xx
            event = self._next()
        self.status = event.status_code
        self.reason = event.reason.decode("ascii", errors="ignore")
        self.headers = _decoded(list(event.headers))

    def body(self) -> Iterator[bytes]:
        while isinstance(event := self._next(), h11.Data):
            yield bytes(event.data)

    def is_complete(self) -> bool:
        machine = self._machine
        return machine.our_state is h11.DONE is machine.their_state and not machine.trailing_data[0]

    def _next(self) -> object:
        while True:
            try:
                event = self._machine.next_event()
            except h11.RemoteProtocolError as error:
                raise ProtocolError(str(error)) from None
            if event is not h11.NEED_DATA:
                return event
            data = self._stream.read()
            if not data and self._machine.their_state is h11.SEND_RESPONSE:
                raise ProtocolError("Server disconnected without sending a response.")
            self._machine.receive_data(data)


def _decoded(headers: list[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Headers as text: ASCII, else UTF-8 where all of them are that, else ISO 8859-1."""
    for encoding in ("ascii", "utf-8"):
        try:
            return [(name.decode(encoding), value.decode(encoding)) for name, value in headers]
        except UnicodeDecodeError:
            continue
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
