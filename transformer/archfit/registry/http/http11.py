"""One HTTP/1.1 connection, by h11: a request, the head of its answer, its body, and the next request.

httpcore's connection would do, but for what came behind an answer: it takes that for the answer to the next request.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import h11

from archfit.registry.http.byte_stream import ByteStream, has_ended
from archfit.registry.http.limits import UNLIMITED, ProcessorBudget, TooMuch

IDLE_SECONDS = 60.0
# Of all heads of one answer: informational ones, their lines and the last one count. Of real registries, 60 and 6 KiB.
MOST_HEAD_LINES = 1000
MOST_HEAD_BYTES = 64 * 1024
_HEAD_READ_BYTES = 4096
_BODY_READ_BYTES = 64 * 1024


class Ended(OSError):
    """A kept connection was ended before a byte of the answer came: perhaps before the request did."""


class Http11Connection:
    """Raises OSError, TimeoutError among them, h11.ProtocolError and TooMuch. work: looked at in each read."""

    def __init__(self, stream: ByteStream, work: ProcessorBudget = UNLIMITED) -> None:
        self._stream = stream
        self._work = work
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=2 * MOST_HEAD_BYTES)
        self._seconds = 0.0
        self._kept = False
        self._expires = float("inf")

    def ask(self, request: h11.Request, content: bytes, seconds: float) -> h11.Response:
        """The head of the answer, behind however many informational ones. seconds: how long the server may be silent.

        Whoever has said no before all of the request was sent is heard. Raises Ended, too.
        """
        self._seconds = seconds
        events = (
            (request, h11.Data(content), h11.EndOfMessage()) if content else (request, h11.EndOfMessage())
        )
        data = b"".join(self._protocol.send(event) or b"" for event in events)
        try:
            self._stream.write(data, seconds)
        except TimeoutError:
            raise
        except OSError:
            pass
        size = lines = 0
        while True:
            event = self._protocol.next_event()
            if isinstance(event, h11.Response):
                return event
            if event is h11.NEED_DATA:
                # Whoever reads on has found no end of the head in what came before.
                if size > MOST_HEAD_BYTES or lines > MOST_HEAD_LINES:
                    raise TooMuch(
                        f"more than {MOST_HEAD_LINES} lines or {MOST_HEAD_BYTES >> 10} KiB before its answer"
                    )
                try:
                    data = self._read(_HEAD_READ_BYTES)
                except ConnectionError as error:
                    raise (Ended(*error.args) if self._kept and not size else error) from None
                if not data:
                    why = "Server disconnected without sending a response."
                    raise Ended(why) if self._kept and not size else h11.RemoteProtocolError(why)
                size += len(data)
                lines += data.count(b"\n")

    def body(self) -> Iterator[bytes]:
        """The parts of the answer's body."""
        while True:
            event: Any = self._protocol.next_event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif event is h11.NEED_DATA:
                self._read(_BODY_READ_BYTES)
            else:
                return

    def may_stay(self) -> bool:
        """Make it ready for another request, if the answer was read to its end and nothing came behind it."""
        protocol = self._protocol
        if not protocol.our_state is protocol.their_state is h11.DONE or any(protocol.trailing_data):
            return False
        protocol.start_next_cycle()
        self._kept = True
        self._expires = monotonic() + IDLE_SECONDS
        return True

    def has_ended(self) -> bool:
        """Of an idle one."""
        return monotonic() > self._expires or has_ended(self._stream)

    def close(self) -> None:
        self._stream.close()

    def _read(self, most: int) -> bytes:
        self._work.check()
        data = self._stream.read(most, self._seconds)
        self._protocol.receive_data(data)
        return data
