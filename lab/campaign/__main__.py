"""`make campaign SECONDS=600 SEED=1`: scripts until the time is over; a table; exit 1 if an invariant is broken.

    python -m campaign [--through transform webhook] [--seconds N] [--scripts N] [--seed N] [--workers N]
                       [--only NUMBER] [--folder DIR]

    transform   scripts of faults around the transformer (`campaign.scripts`), by several workers at once
    webhook     storms around the server (`campaign.webhook.storms`), one at a time, so that its times mean something

Each entry point has an equal part of the time. DIR/SEED-NUMBER.json, or DIR/storm-SEED-NUMBER.json, is what broke an
invariant, with what was said; `--through ENTRY --seed SEED --only NUMBER` plays it again.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import machine
from campaign.playing import Outcome
from campaign.scripts import SORTS, Script
from campaign.webhook.storms import LATE, Storm, played, storm
from campaign.webhook.storms import Outcome as StormOutcome
from campaign.workers import outcomes

_EVERY = 250


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab campaign", description="Puts archfit under fire.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--scripts", type=int, default=1 << 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=machine.ROOT / ".campaign")
    parser.add_argument("--through", nargs="+", choices=list(DOORS), default=list(DOORS))
    given = parser.parse_args()
    given.seconds /= len(given.through)
    return max([DOORS[door](given) for door in given.through])


def transform(given: argparse.Namespace) -> int:
    started = time.monotonic()
    by_sort: dict[str, Counter[str]] = {sort: Counter() for sort in SORTS}
    sent: Counter[str] = Counter()
    for played_script, outcome in outcomes(given):
        row = by_sort[outcome.sort]
        row.update(outcome.ends)
        row.update({"scripts": 1, "kills": outcome.kills, "late once": outcome.late})
        sent.update(outcome.sent)
        if outcome.broken:
            row["broken"] += 1
            written = _write(given, played_script, outcome)
            print(
                f"script {outcome.number} ({outcome.sort}): {'; '.join(outcome.broken)[:600]}\n    {written}",
                flush=True,
            )
        if sum(row["scripts"] for row in by_sort.values()) % _EVERY == 0:
            print(table(by_sort, sent), flush=True)
    print(table(by_sort, sent))
    scripts, broken, kills = (
        sum(row[name] for row in by_sort.values()) for name in ("scripts", "broken", "kills")
    )
    print(
        f"seed {given.seed}: {scripts:,} scripts, {sum(sent.values()):,} faults, {kills:,} kills in "
        f"{time.monotonic() - started:.0f} s; {broken} broken invariants"
    )
    return int(bool(broken) or not scripts)


COLUMNS = ("scripts", "exit 0, true output", "exit 1, one clear error", "killed", "late once", "broken")


def table(by_sort: dict[str, Counter[str]], sent: Counter[str]) -> str:
    rows: list[tuple[str, ...]] = [("", *COLUMNS)]
    rows += [(sort, *(f"{row[name]:,}" for name in COLUMNS)) for sort, row in by_sort.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS) + 1)]
    lines = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]
    faults = ", ".join(f"{name} {count:,}" for name, count in sorted(sent.items()))
    return "\n".join([*lines, "", f"faults sent: {faults or 'none'}"])


def webhook(given: argparse.Namespace) -> int:
    started = time.monotonic()
    seen = StormsSeen()
    for number in given.only or range(given.scripts):
        if time.monotonic() - started > given.seconds and not given.only:
            break
        made = storm(given.seed, number)
        outcome = played(made)
        late = bool(outcome.broken) and all(text.startswith(LATE) for text in outcome.broken)
        if late:
            outcome = played(made)  # a machine may be busy, but not twice
        print(seen.add(made, outcome, late=late), flush=True)
        if outcome.broken:
            told = {"broken": outcome.broken, "vectors": outcome.vectors, "script": made.plain()}
            print(f"    {_kept(given, f'storm-{given.seed}-{number}', told)}", flush=True)
    print(f"{seen.table()}\nseed {given.seed}: {seen.summary()} in {time.monotonic() - started:.0f} s")
    return int(bool(seen.broken) or not seen.storms)


def _write(given: argparse.Namespace, played_script: Script, outcome: Outcome) -> Path:
    told = {"broken": outcome.broken, "said": outcome.words, "script": played_script.plain()}
    return _kept(given, f"{given.seed}-{outcome.number}", told)


def _kept(given: argparse.Namespace, name: str, told: dict[str, Any]) -> Path:
    given.folder.mkdir(exist_ok=True)
    path: Path = given.folder / f"{name}.json"
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return path


class StormsSeen:
    def __init__(self) -> None:
        self.storms = self.broken = self.late = 0
        self._peak = self._after = 0.0
        self._judged: Counter[str] = Counter()
        self._vectors: Counter[str] = Counter()
        self._seconds: list[float] = []
        self._refusals = 0

    def add(self, script: Storm, outcome: StormOutcome, *, late: bool) -> str:
        """One more. late: it was played twice. The line about it, and what it broke."""
        tally = outcome.tally
        self.storms += 1
        self.broken += bool(outcome.broken)
        self.late += late
        self._peak, self._after = max(self._peak, outcome.peak), max(self._after, outcome.after)
        self._judged.update(tally.judged)
        self._judged.update(
            {"refused": tally.refused, "without an answer": tally.lost, "too late": tally.late()}
        )
        self._vectors.update(name for name, _, _ in script.vectors)
        self._vectors.update(what for _, what in script.troubles)
        self._seconds += [one for kind in ("known", "new") for one in tally.seconds.get(kind, ())]
        self._refusals += outcome.seen
        what = [f"{name} {size:,}" for name, size, _ in script.vectors]
        what += [name for _, name in script.troubles]
        what += [f"disk {script.disk}"] * bool(script.disk)
        what += ["a registry that lies"] * bool(script.false)
        line = (
            f"{outcome.number}: {', '.join(what)}: peak {outcome.peak:,.0f} MiB, after {outcome.after:,.0f}; "
            f"{tally.asked} good pods, p50 {1000 * tally.median('known', 'new'):,.0f} ms; "
            f"503 {outcome.seen}, counted {outcome.counted}; {outcome.processor:.0%} of the processor, "
            f"load {os.getloadavg()[0]:.1f}"
        )
        return "\n    ".join([line, *(text[:600] for text in outcome.broken)])

    def table(self) -> str:
        happened = ", ".join(f"{name} {count:,}" for name, count in sorted(self._vectors.items()))
        judged = ", ".join(f"{name} {count:,}" for name, count in sorted(self._judged.items()) if count)
        return f"what happened: {happened}\ngood pods: {judged}"

    def summary(self) -> str:
        half, most = (statistics.median(self._seconds), max(self._seconds)) if self._seconds else (0.0, 0.0)
        return (
            f"{self.storms:,} storms, peak {self._peak:,.0f} MiB, at most {self._after:,.0f} MiB afterwards; a good "
            f"pod took {1000 * half:,.0f} ms at the median, {1000 * most:,.0f} at most; {self._refusals:,} times 503; "
            f"late once {self.late}; {self.broken} with broken invariants"
        )


DOORS = {"transform": transform, "webhook": webhook}


if __name__ == "__main__":
    sys.exit(main())
