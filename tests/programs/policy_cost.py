"""What a policy adds to the create of a pod, by the number of its images and where they stand; a table in Markdown.

    make policy-cost ARGS="--creates 500 --images 1000 5000 15000"

A real API server with etcd on loopback (tests/support/control_plane.py) makes dry-run creates of one pod with two
containers, in turn in a namespace with the policy and in one without, over one connection. Figures are of the clock at
the client, so a create without a policy stands beside each.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

from archfit.errors import ArchfitError
from archfit.options.settings import Options
from control_plane import ControlPlane
from pod_decisions import found
from policy_runs import Policies

COLUMNS = (
    "images",
    "carrier",
    "p50 ms without",
    "p95 without",
    "p50 with",
    "p95 with",
    "acts after s",
    "largest object",
)
CARRIERS = ("literal", "crd")
PLATFORMS = ("amd64 arm64", "amd64 arm64 s390x", "amd64", "arm64")


def image(number: int) -> str:
    """A reference of 75 characters."""
    return f"registry.example.com/platform/team-{number % 40:02}/service-with-a-name-{number:06}:v1.27.3"


def pod(namespace: str) -> dict[str, object]:
    """Two containers, one of them for amd64 only: it gets a term."""
    containers = [{"name": f"c{number}", "image": image(number)} for number in (0, 2)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"containers": containers},
    }


def measured(plane: ControlPlane, namespaces: tuple[str, ...], creates: int) -> list[list[float]]:
    """The milliseconds of each create, by namespace; in turn."""
    took: list[list[float]] = [[] for _ in namespaces]
    gc.disable()
    for _ in range(creates):
        for times, namespace in zip(took, namespaces, strict=True):
            value = pod(namespace)
            started = time.perf_counter()
            plane.dry(value)
            times.append((time.perf_counter() - started) * 1000)
    gc.enable()
    return took


def row(policies: Policies, count: int, carrier: str, creates: int) -> str:
    """One line of the table."""
    plane = policies.plane
    locked = {image(number): found(PLATFORMS[number % 4], origin="lock") for number in range(count)}
    name = f"cost-{carrier}-{count}"
    try:
        installed = policies.install(name, locked, Options(), carrier=carrier)
    except ArchfitError as error:
        return f"| {count:,} | {carrier} | | | | | | {error} |"
    started = time.monotonic()
    plain = policies.plain([pod("plain")])
    policies.await_change(installed, plain)
    noticed = time.monotonic() - started
    size = max(len(json.dumps(one, separators=(",", ":"))) for one in installed.objects)
    beside, with_policy = (
        quantiles(times, n=100, method="inclusive") for times in measured(plane, ("plain", name), creates)
    )
    policies.remove(installed)
    figures = (*(f"{times[at]:.1f}" for times in (beside, with_policy) for at in (49, 94)), f"{noticed:.1f}")
    return f"| {count:,} | {carrier} | {' | '.join(figures)} | {size / 1000:,.0f} kB |"


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Measures what a policy adds to the create of a pod.")
    parser.add_argument("--creates", type=int, default=500)
    parser.add_argument("--images", type=int, nargs="+", default=[10, 1000, 5000, 15000])
    words = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        ControlPlane(Path(folder)) as plane,
    ):
        policies = Policies(plane)
        plane.namespace("plain")
        measured(plane, ("plain",), 200)
        sys.stdout.write(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n")
        for count in words.images:
            for carrier in CARRIERS:
                sys.stdout.write(row(policies, count, carrier, words.creates) + "\n")
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
