"""`archfit serve` as a process under fire, with the limits that are shipped, and what it costs.

with Served(folder, ports) as server:
    server.rss()                     MiB now, of all its processes (Linux, /proc/PID/status)
    server.processor()               0.5: it waited for a processor as long as it had one
    server.listens(False)            nobody reads its log any longer
    server.refusals()                the 503s that its metric counts
    server.said()                    what is wrong with its log: no JSON, a traceback, a bug, a secret
"""

import base64
import contextlib
import http.client
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from campaign.webhook.tenants import SECRET
from tls_files import tls_files
from webhook_server import Secret, WebhookServer

LIMIT_MIB = 512
"""The memory limit of the shipped manifests."""
GUARD_MIB = 6 * 1024
_REFUSALS = 'archfit_http_errors_total{code="503"}'
_STOPS_SECONDS = 30.0
# Python keeps a file of bytecode that a limit has cut off, and cannot start with it.
_NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
_LIMITED = ("sh", "-c", 'ulimit -f "$1"; ulimit -n "$2"; shift 2; exec "$@"', "sh")


class Served(WebhookServer):
    """See the module. ports: of the registries, by the host that stands for each. words: more arguments.

    port: to listen at, 0 for any. file_blocks: how large a file may grow, in the shell's blocks; 0 for any size.
    files: how many descriptors it may have. package: the folder `transformer` of another archfit, "" for this one.
    """

    def __init__(
        self,
        folder: Path,
        ports: Mapping[str, int],
        *words: str,
        port: int = 0,
        file_blocks: int = 0,
        files: int = 1024,
        package: str = "",
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._limits = (str(file_blocks or "unlimited"), str(files))
        self._heard = threading.Event()
        self._heard.set()
        self._lines: list[bytes] = []
        self.secret = Secret(folder / "tls")
        tls = self.secret.write(tls_files().certificate, tls_files().key)
        environ = {"PYTHONPATH": package} if package else {}
        words = ("--listen", f"127.0.0.1:{port}", *_trust(folder, ports), *words)
        super().__init__(folder, *words, tls=tls, **environ)

    def started(self, command: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
        own = {"PATH": os.environ["PATH"], "HOME": str(self._folder), "LANG": "C.UTF-8", **_NO_BYTECODE}
        process = subprocess.Popen(
            [*_LIMITED, *self._limits, *command], stderr=subprocess.PIPE, env={**own, **environ}
        )
        self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._reader.start()
        return process

    def __exit__(self, *_: object) -> None:
        self.stop("KILL")

    @property
    def up(self) -> bool:
        return self.process.poll() is None

    def listens(self, heard: bool) -> None:
        (self._heard.set if heard else self._heard.clear)()

    def stop(self, name: str) -> int:
        """Its exit code after SIGKILL or SIGTERM."""
        if self.up:
            self.process.send_signal(signal.Signals[f"SIG{name}"])
        try:
            self.process.wait(_STOPS_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._heard.set()
        self._reader.join(_STOPS_SECONDS)
        if self.process.stderr and not self._reader.is_alive():
            self.process.stderr.close()
        return self.process.returncode

    def rss(self) -> float:
        return sum(_status(pid, "VmRSS") for pid in (self.process.pid, *self.children()))

    def children(self) -> list[int]:
        """Its own processes; [] where it has ended."""
        pids = []
        for file in Path(f"/proc/{self.process.pid}/task").glob(
            "*/children"
        ):  # of each thread that started some
            with contextlib.suppress(OSError):
                pids += [int(word) for word in file.read_text(encoding="ascii").split()]
        return pids

    def processor(self) -> float:
        """Which part of the time in which its event loop wanted a processor it had one; proc(5), schedstat."""
        try:
            text = Path(f"/proc/{self.process.pid}/schedstat").read_text(encoding="ascii")
        except OSError:
            return 1.0
        had, waited = map(int, text.split()[:2])
        return had / (had + waited) if had else 1.0

    def ready(self) -> int:
        """The status of /readyz; 0 where it gives none."""
        return self.probe("/readyz")[0]

    def metrics(self) -> dict[str, float]:
        """Each sample by its name with labels; {} where it gives none."""
        text = self.probe("/metrics")[1]
        rows = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    def refusals(self) -> int | None:
        """How many times it answered 503, by its metric; None where it has no such metric."""
        counted = [value for name, value in self.metrics().items() if name.startswith(_REFUSALS)]
        return int(sum(counted)) if counted else None

    def text(self) -> bytes:
        return b"".join(self._lines)

    def said(self) -> Iterator[str]:
        for line in self.text().splitlines(keepends=True):
            try:
                told = json.loads(line)
            except ValueError:
                if line.endswith(b"\n"):
                    yield f"the log has a line that is no JSON: {line[:200]!r}"
                continue
            if told.get("outcome") == "error" or "Traceback" in str(told):
                yield f"the log has an error: {line[:400].decode(errors='replace')}"
            if len(line) > 16 * 1024:
                yield f"the log has a line of {len(line):,} bytes: {line[:80]!r}"
        if SECRET.encode() in self.text():
            yield "the log has a secret"

    def probe(self, path: str) -> tuple[int, str]:
        """What the second port answers; (0, "") where it does not."""
        try:
            return super().probe(path)
        except (OSError, http.client.HTTPException):
            return 0, ""

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        descriptor = process.stderr.fileno()
        while True:
            self._heard.wait()
            part = os.read(descriptor, 65_536)
            if not part:
                return
            self._lines.append(part)


def _trust(folder: Path, ports: Mapping[str, int]) -> list[str]:
    """Mirrors, and a credential for the good registry."""
    word = base64.b64encode(f"me:{SECRET}".encode()).decode()
    path = folder / "auth.json"
    path.write_text(
        json.dumps({"auths": {f"127.0.0.1:{ports['good.invalid']}": {"auth": word}}}), encoding="utf-8"
    )
    words = ["--authfile", str(path)]
    for name, port in ports.items():
        words += ["--mirror", f"{name}=http://127.0.0.1:{port}"]
    return words


def _status(pid: int, field: str) -> float:
    """MiB; 0 for a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), 0.0)
