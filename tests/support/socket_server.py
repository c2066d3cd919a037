"""A server of plain sockets on loopback, for what no HTTP server can be made to do.

    with SocketServer(lambda connection: connection.sendall(b"..")) as server:    a thread for each connection
        server.port

A connection is closed once its function has returned; what the network raises there ends it, too.
"""

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Self


class SocketServer:
    """See the module."""

    def __init__(self, talk: Callable[[socket.socket], object]) -> None:
        self._talk = talk
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            self._talk(connection)


def relay(one: socket.socket, other: socket.socket) -> None:
    """Pass bytes on in both directions, until either side has ended."""
    back = threading.Thread(target=_copy, args=(other, one), daemon=True)
    back.start()
    _copy(one, other)
    back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for one in (source, target):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
