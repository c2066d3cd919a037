"""`make fuzz SECONDS=600 SEED=1`: streams until the time is over; one file for each defect; exit 1 if there is one.

    python -m fuzz [--seconds N] [--streams N] [--seed N] [--folder DIR]

DIR/SIGNATURE.yaml is the smallest stream found, DIR/SIGNATURE.options says how it was run and what happens. The same
seed gives the same streams again.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import machine
from fuzz.asking import Asking
from fuzz.corpus import documents
from fuzz.fuzzing import Case, Fuzzing
from yaml_judge import Judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab fuzz", description="Fuzzes archfit.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--streams", type=int, default=1 << 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=machine.ROOT / ".fuzz")
    given = parser.parse_args()
    judge = machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")
    folder = machine.SHARED / "corpus"
    with Judge(judge) as reader:
        real = documents(folder, reader) if folder.exists() else []
    print(
        f"{len(real)} real documents" if real else f"no real documents: {folder} is missing; set TEST_SHARED"
    )

    def found(signature: str, case: Case) -> None:
        given.folder.mkdir(exist_ok=True)
        name = f"{given.seed}-{re.sub('[^A-Za-z0-9]+', '-', signature)[:90].strip('-')}"
        (given.folder / f"{name}.yaml").write_bytes(case.stream.text)
        said = f"{case.stream.options}\nseed {given.seed}, stream {case.number}\n{signature}\n{case.detail}\n"
        (given.folder / f"{name}.options").write_text(said, encoding="utf-8")
        print(f"{signature}\n    {given.folder / name}.yaml\n    {case.detail[:200]}", flush=True)

    started, used = time.monotonic(), time.process_time()
    with Asking(judge) as asking:
        tally = Fuzzing(asking, real).run(given.seed, given.streams, given.seconds, found)
    took, used = time.monotonic() - started, time.process_time() - used
    print(
        f"seed {given.seed}: {tally.streams:,} streams in {took:.0f} s ({used:.0f} s of the processor), "
        f"{tally.changed:,} changed, {tally.refused:,} refused, {len(tally.defects)} defects "
        f"in {sum(tally.counts.values()):,} findings"
        + (f", {tally.killed} that no reader survives" if tally.killed else "")
    )
    for signature, count in sorted(tally.counts.items(), key=lambda pair: -pair[1]):
        print(f"{count:>8}  {signature}")
    return bool(tally.defects)


if __name__ == "__main__":
    sys.exit(main())
