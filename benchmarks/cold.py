"""What a first lookup costs: cold runs, and `archfit inspect` beside crane and regctl. `python benchmarks/cold.py`

    distant registry      each request is answered after 50 ms; connections are real TLS, or plain
    a connection          2 round trips more: TCP's, before which nothing counts that the client has sent, and that of
                          TLS 1.3. Loopback has no delays, so the server waits; the client may work meanwhile
    processors            the registries run on the first processor, what is measured on the second
    inspect               pairs in turn, ratios pair by pair
    cold, 40 images       beside a warm run and the critical path: 3 round trips, and 4 on one host, which gets at most
                          32 requests at once
    13 and 80 images      beside what skaffold and k8smultiarcher need elsewhere: quoted, not run here. The setting
                          differs: those ask for one image after the other, or for one pod at a time

The programs come from tests/support/install_tools.py (crane, regctl). A median from a busy machine is an upper bound.
Nothing leaves loopback.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from environment import clean_environment
from inputs import ROOT
from pairs import Command, compared, timed

sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "fixtures"))

from fake_registry import Answer, Asked, FakeRegistry
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pairs import Run

TOOLS = ROOT / ".tools" / "bin"
ROUND_TRIP_SECONDS = 0.05
PLATFORMS = ("linux/amd64", "linux/arm64")
SKAFFOLD_SECONDS = 1.497
MULTIARCHER_SECONDS = 8.49


PROCESSORS = sorted(os.sched_getaffinity(0))[:2] if hasattr(os, "sched_getaffinity") else []
IN_FLIGHT = 32  # requests to one server at once


@contextlib.contextmanager
def first_processor() -> Iterator[None]:
    """Threads that start here run on the first processor; afterwards this one, and its children, on the second."""
    if len(PROCESSORS) < 2:
        yield
        return
    os.sched_setaffinity(0, PROCESSORS[:1])
    try:
        yield
    finally:
        os.sched_setaffinity(0, PROCESSORS[1:])


class Distant(FakeRegistry):
    """A registry 50 ms away. tls: connections are TLS. far: they cost two round trips more, as TLS does."""

    def __init__(self, *, tls: bool = True, far: bool = True) -> None:
        self._far = far
        with first_processor():
            super().__init__(tls_files().context() if tls else None)

    def accepted(self, connection: socket.socket) -> None:
        if not self._far:
            return
        reached = time.monotonic() + ROUND_TRIP_SECONDS  # when the client would know that it is connected
        connection.recv(1, socket.MSG_PEEK)
        time.sleep(max(0.0, reached - time.monotonic()) + ROUND_TRIP_SECONDS)

    def answer(self, asked: Asked) -> Answer:
        time.sleep(ROUND_TRIP_SECONDS)
        return super().answer(asked)

    def stored(self, asked: Asked) -> Answer:
        return Answer() if asked.kind == "ping" else super().stored(asked)


class Bench:
    """archfit in a clean environment, whose home and cache are in folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = clean_environment(folder / "venv") / "archfit"
        ca = str(tls_files().ca)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "SSL_CERT_FILE": ca}
        self.empty = Command([str(self.program.with_name("python")), "-I", "-c", "pass"], self.environ)

    def archfit(self, *words: str, stdin: Path | None = None) -> Command:
        return Command([str(self.program), *words], self.environ, stdin)

    def tool(self, name: str, *words: str) -> Command:
        return Command([str(TOOLS / name), *words], self.environ)

    def stream(self, images: Sequence[str], pods: int) -> Path:
        """A stream of pods that use the images in turn."""
        path = self.folder / f"{len(images)}-{pods}.yaml"
        path.write_text(
            "---\n".join(
                f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
                f"spec: {{containers: [{{name: a, image: '{images[number % len(images)]}'}}]}}\n"
                for number in range(pods)
            )
        )
        return path


def inspected(bench: Bench, runs: int, *, bearer: bool) -> None:
    """Prints the ratios to crane and regctl for one index."""
    with Distant() as distant:
        distant.index("team/app", "1", PLATFORMS)
        if bearer:
            distant.bearer()
        image = f"{distant.host}/team/app:1"
        ours = bench.archfit("inspect", "--raw", f"--allow-host={distant.host}", image)
        crane = bench.tool("crane", "manifest", image)
        regctl = bench.tool("regctl", "manifest", "get", "--format", "raw-body", image)
        setting = "TLS, bearer token, realm remembered" if bearer else "TLS"
        timed(ours)  # the realm
        for name, peer, limit in (("crane manifest", crane, 0.9), ("regctl manifest get", regctl, 1.15)):
            pair = compared(ours, peer, runs)
            asked = [_requests(distant, command) for command in (ours, peer)]
            goal = f"≤ {limit:g}{'' if pair.ratio <= limit else ' (missed)'}"
            print(
                f"| inspect / {name}, {setting} | {pair.ratio:.2f} | {goal} | {_ms(pair.first)} | {_ms(pair.second)} | "
                f"{asked[0]} / {asked[1]} requests |",
                flush=True,
            )


def _requests(distant: Distant, command: Command) -> int:
    distant.forget()
    timed(command)
    return distant.count()


def cold(bench: Bench, runs: int, *, hosts: int, tls: bool) -> None:
    """Prints 40 images on some hosts beside a warm run and the critical path.

    tls: real; without it, only its two round trips are left.
    """
    distants = [Distant(tls=tls) for _ in range(hosts)]
    try:
        names = [f"h{number % hosts}.example/a{number}:1" for number in range(40)]
        for number in range(40):
            distants[number % hosts].index(f"a{number}", "1", PLATFORMS)
        mirrors = [f"--mirror=h{number}.example={one.url}" for number, one in enumerate(distants)]
        stream = bench.stream(names, 40)
        ours = bench.archfit("--no-cache", *mirrors, stdin=stream)
        kept = bench.archfit(*mirrors, stdin=stream)
        timed(kept)
        pairs = [(timed(ours), timed(kept)) for _ in range(runs)]
        path = (2 + -(-40 // hosts // IN_FLIGHT)) * ROUND_TRIP_SECONDS
        ratio = median(one.seconds / (warm.seconds + path) for one, warm in pairs)
        seconds, warm = (_ms(_middle([pair[side] for pair in pairs])) for side in (0, 1))
        where = f"{hosts} hosts" if hosts > 1 else "one host"
        setting = "TLS" if tls else "only its delays"
        print(
            f"| cold, 40 images on {where}, {setting} / warm run + critical path | {ratio:.2f} | "
            f"≤ 1.25{'' if ratio <= 1.25 else ' (missed)'} | {seconds} | {warm} + {path * 1000:.0f} ms | |",
            flush=True,
        )
    finally:
        for one in distants:
            one.close()


def quoted(bench: Bench, runs: int, images: int, pods: int, peer: str, seconds: float, limit: float) -> None:
    """Prints a cold run over plain HTTP beside another tool's time, which was measured elsewhere."""
    with Distant(tls=False, far=False) as distant:
        for number in range(images):
            distant.index(f"a{number}", "1", PLATFORMS)
        stream = bench.stream([f"h.example/a{number}:1" for number in range(images)], pods)
        ours = bench.archfit("--no-cache", f"--mirror=h.example={distant.url}", stdin=stream)
        middle = compared(
            ours, bench.empty, runs
        ).first  # a small process starts it, so that its memory is its own
        ratio = middle.seconds / seconds
        print(
            f"| cold, {images} images in {pods} pods / {peer} | {ratio:.3f} | ≤ {limit:g}"
            f"{'' if ratio <= limit else ' (missed)'} | {_ms(middle)} | {seconds * 1000:.0f} ms, quoted | "
            f"peak {middle.peak_mib:.1f} MiB |",
            flush=True,
        )


def _middle(runs: Sequence[Run]) -> Run:
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def _ms(run: Run) -> str:
    return f"{run.seconds * 1000:.0f} ms"


def main() -> None:
    """Makes the environment, and measures."""
    parser = argparse.ArgumentParser(prog="benchmarks/cold.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="pairs of each row")
    runs = parser.parse_args().runs
    sys.setswitchinterval(
        0.0005
    )  # the registries' threads share one interpreter, as those of a real server do not
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {runs} runs of each\n")
    print("| what | ratio | goal | archfit | beside | |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        inspected(bench, runs, bearer=False)
        inspected(bench, runs, bearer=True)
        for hosts in (4, 1):
            cold(bench, runs, hosts=hosts, tls=True)
            cold(bench, runs, hosts=hosts, tls=False)
        quoted(bench, runs, 13, 13, "skaffold render with node affinity", SKAFFOLD_SECONDS, 0.09)
        quoted(bench, runs, 80, 200, "k8smultiarcher", MULTIARCHER_SECONDS, 0.04)


if __name__ == "__main__":
    main()
