"""`make campaign SECONDS=600 SEED=1`: scripts until the time is over; a table; exit 1 if an invariant is broken.

    python -m campaign [--seconds N] [--scripts N] [--seed N] [--workers N] [--only NUMBER] [--folder DIR]

DIR/SEED-NUMBER.json is a script that broke an invariant, with what was said; `--seed SEED --only NUMBER` plays it
again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import machine
from campaign.scripts import SORTS
from campaign.workers import outcomes

if TYPE_CHECKING:
    from campaign.playing import Outcome
    from campaign.scripts import Script


_EVERY = 250


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="make campaign", description="Puts archfit under fire.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--scripts", type=int, default=1 << 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    parser.add_argument("--folder", type=Path, default=machine.ROOT / ".campaign")
    given = parser.parse_args()
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
    """What came of the scripts, and how often each fault was sent."""
    rows = [("", *COLUMNS)]
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


def _write(given: argparse.Namespace, played_script: Script, outcome: Outcome) -> Path:
    given.folder.mkdir(exist_ok=True)
    path: Path = given.folder / f"{given.seed}-{outcome.number}.json"
    told = {"broken": outcome.broken, "said": outcome.words, "script": played_script.plain()}
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
