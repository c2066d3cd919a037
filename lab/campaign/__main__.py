"""`make -C lab campaign COUNT=600 SEED=1`: so many scripts; a table; exit 1 if an invariant is broken.

    python -m campaign [--through transform webhook] [--count N] [--seed N] [--only NUMBER]

    transform   scripts of faults around the transformer (`campaign.scripts`), by several workers at once
    webhook     storms around the server (`campaign.webhook.storms`), one at a time, so that its times mean something

There is a storm for each 30 scripts. .campaign/SEED-NUMBER.json, or storm-SEED-NUMBER.json, is what broke an
invariant, with what was said; `--through ENTRY --seed SEED --only NUMBER` plays it again.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import machine
from campaign.scripts import SORTS
from campaign.webhook.storms import LATE, played, storm
from campaign.workers import outcomes

FOLDER = machine.ROOT / ".campaign"
SCRIPTS_A_STORM = 30  # which take as long on two processors


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab campaign", description="Puts archfit under fire.")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    parser.add_argument("--through", nargs="+", choices=list(DOORS), default=list(DOORS))
    given = parser.parse_args()
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
            told = {"broken": outcome.broken, "said": outcome.words, "script": played_script.plain()}
            kept = _kept(f"{given.seed}-{outcome.number}", told)
            print(f"{outcome.sort}: {'; '.join(outcome.broken)[:600]}\n    {kept}", flush=True)
    for sort, row in {**by_sort, "faults sent": sent}.items():
        print(f"{sort}: {', '.join(f'{name} {count:,}' for name, count in sorted(row.items()))}")
    scripts, broken, kills = (
        sum(row[name] for row in by_sort.values()) for name in ("scripts", "broken", "kills")
    )
    print(
        f"seed {given.seed}: {scripts:,} scripts, {sum(sent.values()):,} faults, {kills:,} kills in "
        f"{time.monotonic() - started:.0f} s; {broken} broken invariants"
    )
    return int(bool(broken) or not scripts)


def webhook(given: argparse.Namespace) -> int:
    started, storms, wrong, peak = time.monotonic(), 0, 0, 0.0
    for number in given.only or range(max(1, given.count // SCRIPTS_A_STORM)):
        made = storm(given.seed, number)
        outcome = played(made)
        if outcome.broken and all(text.startswith(LATE) for text in outcome.broken):
            outcome = played(made)  # a machine may be busy, but not twice
        storms, wrong, peak = storms + 1, wrong + bool(outcome.broken), max(peak, outcome.peak)
        what = [*(f"{name} {size:,}" for name, size, _ in made.vectors), *(name for _, name in made.troubles)]
        print(f"storm {number}: {', '.join(what)}: {outcome}", flush=True)
        if outcome.broken:
            told = {"broken": outcome.broken, "script": made.plain()}
            print(f"    {_kept(f'storm-{given.seed}-{number}', told)}", flush=True)
    took = time.monotonic() - started
    print(
        f"seed {given.seed}: {storms:,} storms in {took:.0f} s, peak {peak:,.0f} MiB; {wrong} broke an invariant"
    )
    return int(bool(wrong) or not storms)


def _kept(name: str, told: dict[str, Any]) -> Path:
    FOLDER.mkdir(exist_ok=True)
    path: Path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return path


DOORS = {"transform": transform, "webhook": webhook}


if __name__ == "__main__":
    sys.exit(main())
