"""`make fuzz SECONDS=600 SEED=1`: streams until the time is over; one file for each defect; exit 1 if there is one.

    python -m fuzz [--seconds N] [--seed N]

.fuzz/SIGNATURE.yaml is the smallest stream found, .fuzz/SIGNATURE.options says how it was run and what
happens. The same seed gives the same streams again.
"""

import argparse
import re
import sys
import time

import machine
from fuzz.asking import Asking
from fuzz.corpus import documents
from fuzz.fuzzing import Case, Fuzzing
from yaml_judge import Judge

FOLDER = machine.ROOT / ".fuzz"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make -C lab fuzz", description="Fuzzes archfit.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    judge = machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")
    folder = machine.SHARED / "corpus"
    with Judge(judge) as reader:
        real = documents(folder, reader) if folder.exists() else []
    print(
        f"{len(real)} real documents" if real else f"no real documents: {folder} is missing; set TEST_SHARED"
    )

    def found(signature: str, case: Case) -> None:
        FOLDER.mkdir(exist_ok=True)
        name = f"{given.seed}-{re.sub('[^A-Za-z0-9]+', '-', signature)[:90].strip('-')}"
        (FOLDER / f"{name}.yaml").write_bytes(case.stream.text)
        said = f"{case.stream.options}\nseed {given.seed}, stream {case.number}\n{signature}\n{case.detail}\n"
        (FOLDER / f"{name}.options").write_text(said, encoding="utf-8")
        print(f"{signature}\n    {FOLDER / name}.yaml\n    {case.detail[:200]}", flush=True)

    started = time.monotonic()
    with Asking(judge) as asking:
        tally = Fuzzing(asking, real).run(given.seed, 1 << 60, given.seconds, found)
    print(
        f"seed {given.seed}: {tally.streams:,} streams in {time.monotonic() - started:.0f} s, "
        f"{tally.changed:,} changed, {tally.refused:,} refused, {len(tally.defects)} defects "
        f"in {sum(tally.counts.values()):,} findings"
        + (f", {tally.killed} that no reader survives" if tally.killed else "")
    )
    for signature, count in sorted(tally.counts.items(), key=lambda pair: -pair[1]):
        print(f"{count:>8}  {signature}")
    return bool(tally.defects)


if __name__ == "__main__":
    sys.exit(main())
