"""What reading a large cluster costs: from its list in a file to the facts of an audit, without any lookup.

    python benchmarks/audit.py [--pods 100000] [--form list|page]

The list is made by lab/large_cluster.py in a temporary folder (1.3 GB for 100,000 pods as a list of kubectl,
half of it as pages). Seconds are of the clock and of the processor; memory is the largest resident size of a process
that does nothing else. The file is read once before, so that it is in the system's cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from inputs import ROOT
from measured import Table

sys.path.insert(0, str(ROOT / "lab"))

import large_cluster

CHILD = """
import json, resource, sys, time
began = time.perf_counter()
from archfit.audit.report.json import facts_text
from archfit.audit.running.collect import Collector
from archfit.cluster.list_stream import items

collector = Collector("lists", "large")
with open(sys.argv[1], "rb") as file:
    for value, where in items(file, "large"):
        collector.add(value, where)
facts = collector.facts()
folded, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
written = sum(map(len, facts_text(facts)))
print(json.dumps({
    "seconds": round(folded - began, 1),
    "of the processor": round(used.ru_utime + used.ru_stime, 1),
    "MiB resident": used.ru_maxrss // 1024,
    "MiB with the JSON": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    "MiB of JSON": written >> 20,
    "pods": sum(one.pods for one in facts.workloads),
    "workloads": len(facts.workloads),
    "builds": len(facts.builds),
    "images": len(facts.images),
    "nodes": len(facts.nodes),
}))
"""


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--form", choices=large_cluster.FORMS, default="list")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        with path.open("w", encoding="utf-8") as file:
            large_cluster.write(given.pods, given.form, file)
        size = f"{path.stat().st_size / 1e6:,.0f} MB"
        subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run([sys.executable, "-c", CHILD, path], stdout=subprocess.PIPE, check=True)
    table = Table("audit", "Of reading the list", "Value")
    table.row("input", f"{size}, {given.pods:,} pods, as a {given.form}")
    for name, value in json.loads(done.stdout).items():
        table.row(name, f"{value:,}")
    table.keep()


if __name__ == "__main__":
    main()
