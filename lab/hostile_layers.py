"""`make programs`: layers that no tool writes, drawn at random, end within bounds and with a reason.

Prints a row for each kind: how many, how they ended, the most processor time and memory. Exit 1 for one beyond bounds,
for one that ends in no answer, and where a program is called right or wrong that the kind does not have.
"""

import argparse
import sys
import tracemalloc
from collections import Counter, defaultdict
from hashlib import sha256
from random import Random
from time import process_time

from archfit.programs.layer import LayersOfRun, Meter
from archfit.programs.program import Programs, judged
from archfit.programs.read import read_programs
from archfit.programs.start import Start
from archfit.registry.manifest import Descriptor
from hostile_archives import KINDS, MAY_BE_READ
from program_images import OCI_LAYER

_MOST_SECONDS = 20.0
_MOST_BYTES = 48 << 20
_OWN = Start()


def read(blob: bytes) -> str:
    """The state and the words of the program of an image with one such layer."""
    layer = Descriptor(f"{OCI_LAYER}+gzip", f"sha256:{sha256(blob).hexdigest()}", len(blob))
    config = {"config": {"Entrypoint": ["/app"]}}
    programs: Programs = read_programs(
        config,
        [layer],
        [_OWN],
        lambda _, take: take(blob[at : at + 65536] for at in range(0, len(blob), 65536)),
        Meter(lambda: 1.0, LayersOfRun()),
    )
    program = programs.of(_OWN)
    assert program
    verdict = judged(program, "arm64")
    return f"{verdict.state}: {verdict.words}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab programs", description="Reads layers that no tool writes."
    )
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = Random(given.seed)
    print(f"seed {given.seed}, {given.count} layers")
    ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
    costs: dict[str, tuple[float, int]] = {}
    beyond = 0
    for number in range(given.count):
        kind = list(KINDS)[number % len(KINDS)]
        blob = KINDS[kind](draw)
        tracemalloc.start()
        began = process_time()
        said = read(blob)
        cost = process_time() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        ends[kind][said] += 1
        costs[kind] = max(costs.get(kind, cost)[0], cost[0]), max(costs.get(kind, cost)[1], cost[1])
        bad = not said.startswith("unread: ") and kind not in MAY_BE_READ
        beyond += bad or cost[0] > _MOST_SECONDS or cost[1] > _MOST_BYTES
    for kind, answers in ends.items():
        seconds, memory = costs[kind]
        for words, times in answers.most_common(2):
            print(f"{kind:30} {times:3} {seconds:6.2f} s {memory / 1e6:5.1f} MB  {words[:90]}")
    print(f"{beyond} beyond their bounds")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
