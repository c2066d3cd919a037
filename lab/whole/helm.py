"""The part `helm`: releases of one chart under Helm 3 and Helm 4 with archfit, from install to uninstall.

    fixtures/whole/helm/shop              the chart
                       /platforms.json    what the registry has

The steps are those of lab/whole/release_life.py. Measured for each: the workloads that got other pods, and how long
it took. Wrong is each thing that is not as docs/helm.md says, with pods on a node that cannot run one of their images.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import machine
from whole.release_life import Step, life, switched
from whole.release_site import PROGRAMS as SITE_PROGRAMS
from whole.release_site import ReleaseSite, platforms_of

PROGRAMS = (*SITE_PROGRAMS, "helm3", "helm4")


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every release, one after the other in one cluster. Raises AssertionError."""
    with ReleaseSite(folder, platforms_of("helm")) as site:
        releases = {
            "Helm 3": life(site, "helm3"),
            "Helm 4": life(site, "helm4"),
            "from Helm 3 to Helm 4": switched(site),
        }
    versions = {
        "Helm": " and ".join(machine.TABLE[name].version for name in ("helm3", "helm4")),
        "Kubernetes": machine.TABLE["kubectl"].version,
    }
    measured = {
        "versions": versions,
        "releases": {name: list(map(_row, steps)) for name, steps in releases.items()},
    }
    wrong = [
        f"{name}, {step.what}: {line}"
        for name, steps in releases.items()
        for step in steps
        for line in step.wrong
    ]
    return measured, wrong


def _row(step: Step) -> dict[str, Any]:
    return {"what": step.what, "rolled": step.rolled, "pods": step.pods, "wrong": len(step.wrong)}
