"""The part `undo`: archfit is taken out again, from each way in.

    fixtures/whole/undo/workloads.yaml    what runs; the releases are of the chart of the part `helm`

The ways are those of lab/whole/undo_ways.py. Measured for each: what stays in the objects, which workloads got
other pods, and which pods are on a node that cannot run them once archfit is out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import machine
from whole.release_site import PROGRAMS as SITE_PROGRAMS
from whole.release_site import ReleaseSite, platforms_of
from whole.undo_ways import WAYS

PROGRAMS = (*SITE_PROGRAMS, "helm3", "helm4", "kustomize")


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every way, one after the other in one cluster. Raises AssertionError."""
    with ReleaseSite(folder, platforms_of("helm")) as site:
        undone = {name: way(site) for name, way in WAYS.items()}
    versions = {
        "Helm": " and ".join(machine.TABLE[name].version for name in ("helm3", "helm4")),
        "kustomize": machine.TABLE["kustomize"].version,
        "Kubernetes": machine.TABLE["kubectl"].version,
    }
    ways = {
        name: {"stays": one.stays, "rolled": one.rolled, "pods": one.pods, "wrong": len(one.wrong)}
        for name, one in undone.items()
    }
    wrong = [f"{name}: {line}" for name, one in undone.items() for line in one.wrong]
    return {"versions": versions, "ways": ways}, wrong
