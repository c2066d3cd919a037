"""`make floods`: each vector alone on a fresh server; a table, and exit 1 if an invariant is broken.

python -m campaign.webhook [--only VECTOR..] [--seconds N] [--before FOLDER]

Without --seconds each has its full size and time. Pods that come at a pace come 1, 5 and 20 times a second. FOLDER is
`transformer` of another checkout, whose archfit is put under the same fire; what it breaks is not counted.
"""

import argparse
import sys

from campaign.webhook.storms import Outcome, Storm, played
from campaign.webhook.vectors import VECTORS

HEAD = (
    *("vector", "peak MiB", "known image: p50, max ms", "new image: p50, max ms"),
    *("placed", "left: known, new", "503", "no answer, late"),
)
RATES = (1, 5, 20)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab floods", description="Puts the webhook under fire.")
    parser.add_argument("--only", nargs="*", choices=list(VECTORS), default=list(VECTORS))
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--before", metavar="FOLDER", default="")
    given = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD), flush=True)
    broken = []
    for name in given.only:
        vector = VECTORS[name]
        seconds = given.seconds or vector.seconds
        for rate in RATES if vector.paced else (0,):
            for package in ("", given.before) if given.before else ("",):
                size = int(rate * seconds) or vector.size
                least = given.seconds or 20.0
                outcome = played(Storm(0, 1, [(name, size, 0.0)], least=least, most=seconds, package=package))
                pace = f", {rate} a second" if rate else ""
                what = f"{'before: ' if package else ''}{name}{pace}: {vector.what}"
                print("| " + " | ".join([what, *_cells(outcome)]) + " |", flush=True)
                broken += [] if package else [f"{what}: {text}" for text in outcome.broken]
    print("\n".join(["", *(text[:600] for text in broken), f"{len(broken)} broken invariants"]))
    return int(bool(broken))


def _cells(outcome: Outcome) -> list[str]:
    tally = outcome.tally
    return [
        f"{outcome.peak:,.0f}",
        *(
            f"{1000 * tally.median(kind):,.0f}, {1000 * tally.longest(kind):,.0f}"
            for kind in ("known", "new")
        ),
        f"{sum(count for kind, count in tally.judged.items() if kind.startswith('right')):,}",
        f"{tally.judged['left known']}, {tally.judged['left new']}",
        str(tally.refused),
        f"{tally.lost}, {tally.late()}",
    ]


if __name__ == "__main__":
    sys.exit(main())
