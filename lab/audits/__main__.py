"""`make audits COUNT=5000 SEED=1`: each difference on a line, exit 1 if there is one.

Each cluster is audited as it is, and twice after the output of archfit was applied: without tolerations, and with
that of the taint of arm64 nodes. Readiness, waves and savings have to stay.

python -m audits [--count N] [--seed N]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from audits.clusters import drawn
from audits.judging import TAINT, changes, differences, registry


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab audits",
        description="Compares archfit audit with a calculator, and with itself after its plan was followed.",
    )
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    started, wrong, objects = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as scratch, registry() as served:
        for number in range(words.count):
            cluster = drawn(Random(f"{words.seed}/{number}"))
            objects += len(cluster.objects)
            lines = differences(cluster, Path(scratch), served)
            for tolerate in ((), (TAINT,)):
                lines += [
                    f"after archfit: {line}" for line in changes(cluster, Path(scratch), served, tolerate)
                ]
            wrong += bool(lines)
            for line in lines:
                sys.stdout.write(f"seed {words.seed}/{number}: {line}\n")
    took = time.monotonic() - started
    sys.stdout.write(f"{words.count} clusters, {objects} objects in {took:.0f} s; {wrong} clusters differ\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
