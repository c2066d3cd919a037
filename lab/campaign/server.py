"""The scripted registry, a process of its own: orders come in as lines of JSON, one line goes back for each.

    python -m campaign.server CERTIFICATE KEY
    {"plain": PORT, "tls": PORT}                                           it is there
    <- {"faults": [..], "login": "bearer", "user": .., "moves": 1, ..}     from now on; see Orders
    -> {"asked": 3, "sent": {"drip": 1}}                                   what happened under the orders before

Both ports serve the same. New orders end every connection that the old ones still hold.
"""

import base64
import json
import random
import socket
import ssl
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from campaign.faults import FAULTS
from campaign.images import AFTER_THE_MOVE, DOCUMENTS
from campaign.wire import Asked, Connection, Honest, answer


@dataclass
class Fault:
    """name: of FAULTS. kind: of request, "" for any. skip: so many are spared first. times: 0 for ever."""

    name: str
    kind: str
    skip: int
    times: int
    seed: str
    seen: int = 0

    def takes(self, asked: Asked) -> bool:
        if self.kind not in {"", asked.kind}:
            return False
        self.seen += 1
        return self.seen > self.skip and (not self.times or self.seen <= self.skip + self.times)


@dataclass
class Orders:
    """A script. login: "", "basic" or "bearer". moves: the request after which the tag moves, 0 for never.

    realm: the path of the token service; others answer 404. handshake: "", "silent", "slow" or "noise" on the TLS port.
    """

    faults: list[Fault] = field(default_factory=list)
    login: str = ""
    user: str = ""
    password: str = ""
    token: str = ""
    realm: str = "/token"
    moves: int = 0
    moved: bool = False
    handshake: str = ""
    pause: float = 0.0
    asked: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)


class Registry:
    def __init__(self, certificate: str, key: str) -> None:
        self.orders = Orders()
        self._lock = threading.Lock()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self.ports = {"plain": self._listen(secure=False), "tls": self._listen(secure=True)}

    def follow(self, said: dict[str, Any]) -> dict[str, Any]:
        """Take new orders; what happened under the old ones."""
        faults = [Fault(**fault) for fault in said.pop("faults", ())]
        with self._lock:
            old, self.orders = self.orders, Orders(faults=faults, **said)
        old.over.set()
        return {"asked": old.asked, "sent": dict(old.sent)}

    def _listen(self, *, secure: bool) -> int:
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        threading.Thread(target=self._accept, args=(listener, secure), daemon=True).start()
        port: int = listener.getsockname()[1]
        return port

    def _accept(self, listener: socket.socket, secure: bool) -> None:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=self._serve, args=(client, secure), daemon=True).start()

    def _serve(self, client: socket.socket, secure: bool) -> None:
        orders = self.orders
        wire = Connection(client, orders.over)
        try:
            client.settimeout(30)
            if secure:
                self._shake(wire, orders)
            while not orders.over.is_set():
                asked = wire.read(secure=secure)
                if asked is None:
                    break
                self._answer(wire, asked, self.orders)
        except (OSError, ValueError):
            pass  # the client is gone, or has nothing to say to this server
        finally:
            wire.close(reset=False)

    def _shake(self, wire: Connection, orders: Orders) -> None:
        if orders.handshake:
            orders.sent[f"handshake {orders.handshake}"] += 1
        if orders.handshake == "silent":
            wire.pause(600)
        if orders.handshake == "slow":
            wire.pause(0.5)
        if orders.handshake == "noise":
            wire.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            raise OSError
        wire.client = self._context.wrap_socket(wire.client, server_side=True)

    def _answer(self, wire: Connection, asked: Asked, orders: Orders) -> None:
        wire.over = orders.over
        with self._lock:
            orders.asked += 1
            fault = next((one for one in orders.faults if one.takes(asked)), None)
            if fault:
                orders.sent[fault.name] += 1
            drawn = random.Random(f"{fault.seed} {fault.seen}" if fault else "")
            honest = self._honest(asked, orders)
        wire.pause(orders.pause)
        if fault:
            FAULTS[fault.name](wire, asked, honest, drawn)
        else:
            answer(wire, asked, honest.status, honest.headers, honest.body)

    def _honest(self, asked: Asked, orders: Orders) -> Honest:
        path = urlsplit(asked.path).path
        authorization = asked.headers.get("authorization", "")
        basic = "Basic " + base64.b64encode(f"{orders.user}:{orders.password}".encode()).decode()
        if asked.kind == "token":
            if path != orders.realm:
                return Honest(404, [], b"no such service")
            if orders.user and authorization != basic:
                return Honest(401, [], b"{}")
            told = {"token": orders.token, "expires_in": 300}
            return Honest(200, [("Content-Type", "application/json")], json.dumps(told).encode())
        wanted = {"bearer": f"Bearer {orders.token}", "basic": basic, "": authorization}[orders.login]
        if authorization != wanted:
            return Honest(401, [("WWW-Authenticate", self._challenge(asked, orders))], b"{}")
        known = DOCUMENTS
        if "/moving/" in path:
            orders.moved = orders.moved or bool(orders.moves and orders.asked > orders.moves)
            known = {**DOCUMENTS, **AFTER_THE_MOVE} if orders.moved else DOCUMENTS
        document = known.get(path)
        if document is None:
            return Honest(404, [], b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
        headers = [("Content-Type", document.media_type), ("Docker-Content-Digest", document.digest)]
        return Honest(200, headers, document.body)

    def _challenge(self, asked: Asked, orders: Orders) -> str:
        if orders.login == "basic":
            return 'Basic realm="x"'
        repository = urlsplit(asked.path).path.removeprefix("/v2/").partition("/")[0]
        place = f"{'https' if asked.secure else 'http'}://127.0.0.1:{asked.port}{orders.realm}"
        return f'Bearer realm="{place}",service="x",scope="repository:{repository}:pull"'


def main() -> None:
    registry = Registry(*sys.argv[1:])
    print(json.dumps(registry.ports), flush=True)
    for line in sys.stdin:
        print(json.dumps(registry.follow(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
