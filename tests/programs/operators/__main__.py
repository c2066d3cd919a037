"""`make operators [NAME=..] [CASE=..]`: build real operators and record what they make of what archfit writes.

    python -m operators [NAME..] [--case CASE] [--build]

NAME is a folder of fixtures/operators or the beginning of its name; without one every operator is recorded, one after
the other. A line for each: seconds and memory of its build, memory of its programs, cases, turns. What does not hold of
a new recording is said at once, as the replay would (tests/real/operators). Exit 1 for an operator that could not be
recorded, whose folder stays as it was, and for a recording that does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import install_tools
import machine
from operators.build import Failed, build
from operators.definition import BadDefinition, Operator, operators
from operators.recorder import record
from operators.site import alone


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="make operators", description="Records what real operators make.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--case", default="", help="record this case alone")
    parser.add_argument("--build", action="store_true", help="build the programs and record nothing")
    words = parser.parse_args()
    try:
        known = operators()
    except BadDefinition as error:
        sys.stderr.write(f"operators: {error}\n")
        return 2
    chosen = [one for one in known if not words.names or any(map(one.folder.name.startswith, words.names))]
    if not chosen:
        sys.stderr.write(f"operators: no folder of fixtures/operators is named {' or '.join(words.names)}\n")
        return 2
    install_tools.main(["etcd", "kube-apiserver", "kube-controller-manager"])
    wrong = 0
    for operator in chosen:
        # A child of its own: a network that was left cannot be entered again.
        child = os.fork()
        if child == 0:
            sys.stdout.flush()
            os._exit(_one(operator, words.case, only_build=words.build))
        wrong |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 1 if wrong else 0


def _one(operator: Operator, case: str, *, only_build: bool) -> int:
    name = operator.folder.name
    began = time.monotonic()
    try:
        built = build(operator)
        said = f"built in {built.seconds:.0f} s ({built.peak_mib} MiB)" if built.seconds else "was built"
        if only_build:
            _say(f"{name}: {said}")
            return 0
        alone()
        done = record(operator, built, case)
    except (Failed, AssertionError) as error:
        _say(f"{name}: {error}")
        return 1
    memory = ", ".join(f"{program} {peak} MiB" for program, peak in done.peaks_mib.items())
    _say(
        f"{name}: {said}; {memory}; {done.cases} cases, {done.turns} turns, {time.monotonic() - began:.0f} s"
    )
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    machine.unmarked = ""
    sys.exit(main())
