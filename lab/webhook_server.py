"""`archfit serve` as a process of its own, TLS on loopback, and a load like an API server's.

with WebhookServer(folder, "--mirror", f"*={fake.url}") as server:
    server.send(body(review(pod())))     (status, bytes); timeout="3s" goes into the URL
    server.review(pod("app:1"))          Answered
    server.probe("/readyz")              (status, text), from the second port
    server.metric("archfit_lookups_total{..}")
    server.log()                         the lines so far, decoded
    server.end(signal.SIGTERM)           the exit code
started_load(server, review, "-n", "1000")    tests/judges/load; finished_load(..) has its counts as a mapping

Secret(folder)                           a folder as the kubelet mounts a Secret; `write` moves its link
"""

import json
import os
import shutil
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import machine
from admission_reviews import Answered, body, decoded, review
from program import PROGRAM
from tls_files import tls_files

_PATIENCE_SECONDS = 30.0


class WebhookServer:
    """See the module. words: more arguments. tls: the folder of the certificate."""

    def __init__(self, folder: Path, *words: str, tls: Path | None = None, **environ: str) -> None:
        machine.refuse_unmarked("openssl")
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "log.jsonl"
        self.tls = tls or Secret(folder / "tls").write(tls_files().certificate, tls_files().key)
        arguments = ["--tls-dir", str(self.tls)]
        for flag, value in (
            ("--listen", "127.0.0.1:0"),
            ("--probe-listen", "127.0.0.1:0"),
            ("--drain-delay", "0s"),
            *([] if "--no-cache" in words else [("--cache", str(folder / "lookups.sqlite"))]),
        ):
            arguments += [] if flag in words else [flag, value]
        self.process = self.started([str(PROGRAM), "serve", *arguments, *words], environ)
        try:
            line = until("the server listens", self._listening)
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.url: str = line["webhook"]
        self.probes: str = line["probes"]
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])

    def started(self, command: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
        with self._log.open("wb") as log:
            return subprocess.Popen(command, stderr=log, env={**os.environ, **environ})

    def text(self) -> bytes:
        return self._log.read_bytes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def send(self, content: bytes, timeout: str = "10s") -> tuple[int, bytes]:
        request = urllib.request.Request(
            f"{self.url}?timeout={timeout}", content, {"Content-Type": "application/json"}
        )
        context = ssl.create_default_context(cafile=str(tls_files().ca))
        try:
            with urllib.request.urlopen(request, context=context, timeout=40) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def review(self, value: dict[str, Any], timeout: str = "10s", **request: Any) -> Answered:
        status, answer = self.send(body(review(value, **request)), timeout)
        assert status == 200, answer
        return decoded(answer)

    def probe(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"{self.probes}{path}", timeout=20) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, text: str) -> float:
        """The value of a metric, as it is written; 0 where it is not there."""
        lines = self.probe("/metrics")[1].splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(f"{text} ")), 0.0)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines(keepends=True) if line.endswith(b"\n")]

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(_PATIENCE_SECONDS)

    def _listening(self) -> dict[str, Any] | None:
        assert self.process.poll() is None, self.text().decode(errors="replace")
        return next((line for line in self.log() if line["message"] == "listening"), None)


class Secret:
    """A folder as the kubelet mounts a Secret: ..data leads to a folder of its own for each version."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._version = 0
        folder.mkdir()

    def write(self, certificate: Path, key: Path) -> Path:
        """A new version of tls.crt and tls.key, in one step; the folder."""
        self._version += 1
        fresh = self.folder / f"..2026_{self._version}"
        fresh.mkdir()
        shutil.copyfile(certificate, fresh / "tls.crt")
        shutil.copyfile(key, fresh / "tls.key")
        data = self.folder / "..data"
        old = data.resolve() if data.is_symlink() else None
        moving = self.folder / "..data_tmp"
        moving.symlink_to(fresh.name)
        moving.replace(data)
        for name in ("tls.crt", "tls.key"):
            link = self.folder / name
            if not link.is_symlink():
                link.symlink_to(f"..data/{name}")
        if old:
            shutil.rmtree(old)
        return self.folder


def issued(folder: Path, name: str, days: int = 2) -> tuple[Path, Path]:
    ca = tls_files().ca
    openssl = shutil.which("openssl") or machine.missing("openssl", "apt-get install openssl")

    def run(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    request = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run(*request, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    run(
        *("x509", "-req", "-in", f"{name}.csr", "-CA", str(ca), "-CAkey", str(ca.with_name("ca.key"))),
        *("-CAcreateserial", "-out", f"{name}.crt", "-days", str(days)),
        *("-extfile", str(ca.with_name("extensions"))),
    )
    return folder / f"{name}.crt", folder / f"{name}.key"


def started_load(
    server: WebhookServer, content: object, *words: str, timeout: str = "10s"
) -> subprocess.Popen[str]:
    program = machine.go_build(machine.ROOT / "tests" / "judges" / "load", "load")
    file = server.tls.parent / "load.json"
    file.write_bytes(body(content))
    return subprocess.Popen(
        [program, "-url", f"{server.url}?timeout={timeout}", "-ca", tls_files().ca, "-body", file, *words],
        stdout=subprocess.PIPE,
        text=True,
    )


def finished_load(running: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    found: dict[str, Any] = json.loads(output)
    return found


def until(what: str, probe: Callable[[], Any], seconds: float = _PATIENCE_SECONDS) -> Any:
    """Polls until `probe()` is true, and returns its value. Raises AssertionError."""
    end = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        assert time.monotonic() < end, f"waited {seconds:.0f} s in vain until {what}"
        time.sleep(0.02)
