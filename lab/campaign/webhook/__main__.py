"""`make floods`: each vector alone on a fresh server, in its full size; a table, and exit 1 if an invariant is broken.

python -m campaign.webhook [--only VECTOR..]
"""

import argparse
import sys

from campaign.webhook.storms import Outcome, Storm, played
from campaign.webhook.vectors import VECTORS

HEAD = (
    *("vector", "peak MiB", "known image: p50, max ms", "new image: p50, max ms"),
    *("placed", "left: known, new", "503", "no answer, late"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab floods", description="Puts the webhook under fire.")
    parser.add_argument("--only", nargs="*", choices=list(VECTORS), default=list(VECTORS))
    given = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD), flush=True)
    broken = []
    for number, name in enumerate(given.only):
        vector = VECTORS[name]
        outcome = played(Storm(number, 1, [(name, vector.size, 0.0)], least=20.0, most=vector.seconds))
        print("| " + " | ".join(_cells(name, outcome)) + " |", flush=True)
        broken += [f"{name}: {text}" for text in outcome.broken]
    print("\n".join(["", *(text[:600] for text in broken), f"{len(broken)} broken invariants"]))
    return int(bool(broken))


def _cells(name: str, outcome: Outcome) -> list[str]:
    tally = outcome.tally
    return [
        f"{name}: {VECTORS[name].what}",
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
