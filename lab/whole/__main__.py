"""`make -C lab whole [PART=NAME]`: run whole systems with archfit in them, and write down what was measured.

    python -m whole [PART..]

A line for each part, with its seconds, and a line for each thing that does not hold. What was measured goes to
fixtures/whole/PART/measured.json with the date, from which scripts/whole_tables.py writes the tables of the pages.
Exit 1 where a part could not run, or where something does not hold; 2 for a part that there is not.
"""

import argparse
import datetime as dt
import json
import sys

import install_tools
import machine
from whole.parts import PARTS, run_all

MEASURED = machine.ROOT / "fixtures" / "whole"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab whole", description="Runs whole systems with archfit in them."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all without one")
    words = parser.parse_args()
    unknown = [name for name in words.parts if name not in PARTS]
    if unknown:
        sys.stderr.write(f"whole: there is no part {', '.join(unknown)}: name {', '.join(PARTS)}\n")
        return 2
    chosen = {name: PARTS[name] for name in words.parts or PARTS}
    install_tools.main([program for part in chosen.values() for program in (*part.needs, *part.wanted)])
    failed = False
    for ended in run_all(chosen):
        state = "failed" if ended.wrong else "as expected"
        sys.stdout.write(f"{ended.name}: {state}, {ended.seconds} s\n")
        sys.stdout.writelines(f"  {line}\n" for line in ended.wrong)
        failed |= bool(ended.wrong)
        if ended.measured is not None:
            day = dt.datetime.now(tz=dt.UTC).date().isoformat()
            versions = chosen[ended.name].versions()
            record = {"date": day, "seconds": ended.seconds, "versions": versions, **ended.measured}
            text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
            place = MEASURED / ended.name / "measured.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
