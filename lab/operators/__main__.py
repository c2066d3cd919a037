"""`make operators [NAME=..] [CASE=..]`: build real operators and record what they make of what archfit writes.

    python -m operators [NAME..] [--case CASE] [--rows] [--versions newest]

NAME is a folder of fixtures/operators or the beginning of its name; without one every operator is recorded, one after
the other. A line for each: its cases, and seconds. At the end `seen` is
written into the rows that were seen; --rows does that alone. `--versions newest` records the newest release of each
module, and takes the older recording away. Whether a recording holds is the replay's question (tests/real/operators).
Exit 1 for an operator that could not be recorded; its folder stays as it was.
"""

import argparse
import datetime as dt
import os
import shutil
import sys
import time
from pathlib import Path

import install_tools
from operators import rows
from operators.build import Failed, build
from operators.definition import BadDefinition, Operator, operators
from operators.newest import dated, newest
from operators.recorder import record
from operators.site import alone


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab operators", description="Records what real operators make."
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--case", default="", help="record this case alone")
    parser.add_argument(
        "--rows", action="store_true", help="write what was seen into the rows and record nothing"
    )
    parser.add_argument("--versions", choices=("pinned", "newest"), default="pinned")
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
    if words.rows:
        return _write_rows()
    install_tools.main(["etcd", "kube-apiserver", "kube-controller-manager"])
    wrong = 0
    for operator in chosen:
        # A child of its own: a network that was left cannot be entered again.
        child = os.fork()
        if child == 0:
            sys.stdout.flush()
            os._exit(_one(operator, words.case, latest=words.versions == "newest"))
        wrong |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 1 if wrong else _write_rows()


def _one(old: Operator, case: str, *, latest: bool) -> int:
    name = old.folder.name
    began = time.monotonic()
    operator = old
    try:
        operator = newest(old) if latest else old
        name = operator.folder.name
        built = build(operator)
        alone()
        before = _files(old.folder)
        cases = record(operator, built, case)
    except (Failed, AssertionError) as error:
        _say(f"{name}: {error}")
        if operator is not old:
            shutil.rmtree(operator.folder)
        return 1
    if operator is not old:
        shutil.rmtree(old.folder)
    if _files(operator.folder) != before:
        dated(operator.folder, dt.datetime.now(tz=dt.UTC).date())
    _say(f"{name}: {cases} cases, {time.monotonic() - began:.0f} s")
    return 0


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write_rows() -> int:
    # What an earlier recording showed is not its own evidence.
    rows.forget()
    for path, text in list(rows.files()):
        path.write_text(text, encoding="utf-8")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
