"""What a hostile tenant makes `archfit serve` keep, and what new images do: `python benchmarks/webhook_memory.py`

    vectors    each against a server of its own with a memory limit: the most that was resident, and how long a usual
               pod waited meanwhile
    growth     --reviews N of new images, each answered by a fake registry: what is resident at steps

    --serve WORDS   the server's command, to measure another checkout; default: archfit serve of this one
    --limit 512Mi   given as --memory-limit; "" leaves it out
    --only WORD     vectors whose name has the word

Nothing leaves loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shlex
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inputs import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "fixtures"))

from admission_reviews import pod, review
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1 << 20
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
STEPS = (1_000, 10_000, 25_000, 50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000)
_PATIENCE_SECONDS = 60.0


class Registry:
    """A registry on loopback, in a process of its own, that has an index for every tag.

    Repositories that begin with `odd` have 1,024 entries of architectures that nobody makes.
    """

    def __enter__(self) -> Registry:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--registry"], stdout=subprocess.PIPE, text=True
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        self.url = f"http://127.0.0.1:{int(line)}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


def serve_registry() -> None:
    """The registry's process: its port is the first line of standard output."""

    def index(architectures: list[str], name: str) -> bytes:
        entries = [
            {
                "mediaType": MANIFEST,
                "digest": f"sha256:{number:064x}",
                "size": 2,
                "platform": {"os": "linux", "architecture": architecture},
            }
            for number, architecture in enumerate(architectures)
        ]
        return json.dumps(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries, "name": name}
        ).encode()

    def odd(name: str) -> bytes:
        return index(["amd64", *(f"{name[-6:]}x{number}" for number in range(1023))], name).replace(
            b"/", b"-"
        )

    class Answers(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport, self.left = transport, b""

        def data_received(self, data: bytes) -> None:
            self.left += data
            while b"\r\n\r\n" in self.left:
                head, _, self.left = self.left.partition(b"\r\n\r\n")
                name = head.split(b" ", 2)[1].decode()
                body = odd(name) if "/odd" in name else index(["amd64", "arm64"], name)
                answer = f"HTTP/1.1 200 OK\r\nContent-Type: {INDEX}\r\nContent-Length: {len(body)}\r\n\r\n"
                self.transport.write(answer.encode() + body)  # type: ignore[attr-defined]

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Answers, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(run())


class Server:
    """`archfit serve` on loopback. port: its own. words: more arguments."""

    def __init__(self, command: list[str], folder: Path, *words: str, tls: bool = True) -> None:
        files = tls_files()
        secure = ("--tls-cert", str(files.certificate), "--tls-key", str(files.key))
        self._log = folder / "log.jsonl"
        self._stream = self._log.open("wb")
        self.process = subprocess.Popen(
            [
                *command,
                *(secure if tls else ("--insecure-http",)),
                *("--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0", "--drain-delay", "0s"),
                *("--cache", str(folder / "lookups.sqlite")),
                *words,
            ],
            stderr=self._stream,
        )
        self.tls = ssl.create_default_context(cafile=str(files.ca)) if tls else None
        line = self._listening()
        self.port = int(line["webhook"].rpartition(":")[2].partition("/")[0])
        self.probes = int(line["probes"].rpartition(":")[2])

    def _listening(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            for line in self._log.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):
                    found: dict[str, Any] = json.loads(line)
                    if found["message"] == "listening":
                        return found
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit(self._log.read_text(encoding="utf-8"))

    def status(self, field: str) -> float:
        """MiB of a field of proc(5), VmRSS or VmHWM."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in text.splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1024

    def metrics(self) -> str:
        """What the second port shows."""
        with socket.create_connection(("127.0.0.1", self.probes), 20) as one:
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return b"".join(iter(lambda: one.recv(65536), b"")).decode()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._stream.close()

    def connect(self, *, handshake: bool = True) -> socket.socket:
        """A connection to the webhook."""
        plain = socket.create_connection(("127.0.0.1", self.port), 30)
        if not (handshake and self.tls):
            return plain
        return self.tls.wrap_socket(plain, server_hostname="127.0.0.1")

    def send(self, body: bytes, timeout: str = "10s") -> tuple[int, bytes]:
        """One review on a connection of its own: status and body. 0 where there is none."""
        try:
            with self.connect() as one:
                one.sendall(_head(len(body), timeout) + body)
                answer = b"".join(iter(lambda: one.recv(65536), b""))
        except OSError:
            return 0, b""
        head, _, rest = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]) if head else 0, rest


def _head(size: int, timeout: str = "10s") -> bytes:
    return (
        f"POST /mutate?timeout={timeout} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {size}\r\n\r\n"
    ).encode()


def encoded(value: object) -> bytes:
    """As Go writes it: uid first, no blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _together(work: Callable[[int], object], count: int, at_once: int) -> None:
    left = iter(range(count))
    lock = threading.Lock()

    def run() -> None:
        while True:
            with lock:
                number = next(left, None)
            if number is None:
                return
            work(number)

    threads = [threading.Thread(target=run) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# Vectors: each takes a server.


def tolerations(server: Server) -> None:
    """500 pods of 63 KB with 16,000 empty tolerations."""

    def one(number: int) -> None:
        server.send(encoded(review(pod("app:1", spec={"tolerations": [{}] * 16_000}, name=f"a{number}"))))

    _together(one, 500, 4)


def some_tolerations(server: Server) -> None:
    """1,000 pods of 30 KB with 8,000 empty tolerations."""

    def one(number: int) -> None:
        server.send(encoded(review(pod("app:1", spec={"tolerations": [{}] * 8_000}, name=f"a{number}"))))

    _together(one, 1_000, 4)


def long_images(server: Server) -> None:
    """60 pods with an image string of 2.5 MB."""

    def one(number: int) -> None:
        server.send(encoded(review(pod(f"{number}{'X' * 2_500_000}"))))

    _together(one, 60, 4)


def invented(server: Server) -> None:
    """24 pods of 250 images, each with 1,024 architectures that nobody makes."""
    for number in range(24):
        images = [f"odd.example/odd{number}-{image}:1" for image in range(250)]
        server.send(encoded(review(pod(*images), namespace=f"n{number}")), "30s")


def large_bodies(server: Server) -> None:
    """60 bodies of 4 MiB, 15 at once, of values as small as JSON has."""
    fillings = ("[[[[[[[[]]]]]]]],", "{},", '{"":{"":0}},', '"é😀",')
    bodies = []
    for filling in fillings:
        inner = "[" + (filling * (4_100_000 // len(filling.encode())))[:-1] + "]"
        text = encoded(review(pod("app:1", spec={"tolerations": "HERE"}))).replace(b'"HERE"', inner.encode())
        bodies.append(text[: 4 * MIB] if len(text) > 4 * MIB else text)
    _together(lambda number: server.send(bodies[number % len(bodies)]), 60, 15)


def real_large_bodies(server: Server) -> None:
    """60 pods of 4 MiB, 15 at once, most of it environment."""
    value = pod("app:1")
    value["spec"]["containers"][0]["env"] = [
        {"name": f"V{number}", "value": "x" * 60} for number in range(48_000)
    ]
    body = encoded(review(value))[: 4 * MIB]
    _together(lambda _: server.send(body), 60, 15)


def handshakes(server: Server) -> None:
    """6,000 connections that do not finish their TLS handshake."""
    hello = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        hello.wrap_bio(into, out, server_hostname="x").do_handshake()
    first = out.read()
    open_ones = []
    for _ in range(6_000):
        with contextlib.suppress(OSError):
            one = server.connect(handshake=False)
            one.sendall(first)
            open_ones.append(one)
    time.sleep(2)
    for one in open_ones:
        one.close()


def idle(server: Server) -> None:
    """2,048 connections that say nothing after their handshake, then one good request."""
    open_ones = []
    for _ in range(2_048):
        with contextlib.suppress(OSError):
            open_ones.append(server.connect())
    time.sleep(1)
    for one in open_ones:
        one.close()


def slow_bodies(server: Server) -> None:
    """2,048 connections that send 60 KB of a body of 4 MiB and stop."""
    open_ones = []
    for _ in range(2_048):
        with contextlib.suppress(OSError):
            one = server.connect()
            one.sendall(_head(4 * MIB) + b" " * 60_000)
            open_ones.append(one)
    time.sleep(2)
    for one in open_ones:
        one.close()


def long_names(server: Server) -> None:
    """60 pods whose name has 3 MB."""
    _together(lambda number: server.send(encoded(review(pod(name=f"{number}" + "n" * 3_000_000)))), 60, 4)


def half_body(server: Server) -> None:
    """200 bodies that end in the middle."""

    def one(_: int) -> None:
        with contextlib.suppress(OSError), server.connect() as plain:
            plain.sendall(_head(100_000) + b'{"apiVersion":"admission.k8s.io/v1",')

    _together(one, 200, 4)


VECTORS = (
    tolerations,
    some_tolerations,
    long_images,
    invented,
    large_bodies,
    real_large_bodies,
    handshakes,
    idle,
    slow_bodies,
    long_names,
    half_body,
)


@contextlib.contextmanager
def watched(server: Server, body: bytes) -> Iterator[list[tuple[int, float]]]:
    """Status and seconds of a review that is sent ten times a second meanwhile."""
    seen: list[tuple[int, float]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            started = time.monotonic()
            status, _ = server.send(body)
            seen.append((status, time.monotonic() - started))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        done.set()
        watching.join()


def measure_vectors(command: list[str], words: tuple[str, ...], only: str) -> None:
    """Prints a row for each vector."""
    usual = encoded(review(pod("team/web:1", "team/side:1")))
    print(
        "| vector | before MiB | most MiB | after MiB | good pod p50 ms | longest ms | not 200 |\n"
        + "| --- " * 7
        + "|"
    )
    for vector in VECTORS:
        if only not in vector.__name__:
            continue
        with Registry() as registry, tempfile.TemporaryDirectory() as folder:
            server = Server(command, Path(folder), "--mirror", f"*={registry.url}", *words)
            try:
                server.send(usual)
                before = server.status("VmRSS")
                with watched(server, usual) as seen:
                    vector(server)
                times = sorted(seconds for _, seconds in seen)
                failed = sum(status != 200 for status, _ in seen)
                row = (
                    vector.__name__,
                    f"{before:.0f}",
                    f"{server.status('VmHWM'):.0f}",
                    f"{server.status('VmRSS'):.0f}",
                    f"{times[len(times) // 2] * 1000:.0f}" if times else "-",
                    f"{times[-1] * 1000:.0f}" if times else "-",
                    f"{failed} of {len(times)}",
                )
                print("| " + " | ".join(row) + " |", flush=True)
            finally:
                server.close()


def measure_growth(command: list[str], words: tuple[str, ...], count: int, at_once: int) -> None:
    """Prints what is resident after some numbers of reviews with a new image each."""
    print(
        "| reviews | resident MiB | most MiB | cache file MiB | reviews/s |\n" + "| --- " * 5 + "|",
        flush=True,
    )
    with Registry() as registry, tempfile.TemporaryDirectory() as folder:
        server = Server(command, Path(folder), "--mirror", f"*={registry.url}", *words, tls=False)
        steps = sorted({*(step for step in STEPS if step < count), count})
        try:
            asyncio.run(_reviews(server, Path(folder), steps, at_once))
        finally:
            server.close()


async def _reviews(server: Server, folder: Path, steps: list[int], at_once: int) -> None:
    host, at = "127.0.0.1", 0
    template = encoded(review(pod("IMAGE"), namespace="NAMESPACE"))
    started = time.monotonic()
    for step in steps:
        numbers = iter(range(at, step))

        async def client(numbers: Iterator[int] = numbers) -> None:
            reader, writer = await asyncio.open_connection(host, server.port)
            for sent, number in enumerate(numbers, 1):
                body = template.replace(b"IMAGE", b"r.example/team/app%d:%d" % (number % 5000, number))
                body = body.replace(b"NAMESPACE", b"n%d" % (number % 16))
                writer.write(_head(len(body)).replace(b"Connection: close\r\n", b"") + body)
                head = await reader.readuntil(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(head.decode())
                size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                await reader.readexactly(size)
                if sent % 900 == 0:
                    writer.close()
                    reader, writer = await asyncio.open_connection(host, server.port)
            writer.close()

        await asyncio.gather(*(client() for _ in range(at_once)))
        at = step
        shown(server, folder, step, time.monotonic() - started)


def shown(server: Server, folder: Path, step: int, seconds: float) -> None:
    """Prints a row of the growth."""
    disk = sum(file.stat().st_size for file in folder.glob("lookups.sqlite*"))
    cells = f"{server.status('VmRSS'):.1f} | {server.status('VmHWM'):.1f} | {disk / MIB:.1f}"
    print(f"| {step} | {cells} | {step / seconds:.0f} |", flush=True)


def main() -> None:
    """Measures, and prints tables in Markdown."""
    parser = argparse.ArgumentParser(description="Measure the memory of the webhook.")
    parser.add_argument("--reviews", type=int, default=0, help="measure growth over so many reviews instead")
    parser.add_argument("--at-once", type=int, default=16, help="reviews under way, for growth")
    parser.add_argument("--serve", default="", help="the server's command")
    parser.add_argument("--limit", default="512Mi", help="for --memory-limit")
    parser.add_argument("--only", default="", help="vectors whose name has this")
    parser.add_argument("--registry", action="store_true", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.registry:
        serve_registry()
        return
    command = shlex.split(flags.serve) or [str(Path(sys.executable).parent / "archfit"), "serve"]
    words = ("--memory-limit", flags.limit) if flags.limit else ()
    if flags.reviews:
        measure_growth(command, words, flags.reviews, flags.at_once)
    else:
        measure_vectors(command, words, flags.only)


if __name__ == "__main__":
    main()
