"""What an admission review costs: `archfit serve` over TLS, warm. `python benchmarks/webhook.py [--beside PROGRAM]`

    full speed    10,000 reviews of 4.7 KB over 8 connections that are kept, three times: requests a second, p50, p99
    half load     half of the best speed, for 5 s, three times: p50, p99, processor time for each request
    slowly        300 requests a second, for 5 s
    memory        resident, after all of these

PROGRAM is a build of k8smultiarcher (github.com/arturhoo/k8smultiarcher, `go build`); it answers the same reviews. The
client (tests/judges/load) runs on the same machine. Nothing leaves loopback.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inputs import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "fixtures"))

import machine
from admission_reviews import pod, review
from fake_registry import FakeRegistry
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGES = ("team/web:1.27", "team/side:2")
PLATFORMS = ("linux/amd64", "linux/arm64")
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


@contextlib.contextmanager
def running(command: list[Any], environ: dict[str, str], port: int) -> Iterator[int]:
    """The process id of a server, once it takes connections."""
    process = subprocess.Popen(
        command, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 20
        while time.monotonic() < end and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def processor_seconds(pid: int) -> float:
    """User and system time of a process so far (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK / 1_000_000


def measured(name: str, load: Load, pid: int, port: int) -> None:
    """Prints the rows of one server."""

    def row(what: str, *words: str) -> float:
        before = processor_seconds(pid)
        found = load.run(port, "-c", "8", *words)
        spent = (processor_seconds(pid) - before) / found["requests"]
        rate: float = found["requests"] / found["seconds"]
        cells = (
            name,
            what,
            f"{rate:.0f}",
            *(f"{found[key]:.2f}" for key in ("p50", "p99")),
            f"{spent * 1e6:.0f}",
        )
        print("| " + " | ".join(cells) + " |", flush=True)
        return rate

    load.run(port, "-n", "500", "-c", "4")
    best = max(row("full speed", "-n", "10000") for _ in range(3))
    for _ in range(3):
        row("half load", "-for", "5s", "-rate", f"{best / 2:.0f}")
    row("slowly", "-for", "5s", "-rate", "300")
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    print(f"| {name} | memory | {kilobytes / 1024:.0f} MiB | | | |", flush=True)


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        number: int = one.getsockname()[1]
        return number


def main() -> None:
    """Measures, and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description="Measure the webhook.")
    parser.add_argument("--beside", metavar="PROGRAM", help="a build of k8smultiarcher")
    beside = parser.parse_args().beside
    files = tls_files()
    with tempfile.TemporaryDirectory() as temporary, FakeRegistry(files.context()) as registry:
        folder = Path(temporary)
        for image in IMAGES:
            registry.index(*image.split(":"), PLATFORMS)
        load = Load(folder, body(registry.host))
        print(f"reviews of {load.size} bytes\n")
        print(
            "| server | what | requests/s | p50 ms | p99 ms | processor us |\n| --- | --- | --- | --- | --- | --- |"
        )
        port = free_port()
        command = [
            *(Path(sys.executable).parent / "archfit", "serve", "--no-cache", "--drain-delay", "0s"),
            *("--tls-cert", files.certificate, "--tls-key", files.key, "--ca-file", files.ca),
            *("--listen", f"127.0.0.1:{port}", "--probe-listen", "127.0.0.1:0"),
            *("--mirror", f"*={registry.url}"),
        ]
        with running(command, {}, port) as pid:
            measured("archfit", load, pid, port)
        if beside:
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
            with running([beside], environ, port) as pid:
                measured("k8smultiarcher", load, pid, port)
        print(f"\n{registry.count()} requests to the registry")


if __name__ == "__main__":
    main()
