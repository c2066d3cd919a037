"""A Redis server that stops, hangs, fills up and comes back."""

import contextlib
import os
import signal
from pathlib import Path

import redis

from redis_server import RedisServer


class Trouble:
    """See the module. folder: for its files."""

    def __init__(self, folder: Path) -> None:
        self._server = RedisServer(folder)
        self._server.start()
        self._up = True
        self._hangs = False

    @property
    def url(self) -> str:
        return self._server.url()

    @property
    def pid(self) -> int:
        return self._server.pid if self._up else 0

    def do(self, what: str) -> None:
        """One of campaign.scripts.TROUBLES, or `start`: everything is well again."""
        if what == "start":
            self._start()
        elif what == "stop":
            self.end()
        elif self._up and not self._hangs:
            if what == "hang":
                os.kill(self._server.pid, signal.SIGSTOP)
                self._hangs = True
                return
            with self._server.client() as client:
                if what == "full":
                    client.config_set("maxmemory", "1")
                elif what == "read only":
                    client.replicaof("127.0.0.1", 1)
                else:
                    self._forget(client)

    @staticmethod
    def _forget(client: redis.Redis) -> None:
        with contextlib.suppress(redis.ReadOnlyError):  # it forgets nothing while it follows another server
            client.flushall()

    def end(self) -> None:
        self._server.stop()
        self._up = self._hangs = False

    def _start(self) -> None:
        if self._hangs:
            os.kill(self._server.pid, signal.SIGCONT)
            self._hangs = False
        if not self._up:
            self._server.start()
            self._up = True
        with self._server.client() as client:
            client.config_set("maxmemory", "0")
            client.replicaof("NO", "ONE")
