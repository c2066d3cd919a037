"""A script: what one piece of the campaign does, drawn from its seed and number alone.

    faults    1 to 3 runs on one cache while the registry misbehaves        the registry
    kills     SIGKILL or SIGTERM at random moments, five runs on one cache   the process
    eight     eight processes at once on one cold cache, some of them killed
    redis     the cache's server stops, hangs, fills up or comes back        the cache
    disk      no file may grow beyond a few bytes                            the disk
    streams   standard streams that are closed, full, or nobody's            the caller

Every script ends with a run against a well registry on the cache that is left.
"""

import random
from dataclasses import asdict, dataclass, field
from typing import Any

from campaign.faults import FAULTS

SORTS = {"faults": 62, "kills": 12, "eight": 6, "redis": 8, "disk": 6, "streams": 6}
KILLS = 5
TROUBLES = ("stop", "hang", "full", "forget", "read only")
CALLERS = (
    "closed input", "closed output", "closed errors", "no reader", "full output", "unreadable input", "blank",
)  # fmt: skip
_LIMITS = (1, 300, 4096, 16_384, 40_000, 100_000)
_KINDS = ("", "manifest", "manifest", "token", "blob", "head")
_HELPERS = ("", "", "", "good", "hangs", "noise")
_OPTIONS = ((), (), (), ("--cache-ttl=0s",), ("--max-stale=0s",), ("--cache-ttl=0s", "--max-stale=0s"))


@dataclass
class Round:
    """One start of the program, or eight. orders: for the registry. kills: (seconds, signal) for each process.

    trouble: (seconds, what becomes of Redis). limit: bytes that a file may have, 0 for no limit.
    """

    orders: dict[str, Any]
    deadline: float
    words: tuple[str, ...] = ()
    processes: int = 1
    kills: list[tuple[float, str]] = field(default_factory=list)
    trouble: list[tuple[float, str]] = field(default_factory=list)
    limit: int = 0
    caller: str = ""


@dataclass
class Script:
    """fresh: start the installed program; else a copy of a process that has loaded it. secure: over TLS.

    helper: "" for a file of credentials, else what a credential helper does under fire.
    """

    number: int
    sort: str
    stream: int
    fresh: bool
    secure: bool
    login: str
    helper: str
    secrets: dict[str, str]
    rounds: list[Round]

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def script(seed: int, number: int, streams: int) -> Script:
    drawn = random.Random(f"{seed} {number}")
    sort = drawn.choices(list(SORTS), list(SORTS.values()))[0]
    login = drawn.choice(["", "", "anonymous", "bearer", "bearer", "basic"])
    # Every byte of a secret is one that a header can hold; those of other bytes have tests of their own.
    secrets = {name: f"{name}-{drawn.randrange(1 << 60):x}" for name in ("word", "tok")}
    made = Script(
        number=number,
        sort=sort,
        stream=drawn.randrange(streams),
        fresh=drawn.random() < 0.1,
        secure=drawn.random() < 0.15,
        login=login,
        helper="" if sort in {"kills", "eight"} else drawn.choice(_HELPERS),
        secrets=secrets,
        rounds=[],
    )
    base = orders(made)
    made.rounds = _ROUNDS[sort](drawn, base)
    return made


def orders(made: Script) -> dict[str, Any]:
    """A well registry."""
    told: dict[str, Any] = {"token": made.secrets["tok"]}
    if made.login:
        told["login"] = "basic" if made.login == "basic" else "bearer"
    if made.login in {"bearer", "basic"}:
        told |= {"user": "me", "password": made.secrets["word"]}
    return told


def faults(drawn: random.Random, most: int) -> list[dict[str, Any]]:
    """Orders for a registry, at most so many."""
    return [
        {
            "name": drawn.choice(list(FAULTS)),
            "kind": drawn.choice(_KINDS),
            "skip": drawn.choice([0, 0, 0, 1, 2, 5]),
            "times": drawn.choice([0, 0, 1, 1, 2, 5]),
            "seed": f"{drawn.randrange(1 << 40):x}",
        }
        for _ in range(drawn.randint(1, most))
    ]


def _misbehaving(drawn: random.Random, base: dict[str, Any]) -> list[Round]:
    rounds = []
    realm = "/token"
    for _ in range(drawn.choice([1, 1, 2, 3])):
        told = {**base, "faults": faults(drawn, 3), "moves": drawn.choice([0, 0, 1, 2, 3])}
        if drawn.random() < 0.25:
            realm = drawn.choice(["/token", "/token/new"])
        told["realm"] = realm
        told["handshake"] = drawn.choice(["", "", "silent", "slow", "noise"])
        rounds.append(Round(told, drawn.choice([0.5, 1.0, 2.0]), drawn.choice(_OPTIONS)))
    return rounds


def _killed(drawn: random.Random, base: dict[str, Any]) -> list[Round]:
    return [
        Round(
            {**base, "pause": drawn.choice([0, 0.01, 0.05])},
            2.0,
            drawn.choice(_OPTIONS),
            kills=[
                (drawn.choice([0.02, 0.1, 0.3, 0.6]) * drawn.random(), drawn.choice(["KILL", "KILL", "TERM"]))
            ],
        )
        for _ in range(KILLS)
    ]


def _eight(drawn: random.Random, base: dict[str, Any]) -> list[Round]:
    wrong = faults(drawn, 1) if drawn.random() < 0.5 else []
    kills = [(drawn.random(), drawn.choice(["KILL", "TERM"])) for _ in range(drawn.choice([0, 0, 2, 4]))]
    return [Round({**base, "faults": wrong, "pause": 0.02}, 3.0, processes=8, kills=kills)]


def _redis(drawn: random.Random, base: dict[str, Any]) -> list[Round]:
    rounds = []
    for _ in range(drawn.randint(1, 3)):
        trouble = [(drawn.random() * 0.5, drawn.choice(TROUBLES)) for _ in range(drawn.randint(1, 2))]
        wrong = faults(drawn, 1) if drawn.random() < 0.3 else []
        rounds.append(
            Round(
                {**base, "faults": wrong, "pause": drawn.choice([0, 0.1])},
                2.0,
                processes=drawn.choice([1, 1, 3]),
                trouble=[*trouble, (1.0 + drawn.random(), "start")],
            )
        )
    return rounds


def _disk(drawn: random.Random, base: dict[str, Any]) -> list[Round]:
    return [Round(base, 2.0, limit=drawn.choice(_LIMITS)) for _ in range(drawn.randint(1, 3))]


def _streams(drawn: random.Random, base: dict[str, Any]) -> list[Round]:
    return [Round(base, 2.0, caller=drawn.choice(CALLERS)) for _ in range(drawn.randint(1, 3))]


_ROUNDS = {
    "faults": _misbehaving, "kills": _killed, "eight": _eight, "redis": _redis, "disk": _disk,
    "streams": _streams,
}  # fmt: skip
