"""The part `flux`: what `archfit patch` prints and what `archfit --in-place` leaves, applied again and again by Flux.

    DOORS     three Kustomizations with archfit and one without; HelmReleases with both modes of drift detection
    run       every step of every door, on one control plane: Kustomizations one after the other, HelmReleases beside

After each step the pods are judged by the names of their images, and the workloads are compared with what archfit
writes of the same manifests on standard output: `unlike` names those whose affinity or tolerations differ.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from whole.flux import forms
from whole.flux.applied import NOTHING, Applied
from whole.flux.forms import COMPONENT, PATCHES, RENDERED
from whole.flux.release import Released
from whole.flux.site import FluxSite

DOORS = (NOTHING, PATCHES, COMPONENT, RENDERED)
MODES = ("enabled", "warn")


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every door. Raises Failed and AssertionError."""
    forms.prepare()
    with FluxSite(folder) as site, ThreadPoolExecutor(1 + len(MODES)) as threads:
        applied = [Applied(site, form) for form in DOORS]
        released = [Released(site, mode) for mode in MODES]
        list(threads.map(_run_all, (applied, *([one] for one in released))))
    wrong = [f"{door.name}: {line}" for door in (*applied, *released) for line in door.wrong]
    return {
        "writes": forms.digests(),
        "kustomizations": [door.measured() for door in applied],
        "releases": [door.measured() for door in released],
    }, wrong


def _run_all(doors: Sequence[Applied | Released]) -> None:
    for door in doors:
        door.run()
