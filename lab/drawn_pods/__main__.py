"""`make pods COUNT=100000 SEED=1`: that many random pods, judged; each violation on a line, exit 1 if there is one.

python -m drawn_pods [--count N] [--seed N]
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from corpus_streams import Oracle
from drawn_pods.drawing import IMAGES
from drawn_pods.judging import judged

BATCH = 500


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab pods", description="Judges random pods by the scheduler's own code."
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    oracle = Oracle(IMAGES)
    nodes = json.loads((oracle.folder / "nodes.json").read_text(encoding="utf-8"))
    started, pods, counts, violations = time.monotonic(), 0, Counter[str](), 0
    with tempfile.TemporaryDirectory() as scratch:
        number = 0
        while pods < words.count:
            found = judged(Random(f"{words.seed}/{number}"), BATCH, oracle, nodes, Path(scratch))
            number, pods = number + 1, pods + found.pods
            counts.update(found.counts)
            violations += len(found.violations)
            for line in found.violations:
                sys.stdout.write(f"seed {words.seed}/{number - 1}: {line}\n")
    took = time.monotonic() - started
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    sys.stdout.write(f"{pods} pods in {took:.0f} s, {violations} violations; {said}\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
