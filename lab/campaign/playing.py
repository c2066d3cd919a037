"""Plays scripts: one process with one thread, its own scripted registry, its own Redis where a script wants one."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import machine
from campaign import invariants
from campaign.images import Stream, streams
from campaign.invariants import Ended, Expected
from campaign.processes import Running, Start, adopt, orphans, wait
from campaign.scripts import Round, Script, orders
from campaign.trouble import Trouble
from tls_files import tls_files

_WELL_SECONDS = 20.0
_HELPERS = {
    "good": 'echo "{\\"Username\\":\\"me\\",\\"Secret\\":\\"$WORD\\"}"',
    "hangs": "tail -f /dev/null &\nwait",
    "noise": 'head -c 200000 /dev/zero; echo "$WORD"; echo "$WORD" >&2; exit 3',
}


@dataclass
class Outcome:
    """What became of a script. ends: how the runs under fire ended. sent: faults that the registry really sent."""

    number: int
    sort: str
    ends: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    late: int = 0
    broken: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


class Player:
    """See the module. folder: for everything that it writes."""

    def __init__(self, seed: int, folder: Path) -> None:
        adopt()
        self._folder = folder
        self._streams = streams(seed)
        self._truths: dict[bytes, set[bytes]] = {}
        self._tls = tls_files()
        self._registry = subprocess.Popen(
            [sys.executable, "-m", "campaign.server", self._tls.certificate, self._tls.key],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert self._registry.stdout is not None
        self._ports = json.loads(self._registry.stdout.readline())
        self._redis: Trouble | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._registry.kill()
        self._registry.communicate()
        if self._redis:
            self._redis.end()

    def play(self, script: Script) -> Outcome:
        """A script that is late is played again: a machine may be busy, but not twice."""
        outcome = self._play(script)
        if outcome.broken and all("late: " in one for one in outcome.broken):
            again = self._play(script)
            again.late += 1
            return again
        return outcome

    def _play(self, script: Script) -> Outcome:
        outcome = Outcome(script.number, script.sort)
        home = self._folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        if script.sort == "redis":
            self._redis = self._redis or Trouble(self._folder)
            self._redis.do("start")
            self._redis.do("forget")
        stream = self._streams[script.stream]
        (home / "in.yaml").write_bytes(stream.text)
        truths = self._truth(stream, home)
        for number, one in enumerate(script.rounds):
            self._round(script, one, f"round {number + 1}", stream, truths, home, outcome)
        if script.sort == "redis":
            assert self._redis
            self._redis.do("start")
        well = Round(orders(script), _WELL_SECONDS)
        self._round(script, well, "a well run", stream, truths, home, outcome)
        outcome.broken += invariants.cache(home / "cache.sqlite")
        outcome.broken += invariants.kept(home, script.secrets.values())
        return outcome

    def _truth(self, stream: Stream, home: Path) -> set[bytes]:
        """What the program writes when it is told every platform and asks nobody."""
        if stream.text not in self._truths:
            made = set()
            for moved in (False, True):
                words = ["--no-cache", "--offline", *stream.overrides(moved=moved)]
                start = Start(words, _environ(home), str(home / "in.yaml"), str(home / "out"))
                process = Running(start)
                wait([process], ())
                assert process.ended
                assert process.ended.status == 0, process.ended.stderr
                made.add(process.ended.stdout)
            self._truths[stream.text] = made
        return self._truths[stream.text]

    def _round(
        self,
        script: Script,
        one: Round,
        name: str,
        stream: Stream,
        truths: set[bytes],
        home: Path,
        outcome: Outcome,
    ) -> None:
        well = name == "a well run"
        self._order(one.orders)
        environ = self._logged_in(script, home, helper="good" if well else script.helper)
        cache = self._redis.url if self._redis and script.sort == "redis" else str(home / "cache.sqlite")
        scheme, port = ("https", self._ports["tls"]) if script.secure else ("http", self._ports["plain"])
        words = [f"--mirror=x.io={scheme}://127.0.0.1:{port}", f"--cache={cache}", *one.words]
        words += [f"--timeout={int(one.deadline * 1000)}ms"]
        words += [f"--authfile={home / 'auth.json'}"] if script.login else []
        words += [f"--ca-file={self._tls.ca}"] if script.secure else []
        reports = script.number % 3 == 0 and one.processes == 1 and not one.limit and not one.caller
        report = home / "report.json"
        report.unlink(missing_ok=True)
        words += [f"--report={report}"] if reports else []
        running = []
        for number in range(one.processes):
            start = Start(
                words, environ, str(home / "in.yaml"), str(home / f"out{number}"), script.fresh, one.limit
            )
            running.append(Running(CALLERS[one.caller](start)))
        timeline: list[tuple[float, Callable[[], object]]] = [
            (seconds, partial(process.kill, signal))
            for process, (seconds, signal) in zip(running, one.kills, strict=False)
        ]
        if one.trouble:
            assert self._redis
            timeline += [(seconds, partial(self._redis.do, what)) for seconds, what in one.trouble]
        wait(running, timeline)
        own = {self._registry.pid, *([self._redis.pid] if self._redis else [])}
        expected = Expected(
            truths,
            one.deadline,
            script.secrets.values(),
            images=len(stream.names),
            statuses=(0,) if well else _STATUSES.get(one.caller, (0, 1)),
            heard=one.caller != "closed errors",
        )
        faults: list[str] = [f"a process is left behind: {line}" for line in orphans(own)]
        for number, process in enumerate(running):
            assert process.ended
            killed = number < len(one.kills)
            faults += invariants.broken(process.ended, expected, killed=killed)
            if reports:
                faults += invariants.report(report, process.ended.status)
            if not well:
                outcome.ends[_end(process.ended)] += 1
                outcome.kills += killed and process.ended.status < 0
            if well and "the cache" in process.ended.stderr:
                faults.append("the cache cannot be used any more")
            if faults:
                outcome.words.append(f"{name}: {process.ended.stderr[:2000]}")
        outcome.broken += [f"{name}: {fault}" for fault in faults]
        outcome.sent.update(self._order({}))

    def _order(self, told: dict[str, Any]) -> dict[str, int]:
        """New orders for the registry; the faults that it sent under the old ones."""
        assert self._registry.stdin is not None
        assert self._registry.stdout is not None
        self._registry.stdin.write(json.dumps(told) + "\n")
        self._registry.stdin.flush()
        sent: dict[str, int] = json.loads(self._registry.stdout.readline())["sent"]
        return sent

    def _logged_in(self, script: Script, home: Path, *, helper: str) -> dict[str, str]:
        """The credentials that the script's registry wants, in a file or with a helper; the environment.

        Neither lies in `home`, where no secret may be found afterwards.
        """
        host = f"127.0.0.1:{self._ports['tls' if script.secure else 'plain']}"
        word = script.secrets["word"]
        hidden = self._folder / "hidden"
        hidden.mkdir(exist_ok=True)
        path = home / "auth.json"
        path.unlink(missing_ok=True)
        path.symlink_to(hidden / "auth.json")
        program = hidden / "docker-credential-campaign"
        program.write_text(f"#!/bin/sh\nWORD={word}\n{_HELPERS[helper or 'good']}\n", encoding="utf-8")
        program.chmod(0o700)
        told = (
            {"credHelpers": {host: "campaign"}}
            if helper
            else {"auths": {host: {"username": "me", "password": word}}}
        )
        (hidden / "auth.json").write_text(
            json.dumps(told if script.login in {"basic", "bearer"} else {}), "utf-8"
        )
        return _environ(home, f"{hidden}:")


def _environ(home: Path, path: str = "") -> dict[str, str]:
    places = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    return {"PATH": path + machine.ENVIRON["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **places}


def _end(ended: Ended) -> str:
    if ended.status < 0:
        return "killed"
    return {0: "exit 0, true output", 1: "exit 1, one clear error"}.get(ended.status, f"exit {ended.status}")


CALLERS: dict[str, Callable[[Start], Start]] = {
    "": lambda start: start,
    "closed input": lambda start: start._replace(stdin=""),
    "closed output": lambda start: start._replace(stdout=""),
    "closed errors": lambda start: start._replace(heard=False),
    "no reader": lambda start: start._replace(reader=False, stdout=""),
    "full output": lambda start: start._replace(stdout="/dev/full"),
    "unreadable input": lambda start: start._replace(readable=False),
    "blank": lambda start: start._replace(stdin="/dev/null"),
}
_STATUSES = {
    "closed input": (1,), "closed output": (1,), "no reader": (1,), "full output": (1,),
    "unreadable input": (1,), "blank": (1,),
}  # fmt: skip


def played(seed: int, folder: Path, scripts: Iterator[Script]) -> Iterator[tuple[Script, Outcome]]:
    with Player(seed, folder) as player:
        for script in scripts:
            yield script, player.play(script)
