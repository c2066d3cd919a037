"""A real redis-server on loopback, with a process of its own and no persistence.

with RedisServer(folder) as server:        or with options as on its command line: requirepass="hush"
    server.url()                           redis://127.0.0.1:PORT
    server.client()                        redis-py, for looking and for meddling
    server.commands()                      {"getrange": 1, ..}: calls since `forget`
"""

import subprocess
import time
from pathlib import Path
from typing import Any, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

import machine
from real_registries import free_port
from tls_files import TlsFiles

_PATIENCE_SECONDS = 60.0
_OURS = {"ping", "info", "config", "hello", "client", "auth", "select", "config|resetstat"}


class RedisServer:
    """See the module. Skips or fails the running test where there is no redis-server."""

    def __init__(self, folder: Path, tls: TlsFiles | None = None, **options: str) -> None:
        self._binary = machine.tool("redis-server")
        self._folder = folder
        self._tls = tls
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """On the port that it had, if it had one."""
        self.port = self.port or free_port()
        options: dict[str, object] = {
            "bind": "127.0.0.1",
            "save": "",
            "appendonly": "no",
            "dir": self._folder,
            "port": 0 if self._tls else self.port,
            **self._options,
        }
        if self._tls:
            options |= {"tls-port": self.port, "tls-auth-clients": "no", "tls-ca-cert-file": self._tls.ca}
            options |= {"tls-cert-file": self._tls.certificate, "tls-key-file": self._tls.key}
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binary, *words], stdout=log, stderr=log, env=self._environ()
            )
        self._await()

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def url(self) -> str:
        return f"redis{'s' if self._tls else ''}://127.0.0.1:{self.port}"

    def client(self, **options: Any) -> redis.Redis:
        if self._tls:
            options |= {"ssl": True, "ssl_ca_certs": str(self._tls.ca)}
        password = self._options.get("requirepass")
        told: dict[str, Any] = {
            "password": password,
            "protocol": 2,
            "retry": Retry(NoBackoff(), 0),
            **options,
        }
        return redis.Redis("127.0.0.1", self.port, **told)

    def commands(self) -> dict[str, int]:
        """Calls of each command since `forget`, connection set-up left out."""
        with self.client() as client:
            told = client.info("commandstats")
        counts = {name.removeprefix("cmdstat_"): row["calls"] for name, row in told.items()}
        return {name: calls for name, calls in counts.items() if name.partition("|")[0] not in _OURS}

    def forget(self) -> None:
        with self.client() as client:
            client.config_resetstat()

    def texts(self, *, claims: bool = False) -> dict[str, str]:
        """Every key with its text; those of claims are left out unless they are wanted."""
        with self.client(decode_responses=True) as client:
            keys = [key for key in client.scan_iter() if claims or ":claim:" not in key]
            return {key: client.get(key) for key in sorted(keys)}

    def _environ(self) -> dict[str, str]:
        libraries = sorted((machine.TOOLS / "debian" / "usr" / "lib").glob("*-linux-gnu"))
        unpacked = Path(self._binary).is_relative_to(machine.TOOLS)
        path = {"LD_LIBRARY_PATH": ":".join(map(str, libraries))} if unpacked else {}
        return {**machine.ENVIRON, **path}

    def _await(self) -> None:
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                with self.client() as client:
                    client.ping()
            except redis.ConnectionError:
                if self._process is None or self._process.poll() is not None or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)
            else:
                return
