"""A storm: hostile tenants and other trouble around one server, or two behind a balancer, beside good tenants.

    good tenants start ── 1 s ── each vector and each trouble at its second ── the last vector ends ── calm ── judged

What must hold, whatever the script:

    the server is up, and ready again after the storm; its memory stays below the limit
    a good pod is placed rightly, or left with a warning, at most narrowed by what is known (counted); half of the
    answers come within 300 ms
    no pod, whoever wrote it, reaches more than its images and its tenant allow
    the log has no traceback and no secret; the 503s of the server's metric are those that clients saw
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from admission_reviews import pod
from campaign.scripts import faults
from campaign.webhook import tenants
from campaign.webhook.good_tenant import API_SERVER_SECONDS, PATIENCE_SECONDS, GoodTenant, Tally
from campaign.webhook.served import GUARD_MIB, LIMIT_MIB, Served
from campaign.webhook.vectors import STUCK_LOG, SWOLLEN, VECTORS
from redis_server import RedisServer
from tcp_balancer import TcpBalancer
from tls_files import tls_files
from webhook_server import issued, until

LATE = "late: "
MEDIAN_SECONDS = 0.3
_TENANTS = 3
_CALM_SECONDS = 2.0
_RECOVERS_SECONDS = 60.0
_SAID = 3
_SWOLLEN_BYTES = 400 << 20
TROUBLES = ("rotate", "mismatch", "expire", "KILL", "TERM")
DISKS = ("", "", "", "", "no folder", "full", "nearly full")
_BLOCKS = {"full": 1, "nearly full": 200}


@dataclass
class Storm:
    """What happens. vectors: (name, size, second). troubles: (second, of TROUBLES). servers: 1 or 2. disk: of DISKS.

    false: orders for the registry that lies, see `campaign.server`; None for no such registry. least, most: seconds
    that the storm lasts at least, and a vector at most. package: the folder of another archfit, see `Served`.
    """

    number: int
    seed: int
    vectors: list[tuple[str, int, float]]
    troubles: list[tuple[float, str]] = field(default_factory=list)
    servers: int = 1
    disk: str = ""
    false: dict[str, Any] | None = None
    least: float = 8.0
    most: float = 60.0
    package: str = ""

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def storm(seed: int, number: int) -> Storm:
    drawn = random.Random(f"{seed} storm {number}")
    names = drawn.sample(list(VECTORS), drawn.choice([1, 1, 2, 3]))
    vectors = [
        (name, max(1, int(VECTORS[name].size * drawn.choice([0.1, 0.3, 1.0]))), round(drawn.random() * 4, 2))
        for name in names
    ]
    servers = drawn.choice([1, 1, 2])
    kinds = TROUBLES if servers == 2 else TROUBLES[:3]
    troubles = [(round(drawn.random() * 8, 2), drawn.choice(kinds)) for _ in range(drawn.choice([0, 1, 2]))]
    false = {"faults": faults(drawn, 3)} if drawn.random() < 0.5 else None
    most = drawn.choice([10.0, 20.0, 30.0])
    return Storm(number, seed, vectors, sorted(troubles), servers, drawn.choice(DISKS), false, most=most)


@dataclass
class Outcome:
    """What became of a storm. peak: MiB, of all processes of the largest server.

    processor: `Served.processor`, of the server that waited longest; a busy machine is no fault of the server's.

    seen, lost: 503s, and requests without an answer, of every client. counted: 503s of the metrics; None without one.
    """

    number: int
    peak: float = 0.0
    processor: float = 1.0
    tally: Tally = field(default_factory=Tally)
    seen: int = 0
    lost: int = 0
    counted: int | None = None
    vectors: dict[str, Any] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        known = 1000 * self.tally.median("known", "new")
        figures = f"p50 {known:,.0f} ms; 503 {self.seen}; {self.processor:.0%} of the processor"
        line = f"peak {self.peak:,.0f} MiB; {self.tally.asked} good pods, {figures}"
        return "\n    ".join([line, *(text[:600] for text in self.broken)])


class _Registries(NamedTuple):
    ports: dict[str, int]
    processes: list[subprocess.Popen[str]]

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


def _registries(false: dict[str, Any] | None) -> _Registries:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [["campaign.webhook.registries"]]
    if false is not None:
        words.append(["campaign.server", str(tls_files().certificate), str(tls_files().key)])
    running = [
        subprocess.Popen(
            [sys.executable, "-m", *line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )
        for line in words
    ]
    ports = json.loads(_line(running[0]))
    if false is not None:
        ports["x.io"] = json.loads(_line(running[1]))["plain"]
        assert running[1].stdin is not None
        running[1].stdin.write(json.dumps(false) + "\n")
        running[1].stdin.flush()
    return _Registries(ports, running)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


class Playing:
    """One storm, while it is played. folder: for everything that it writes."""

    def __init__(self, script: Storm, folder: Path) -> None:
        self._script = script
        self._folder = folder
        self._registries = _registries(script.false)
        self._servers: list[Served] = []
        self._over = threading.Event()
        self.outcome = Outcome(script.number)
        self._counted: list[int | None] = []
        self._restarts = 0
        self._cache: RedisServer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for server in self._servers:
            server.stop("KILL")
        self._registries.end()
        if self._cache:
            self._cache.stop()

    def _swell(self) -> None:
        """A shared cache whose entries of one image have 400 MiB."""
        self._cache = RedisServer(self._folder)
        self._cache.start()
        with self._start() as server:
            assert server.review(pod(SWOLLEN)).patch
        with self._cache.client() as client:
            names = list(client.scan_iter("archfit:*/swollen/*"))
            assert names
            for name in names:
                client.setrange(name, _SWOLLEN_BYTES, b" ")

    def play(self) -> Outcome:
        outcome, script = self.outcome, self._script
        if any(name == "swollen entry" for name, _, _ in script.vectors):
            self._swell()
        for _ in range(script.servers):
            self._servers.append(self._start())
        with contextlib.ExitStack() as open_ones:
            port = self._servers[0].port
            if len(self._servers) > 1:
                port = open_ones.enter_context(TcpBalancer([server.port for server in self._servers])).port
            lock = threading.Lock()
            good = [
                GoodTenant(
                    port,
                    f"{script.seed} {script.number} {number}",
                    outcome.tally,
                    lock,
                    lies=bool(script.false),
                    keeps=number + 1 < _TENANTS,
                )
                for number in range(_TENANTS)
            ]
            for _ in self._servers * 2:
                for wanted in tenants.known_pods():
                    good[0].create(wanted, "warm")
            outcome.tally.seconds.clear()
            watching = threading.Thread(target=self._watch, daemon=True)
            watching.start()
            for tenant in good:
                tenant.start()
            self._rage(port, time.monotonic())
            self._calm()
            for tenant in good:
                tenant.over.set()
            for tenant in good:
                tenant.join(2 * PATIENCE_SECONDS)
            self._recover(port)
            self._over.set()
            watching.join()
        outcome.seen += outcome.tally.refused
        outcome.lost += outcome.tally.lost
        counted = [one for one in self._counted if one is not None]
        outcome.counted = sum(counted) if counted else None
        outcome.broken += broken(script, outcome)
        for server in self._servers:
            if server.up and server.stop("TERM"):
                outcome.broken.append(f"exit code {server.process.returncode} after SIGTERM")
            outcome.broken += list(server.said())[:_SAID]
        return outcome

    def _rage(self, port: int, began: float) -> None:
        """Every vector and every trouble at its second, until all vectors are done."""
        script = self._script
        plan: list[tuple[float, Any]] = [(second, what) for second, what in script.troubles]
        plan += [(second, (name, size)) for name, size, second in script.vectors]
        running: dict[str, tuple[subprocess.Popen[str], float]] = {}
        for second, what in sorted(plan, key=lambda entry: entry[0]):
            time.sleep(max(0.0, began + 1 + second - time.monotonic()))
            if isinstance(what, str):
                self._trouble(what)
            else:
                name, size = what
                if name in STUCK_LOG:
                    for server in self._servers:
                        server.listens(False)
                limit = min(script.most, VECTORS[name].seconds)
                words = [
                    "-m",
                    "campaign.webhook.vectors",
                    name,
                    str(port),
                    str(size),
                    str(limit),
                    str(script.seed),
                ]
                running[name] = (
                    subprocess.Popen(
                        [sys.executable, *words],
                        stdout=subprocess.PIPE,
                        text=True,
                        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                    ),
                    limit,
                )
        time.sleep(max(0.0, began + 1 + script.least - time.monotonic()))
        for name, (process, limit) in running.items():
            try:
                text, _ = process.communicate(timeout=limit + 60)
                self.outcome.vectors[name] = told = json.loads(text)
                self.outcome.seen += told["answered"].get("503", 0)
                self.outcome.lost += told["lost"]
            except (subprocess.TimeoutExpired, ValueError):
                process.kill()
                process.communicate()
                self.outcome.broken.append(f"the vector {name} itself has failed")

    def _trouble(self, what: str) -> None:
        if what in {"KILL", "TERM"}:
            victim = self._servers.pop(0)
            self._counted.append(victim.refusals())
            status = victim.stop(what)
            if (what, status) not in {("KILL", -signal.SIGKILL), ("TERM", 0)}:
                self.outcome.broken.append(f"exit code {status} after SIG{what}")
            self.outcome.broken += list(victim.said())[:_SAID]
            self._servers.append(self._start(victim.port))
            return
        folder = self._folder / "issued"
        folder.mkdir(exist_ok=True)
        certificate, key = issued(folder, what, 0 if what == "expire" else 2)
        for server in self._servers:
            server.secret.write(certificate, tls_files().key if what == "mismatch" else key)

    def _start(self, port: int = 0) -> Served:
        self._restarts += 1
        words = [word for name, _, _ in self._script.vectors for word in VECTORS[name].words]
        if self._cache:
            words += ["--cache", self._cache.url()]
        elif self._script.disk == "no folder":
            words += ["--cache", "/proc/archfit/lookups.sqlite"]
        return Served(
            self._folder / f"server{self._restarts}",
            self._registries.ports,
            *words,
            port=port,
            file_blocks=_BLOCKS.get(self._script.disk, 0),
            package=self._script.package,
        )

    def _watch(self) -> None:
        """Ends a server that grows without end, so that the machine goes on."""
        outcome = self.outcome
        while not self._over.wait(0.1):
            for server in list(self._servers):
                rss = server.rss()
                outcome.peak = max(outcome.peak, rss)
                if rss > GUARD_MIB:
                    outcome.broken.append(f"the server took {rss:,.0f} MiB, and was ended")
                    server.stop("KILL")

    def _calm(self) -> None:
        time.sleep(_CALM_SECONDS)
        for server in self._servers:
            server.listens(True)
        if any(what in {"mismatch", "expire"} for _, what in self._script.troubles):
            for server in self._servers:
                server.secret.write(tls_files().certificate, tls_files().key)

    def _recover(self, port: int) -> None:
        """The server is ready again, and a known pod is placed."""
        outcome = self.outcome
        tally = Tally()
        after = GoodTenant(port, "0 0 99", tally, threading.Lock(), lies=False)

        def recovered() -> bool:
            tally.judged.clear()
            made = [after.create(wanted, "after") for wanted in tenants.known_pods()]
            return all(made) and not tally.judged["left after"]

        up = [server for server in self._servers if server.up]
        if len(up) < len(self._servers):
            outcome.broken.append("a server has ended by itself")
            return
        try:
            until("every server is ready", lambda: all(one.ready() == 200 for one in up), _RECOVERS_SECONDS)
            until("known pods are placed", recovered, _RECOVERS_SECONDS)
        except AssertionError as error:
            outcome.broken.append(str(error))
        after.close()
        outcome.tally.wrong += tally.wrong
        outcome.seen += tally.refused
        outcome.lost += tally.lost
        outcome.processor = min(server.processor() for server in up)
        self._counted += [server.refusals() for server in up]


def broken(script: Storm, outcome: Outcome) -> Iterator[str]:
    tally = outcome.tally
    killed = any(what in {"KILL", "TERM"} for _, what in script.troubles)
    for text in tally.wrong:
        yield f"a good tenant: {text}"
    if outcome.peak > LIMIT_MIB:
        yield f"memory: {outcome.peak:,.0f} MiB, above the limit of {LIMIT_MIB}"
    median = tally.median("known", "new") * outcome.processor
    if median > MEDIAN_SECONDS:
        yield f"{LATE}a good pod takes {1000 * median:,.0f} ms at the median, less the machine's part"
    if tally.late() and not killed:
        yield f"{LATE}{tally.late()} good pods had no answer within {API_SERVER_SECONDS:.0f} s"
    if tally.refused + tally.lost and not killed:
        yield f"{tally.refused} good pods were refused, {tally.lost} had no answer"
    surplus = (outcome.counted or 0) - outcome.seen
    if outcome.counted is not None and not killed and not 0 <= surplus <= outcome.lost:
        yield (
            f"the metric counts {outcome.counted} answers with 503, clients saw {outcome.seen} "
            f"and had no answer to {outcome.lost} requests"
        )


def played(script: Storm) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="archfit-storm-") as folder:
        playing = Playing(script, Path(folder))
        try:
            with playing:
                return playing.play()
        except AssertionError as error:  # a server that does not start
            playing.outcome.broken.append(str(error)[:600])
            return playing.outcome
