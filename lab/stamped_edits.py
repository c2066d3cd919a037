"""`make stamps COUNT=10000 SEED=1`: that many pairs of stamped runs with a person's edit between them, judged.

    python -m stamped_edits [--count N] [--seed N]

`edits_between_runs` draws and judges them: clusters of one and of two systems, images that gain an architecture, and
runs in between that know nothing of an image. Each edit that is lost, or frozen in silence, on a line, and exit 1.
"""

import argparse
import sys
from collections import Counter

from edits_between_runs import SHAPES, between_runs


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab stamps", description="Judges pairs of stamped runs.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    kinds, wrong, shapes = Counter[str](), 0, tuple(SHAPES)
    for number in range(words.count):
        seed = words.seed * words.count + number
        try:
            kinds[between_runs(shapes[number % len(shapes)], seed)] += 1
        except AssertionError as error:
            wrong += 1
            sys.stdout.write(f"{str(error).splitlines()[0]}\n")
    said = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    sys.stdout.write(f"seed {words.seed}: {words.count} pairs, {wrong} lost or frozen in silence; {said}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
