"""What a first lookup costs: cold runs, and `archfit inspect` beside crane and regctl.

    make bench ARGS="--only cold"

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

import contextlib
import os
import socket
import sys
import time
from statistics import median
from typing import TYPE_CHECKING

from inputs import ROOT
from pairs import Command, compared, timed

sys.path.insert(0, str(ROOT / "fixtures"))

from fake_registry import Answer, Asked, FakeRegistry
from tls_files import tls_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from measured import Table
    from pairs import Run
    from rows import Bench

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


def measure(bench: Bench, table: Table, runs: int) -> None:
    """All rows, `runs` of each."""
    # The registries' threads share one interpreter, as those of a real server do not.
    sys.setswitchinterval(0.0005)
    inspected(bench, table, runs, bearer=False)
    inspected(bench, table, runs, bearer=True)
    for hosts in (4, 1):
        cold(bench, table, runs, hosts=hosts, tls=True)
        cold(bench, table, runs, hosts=hosts, tls=False)
    quoted(bench, table, runs, 13, 13, "skaffold render with node affinity", SKAFFOLD_SECONDS, 0.09)
    quoted(bench, table, runs, 80, 200, "k8smultiarcher", MULTIARCHER_SECONDS, 0.04)


def stream(bench: Bench, images: Sequence[str], pods: int) -> str:
    """The name of a stream of pods that use the images in turn."""
    name = f"{len(images)}-{pods}"
    bench.inputs.path(name).write_text(
        "---\n".join(
            f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
            f"spec: {{containers: [{{name: a, image: '{images[number % len(images)]}'}}]}}\n"
            for number in range(pods)
        ),
        encoding="utf-8",
    )
    return name


def inspected(bench: Bench, table: Table, runs: int, *, bearer: bool) -> None:
    """The ratios to crane and regctl for one index."""
    with Distant() as distant:
        distant.index("team/app", "1", PLATFORMS)
        if bearer:
            distant.bearer()
        image = f"{distant.host}/team/app:1"
        ours = bench.archfit("", "inspect", f"--allow-host={distant.host}", image)
        crane = bench.tool("crane", "manifest", image)
        regctl = bench.tool("regctl", "manifest", "get", "--format", "raw-body", image)
        setting = "TLS, bearer token, realm remembered" if bearer else "TLS"
        timed(ours)  # the realm
        for name, peer, limit in (("crane manifest", crane, 0.9), ("regctl manifest get", regctl, 1.15)):
            pair = compared(ours, peer, runs)
            cells = (
                f"{_ms(one)}, {_requests(distant, command)} requests"
                for one, command in ((pair.first, ours), (pair.second, peer))
            )
            bound = table.bound(pair.ratio, limit)
            table.row(f"inspect / {name}, {setting}", f"{pair.ratio:.2f}", bound, *cells, "")


def _requests(distant: Distant, command: Command) -> int:
    distant.forget()
    timed(command)
    return distant.count()


def cold(bench: Bench, table: Table, runs: int, *, hosts: int, tls: bool) -> None:
    """40 images on some hosts beside a warm run and the critical path. tls: False leaves its two round trips alone."""
    with contextlib.ExitStack() as open_ones:
        distants = [open_ones.enter_context(Distant(tls=tls)) for _ in range(hosts)]
        names = [f"h{number % hosts}.example/a{number}:1" for number in range(40)]
        for number in range(40):
            distants[number % hosts].index(f"a{number}", "1", PLATFORMS)
        mirrors = [f"--mirror=h{number}.example={one.url}" for number, one in enumerate(distants)]
        read = stream(bench, names, 40)
        ours = bench.archfit(read, "--no-cache", *mirrors)
        kept = bench.archfit(read, *mirrors)
        timed(kept)
        pairs = [(timed(ours), timed(kept)) for _ in range(runs)]
        path = (2 + -(-40 // hosts // IN_FLIGHT)) * ROUND_TRIP_SECONDS
        ratio = median(one.seconds / (warm.seconds + path) for one, warm in pairs)
        seconds, warm = (_ms(_middle([pair[side] for pair in pairs])) for side in (0, 1))
        where = f"{hosts} hosts" if hosts > 1 else "one host"
        setting = "TLS" if tls else "only its delays"
        table.row(
            f"cold, 40 images on {where}, {setting} / warm run + critical path",
            *(f"{ratio:.2f}", table.bound(ratio, 1.3), seconds, f"{warm} + {path * 1000:.0f} ms", ""),
        )


def quoted(
    bench: Bench, table: Table, runs: int, images: int, pods: int, peer: str, seconds: float, limit: float
) -> None:
    """A cold run over plain HTTP beside another tool's time, which was measured elsewhere."""
    with Distant(tls=False, far=False) as distant:
        for number in range(images):
            distant.index(f"a{number}", "1", PLATFORMS)
        read = stream(bench, [f"h.example/a{number}:1" for number in range(images)], pods)
        ours = bench.archfit(read, "--no-cache", f"--mirror=h.example={distant.url}")
        middle = compared(ours, bench.empty, runs).first
        ratio = middle.seconds / seconds
        table.row(
            f"cold, {images} images in {pods} pods / {peer}",
            *(f"{ratio:.3f}", table.bound(ratio, limit), f"{_ms(middle)}, {middle.peak_mib:.0f} MiB"),
            *(f"{seconds * 1000:.0f} ms, quoted", ""),
        )


def _middle(runs: Sequence[Run]) -> Run:
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def _ms(run: Run) -> str:
    return f"{run.seconds * 1000:.0f} ms"
