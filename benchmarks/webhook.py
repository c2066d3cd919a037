"""What an admission review costs: `archfit serve` over TLS, warm.

    python benchmarks/webhook.py [--beside PROGRAM] [--before FOLDER]

    full speed    10,000 reviews of 3.8 KB over 8 connections that are kept: requests a second, p50, p99
    half load     half of its full speed, for 5 s: p50, p99, processor time for each request
    slowly        300 requests a second, for 5 s
    memory        resident, of all its processes, after all of these
    start         until it answers over TLS

Medians of three rounds, each of which asks every server in turn; `make pages` then renews docs/proof.md. PROGRAM is a
build of k8smultiarcher (github.com/arturhoo/k8smultiarcher, `go build`); it answers the same reviews. FOLDER is
`transformer` of another checkout, whose archfit is measured too. The client (tests/judges/load) runs on the same
machine. Nothing leaves loopback.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from inputs import ROOT

sys.path.insert(0, str(ROOT / "fixtures"))

import machine
from admission_reviews import pod, review
from fake_registry import FakeRegistry
from measured import Table
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IMAGES = ("team/web:1.27", "team/side:2")
PLATFORMS = ("linux/amd64", "linux/arm64")
_BEFORE = "archfit before"
TICK = 1_000_000 // os.sysconf("SC_CLK_TCK")


def body(host: str) -> dict[str, Any]:
    """A review as of a ReplicaSet's pod with two containers."""
    value = pod(*(f"{host}/{image}" for image in IMAGES), generateName="web-5d4f-", labels={"app": "web"})
    for container in value["spec"]["containers"]:
        container["env"] = [{"name": f"VARIABLE_{number}", "value": "a value"} for number in range(18)]
        container["volumeMounts"] = [{"name": "kube-api-access-x7", "mountPath": "/var/run/secrets"}]
        container["livenessProbe"] = {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 10}
    fields = {f"f:field{number}": {} for number in range(60)}
    value["metadata"]["managedFields"] = [{"manager": "kube-controller-manager", "fieldsV1": fields}]
    return review(value, uid="UID")


class Load:
    """The client, for one review."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self._program = machine.go_build(ROOT / "tests" / "judges" / "load", "load")
        self._body = folder / "review.json"
        self._body.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")

    @property
    def size(self) -> int:
        return self._body.stat().st_size

    def run(self, port: int, *words: str) -> dict[str, Any]:
        url = f"https://127.0.0.1:{port}/mutate?timeout=10s"
        command = [self._program, "-url", url, "-ca", tls_files().ca, "-body", self._body, *words]
        done = subprocess.run(command, capture_output=True, check=True, timeout=120)
        found: dict[str, Any] = json.loads(done.stdout)
        if found["failed"]:
            raise SystemExit(f"{found['failed']} requests failed: {found['first']}")
        return found


def answers(port: int) -> bool:
    """Whether somebody answers there over TLS, whatever the status."""
    context = ssl.create_default_context(cafile=str(tls_files().ca))
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5)
        connection.request("GET", "/")
        return bool(connection.getresponse().status)
    return False


@contextlib.contextmanager
def running(command: list[Any], environ: dict[str, str], port: int) -> Iterator[tuple[int, float]]:
    """The process id of a server once it answers, and after how many seconds it did."""
    process = subprocess.Popen(
        command, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        began = time.monotonic()
        while time.monotonic() < began + 20 and process.poll() is None and not answers(port):
            time.sleep(0.01)
        yield process.pid, time.monotonic() - began
    finally:
        process.terminate()
        process.wait(20)


def processes(pid: int) -> list[int]:
    """A process and its own (proc(5))."""
    texts = [file.read_text(encoding="ascii") for file in Path(f"/proc/{pid}/task").glob("*/children")]
    return [pid, *(int(word) for text in texts for word in text.split())]


def processor_seconds(pid: int) -> float:
    """User and system time of a process and its own so far."""
    ticks = 0
    for each in processes(pid):
        fields = Path(f"/proc/{each}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * TICK / 1_000_000


def resident(pid: int) -> float:
    """MiB of a process and its own."""
    kilobytes = 0
    for each in processes(pid):
        status = Path(f"/proc/{each}/status").read_text(encoding="ascii").splitlines()
        kilobytes += next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return kilobytes / 1024


class Server(NamedTuple):
    """One that is measured."""

    name: str
    pid: int
    port: int
    seconds: float


class Cell(NamedTuple):
    """One measurement. spent: processor time of the server for a request, in microseconds."""

    rate: float
    p50: float
    p99: float
    spent: float


def measured(load: Load, server: Server, *words: str) -> Cell:
    """What the server does under that load."""
    before = processor_seconds(server.pid)
    found = load.run(server.port, "-c", "8", *words)
    spent = (processor_seconds(server.pid) - before) / found["requests"]
    return Cell(found["requests"] / found["seconds"], found["p50"], found["p99"], spent * 1e6)


def row(table: Table, server: Server, what: str, cells: Sequence[Cell]) -> Cell:
    """The medians of the rounds."""
    made = Cell(*map(median, zip(*cells, strict=True)))
    table.row(
        server.name, what, f"{made.rate:.0f}", f"{made.p50:.2f}", f"{made.p99:.2f}", f"{made.spent:.0f}"
    )
    return made


def by_turns(load: Load, table: Table, servers: Sequence[Server], rounds: int) -> None:
    """The rows of all servers: each round asks one after the other."""
    for server in servers:
        load.run(server.port, "-n", "500", "-c", "4")
    full = [[measured(load, server, "-n", "10000") for server in servers] for _ in range(rounds)]
    rates = [
        row(table, server, "full speed", one).rate
        for server, one in zip(servers, zip(*full, strict=True), strict=True)
    ]
    for what, asked in (("half load", [rate / 2 for rate in rates]), ("slowly", [300.0] * len(servers))):
        made = [
            [
                measured(load, server, "-for", "5s", "-rate", f"{rate:.0f}")
                for server, rate in zip(servers, asked, strict=True)
            ]
            for _ in range(rounds)
        ]
        for server, one in zip(servers, zip(*made, strict=True), strict=True):
            row(table, server, what, one)
    for server in servers:
        table.row(server.name, "memory", f"{resident(server.pid):.0f} MiB", "", "", "")
        table.row(server.name, "start", f"{server.seconds * 1000:.0f} ms", "", "", "")


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        number: int = one.getsockname()[1]
        return number


def main() -> None:
    """Measures, and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description="Measure the webhook.")
    parser.add_argument("--beside", metavar="PROGRAM", help="a build of k8smultiarcher")
    parser.add_argument("--before", metavar="FOLDER", help="the folder `transformer` of another archfit")
    parser.add_argument("--rounds", type=int, default=3)
    words = parser.parse_args()
    files = tls_files()
    with (
        tempfile.TemporaryDirectory() as temporary,
        FakeRegistry(files.context()) as registry,
        contextlib.ExitStack() as stack,
    ):
        folder = Path(temporary)
        shutil.copy(files.certificate, folder / "tls.crt")
        shutil.copy(files.key, folder / "tls.key")
        for image in IMAGES:
            registry.index(*image.split(":"), PLATFORMS)
        load = Load(folder, body(registry.host))
        servers: list[Server] = []

        def start(name: str, command: list[Any], environ: dict[str, str], port: int) -> None:
            pid, seconds = stack.enter_context(running(command, environ, port))
            servers.append(Server(name, pid, port, seconds))

        def archfit(name: str, environ: dict[str, str]) -> None:
            port = free_port()
            command = [
                *(Path(sys.executable).parent / "archfit", "serve", "--no-cache", "--drain-delay", "0s"),
                *("--tls-dir", folder, "--ca-file", files.ca),
                *("--listen", f"127.0.0.1:{port}", "--probe-listen", "127.0.0.1:0"),
                *("--mirror", f"*={registry.url}"),
            ]
            start(name, command, environ, port)

        archfit("archfit", {})
        if words.before:
            archfit(_BEFORE, {"PYTHONPATH": words.before})
        if words.beside:
            port = free_port()
            environ = {
                "TLS_ENABLED": "true",
                "HOST": "127.0.0.1",
                "PORT": str(port),
                "GIN_MODE": "release",
                "CERT_PATH": str(files.certificate),
                "KEY_PATH": str(files.key),
                "SSL_CERT_FILE": str(files.ca),
            }
            start("k8smultiarcher", [words.beside], environ, port)
        print(f"reviews of {load.size} bytes")
        table = Table(
            "webhook", "Server", "What", "Requests a second", "p50 ms", "p99 ms", "Processor time of one, µs"
        )
        by_turns(load, table, servers, words.rounds)
        print(f"\n{registry.count()} requests to the registry, load {os.getloadavg()[0]:.1f}")
    table.keep(but=_BEFORE)


if __name__ == "__main__":
    main()
