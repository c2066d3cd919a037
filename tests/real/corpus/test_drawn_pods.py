"""Random pods, judged by the scheduler's own code; `make -C lab pods` draws many."""

import json
from random import Random

from drawn_pods.judging import judged


def test_drawn_pods_land_where_their_images_run_and_nowhere_else(oracle, tmp_path):
    nodes = json.loads((oracle.folder / "nodes.json").read_text(encoding="utf-8"))
    found = [judged(Random(f"short/{number}"), 150, oracle, nodes, tmp_path) for number in range(4)]
    assert [line for one in found for line in one.violations] == []
    assert sum(one.pods for one in found) == 600
    assert all(
        sum(one.counts[name] for one in found) for name in ("tolerated", "constrained", "left", "unknown")
    )
