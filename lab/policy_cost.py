"""What a policy costs a create of a pod: processor time of the API server, and time at the client; Markdown.

    make policy-cost ARGS="--creates 500 --images 1000 5000 15000"

A real API server with etcd on loopback (tests/support/control_plane.py) makes dry-run creates of one pod with two
containers over one connection, in blocks of 25 by turns: in a namespace without a policy, in one with it, and in one
with it and its companion. Processor time is that of the API server's process over the blocks of one namespace, divided
by their creates, so what else the machine does counts little. It includes what the API server does at all times.
"""

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from archfit.base.errors import ArchfitError
from archfit.options.settings import Options
from control_plane import ControlPlane, pod_in
from pod_decisions import found
from policy_runs import PLAIN, Policies

COLUMNS = (
    "images", "carrier", "without: processor, p50, p95 ms", "with the policy", "and its companion",
    "processor time more: policy, both", "largest object",
)  # fmt: skip
CARRIERS = ("literal", "crd")
PLATFORMS = ("amd64", "amd64 arm64 s390x", "amd64 arm64", "arm64")
BLOCK = 25


class Cost(NamedTuple):
    """Of one create, in milliseconds."""

    processor: float
    p50: float
    p95: float

    def __str__(self) -> str:
        return ", ".join(f"{one:.1f}" for one in self)


def image(number: int) -> str:
    return f"registry.example.com/platform/team-{number % 40:02}/service-with-a-name-{number:06}:v1.27.3"


def pod(namespace: str, count: int) -> dict[str, object]:
    """Two containers, one of them for amd64 only: it gets a term. count: of the images that the policy knows."""
    return pod_in(namespace, image(0), image(min(2, count - 1)), metadata={"name": "web"})


def measured(plane: ControlPlane, namespaces: Sequence[str], creates: int, count: int = 1) -> list[Cost]:
    """What a create costs, by namespace; in blocks by turns."""
    took: list[list[float]] = [[] for _ in namespaces]
    spent = [0.0] * len(namespaces)
    gc.disable()
    for _ in range(-(-creates // BLOCK)):
        for at, namespace in enumerate(namespaces):
            before = plane.processor_seconds()
            for _ in range(BLOCK):
                value = pod(namespace, count)
                started = time.perf_counter()
                plane.dry(value)
                took[at].append((time.perf_counter() - started) * 1000)
            spent[at] += plane.processor_seconds() - before
    gc.enable()
    made = []
    for times, seconds in zip(took, spent, strict=True):
        shares = quantiles(times, n=100, method="inclusive")
        made.append(Cost(seconds * 1000 / len(times), shares[49], shares[94]))
    return made


def row(policies: Policies, count: int, carrier: str, creates: int) -> str:
    """One line of the table."""
    plane = policies.plane
    locked = {image(number): found(PLATFORMS[number % 4], origin="lock") for number in range(count)}
    names = (f"alone-{carrier}-{count}", f"both-{carrier}-{count}")
    try:
        installed = [
            policies.install(name, locked, Options(), carrier=carrier, companion=name.startswith("both"))
            for name in names
        ]
    except ArchfitError as error:
        return f"| {count:,} | {carrier} | | | | | {error} |"
    for one in installed:
        policies.await_change(one, policies.plain([pod(PLAIN, count)])[0])
    strange = {
        **pod(names[1], count),
        "spec": {"containers": [{"name": "c", "image": "registry.example.com/new:1"}]},
    }
    plane.until("the companion warns", lambda: plane.warnings(strange))
    measured(plane, (PLAIN, *names), 4 * BLOCK, count)
    costs = measured(plane, (PLAIN, *names), creates, count)
    for one in installed:
        policies.remove(one)
    size = max(len(json.dumps(value, separators=(",", ":"))) for one in installed for value in one.objects)
    policy, both = (cost.processor - costs[0].processor for cost in costs[1:])
    cells = (f"{count:,}", carrier, *map(str, costs), f"{policy:.1f}, {both:.1f}", f"{size / 1000:,.0f} kB")
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab policy-cost", description="Measures what a policy costs the create of a pod."
    )
    parser.add_argument("--creates", type=int, default=500)
    parser.add_argument("--images", type=int, nargs="+", default=[1000, 5000, 15000])
    parser.add_argument("--carriers", nargs="+", default=CARRIERS, choices=CARRIERS)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        policies = Policies(plane)
        plane.namespace(PLAIN)
        measured(plane, (PLAIN,), 400)
        sys.stdout.write(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}\n")
        for count in words.images:
            for carrier in words.carriers:
                sys.stdout.write(f"{row(policies, count, carrier, words.creates)}\n")
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
