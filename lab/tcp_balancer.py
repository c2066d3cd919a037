"""What a Service is to the API server: one address before several servers, which take connections in turn.

with TcpBalancer([port, port]) as balancer:
    balancer.port
    balancer.taken         connections so far, by port
"""

import contextlib
import socket
import threading
from collections import Counter
from typing import Self


class TcpBalancer:
    def __init__(self, ports: list[int]) -> None:
        self._ports = ports
        self._next = 0
        self.taken: Counter[int] = Counter()
        self._server = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            server = self._connected()
            if server is None:
                client.close()
                continue
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()

    def _connected(self) -> socket.socket | None:
        for _ in self._ports:
            port = self._ports[self._next % len(self._ports)]
            self._next += 1
            try:
                made = socket.create_connection(("127.0.0.1", port), 5)
            except OSError:
                continue
            made.settimeout(None)
            self.taken[port] += 1
            return made
        return None


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for one in (source, target):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
    source.close()
