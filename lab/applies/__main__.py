"""`make applies COUNT=500 SEED=1`: Pods with own lists, applied again and compared behind each entry point, in a table.

    python -m applies [--count N] [--seed N]

COUNT pods for each entry point and each way to make them. A line for each operation: how many pods were refused, how
many came out different, of how many Argo CD shows the tolerations, as docs/argocd.md says, and how many were
refused as docs/serve.md says. Exit 1 if another one is refused or different.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from admission_doors import DOORS, applying
from applies.operations import Site
from control_plane import ControlPlane
from drawn_pods.at_creation import applied_pod
from policy_runs import Policies


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab applies", description="Applies Pods with own lists again, and compares them."
    )
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    wrong = 0
    for kind in DOORS:
        with tempfile.TemporaryDirectory() as name, ControlPlane(Path(name)) as plane:
            folder = Path(name)
            pods = [
                applied_pod(Random(f"{words.seed}/{number}"), f"p{number}") for number in range(words.count)
            ]
            with applying(Policies(plane), kind, "shop", folder):
                started = time.monotonic()
                for operation, outcome in Site(plane, "shop", pods, folder / "site").run():
                    wrong += outcome.wrong
                    sys.stdout.write(
                        f"{kind}: {operation}: {outcome}, at {time.monotonic() - started:.0f} s\n"
                    )
                    sys.stdout.write(outcome.first())
                    sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
