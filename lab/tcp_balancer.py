"""What a Service is to the API server: one address before several servers, which take connections in turn.

with TcpBalancer([port, port]) as balancer:
    balancer.port
    balancer.taken         connections so far, by port
"""

import itertools
import socket
from collections import Counter

from socket_server import SocketServer, relay


class TcpBalancer(SocketServer):
    def __init__(self, ports: list[int]) -> None:
        self._ports = itertools.cycle(ports)
        self._tries = len(ports)
        self.taken: Counter[int] = Counter()
        super().__init__(self._passed_on)

    def _passed_on(self, client: socket.socket) -> None:
        for port in itertools.islice(self._ports, self._tries):
            try:
                server = socket.create_connection(("127.0.0.1", port), 5)
            except OSError:
                continue
            self.taken[port] += 1
            server.settimeout(None)
            with server:
                relay(client, server)
            return
