"""`archfit serve` as a process on loopback, with the pair that `archfit setup webhook` wrote.

with WebhookProcess(pair, folder, *registry.mirrors()) as server:
    server.port         of the webhook, TLS
    server.probe("/readyz")      (status, body) of the second port
    server.log()        what it has written to standard error, each line decoded
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, Self

import httpx

from program import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

    from archfit.integrations.webhook.certificates import Pair

_PATIENCE_SECONDS = 30.0


class WebhookProcess:
    """See the module. folder: a new one below it holds the pair, as a mounted Secret does."""

    def __init__(self, pair: Pair, folder: Path, *words: str, **environ: str) -> None:
        self.tls = folder / "tls"
        self.tls.mkdir()
        self.load(pair)
        self._words, self._environ = words, {**os.environ, **environ}
        self._log = folder / "serve.log"

    def load(self, pair: Pair) -> None:
        """Write the pair where the process reads it."""
        for name, content in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
            (self.tls / name).write_bytes(content)

    def __enter__(self) -> Self:
        own = ("--tls-dir", str(self.tls), "--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "serve", *own, "--drain-delay", "0s", *self._words], stderr=log, env=self._environ
            )
        try:
            listening = self._until_listening()
        except BaseException:
            self.__exit__()
            raise
        self.port = int(httpx.URL(listening["webhook"]).port or 0)
        self._probes = listening["probes"]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(_PATIENCE_SECONDS)

    def probe(self, path: str) -> tuple[int, str]:
        """See the module."""
        answer = httpx.get(self._probes + path, trust_env=False)
        return answer.status_code, answer.text

    def log(self) -> list[dict[str, Any]]:
        """See the module."""
        return [
            json.loads(line)
            for line in self._log.read_text(encoding="utf-8").splitlines()
            if line.startswith("{")
        ]

    def _until_listening(self) -> dict[str, Any]:
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            for line in self.log():
                if line["message"] == "listening":
                    return line
            text = self._log.read_text(encoding="utf-8")
            assert self._process.poll() is None, text
            assert time.monotonic() < give_up, f"archfit serve does not listen:\n{text}"
            time.sleep(0.02)
