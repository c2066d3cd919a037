"""The part `flux`: what `archfit patch` prints and what `archfit --in-place` leaves, applied again and again by Flux.

    DOORS     three Kustomizations with archfit and one without; HelmReleases with both modes of drift detection
    run       every step of every door, on one control plane: Kustomizations one after the other, HelmReleases beside

After each step the pods are judged by the names of their images, and the workloads are compared with what archfit
writes of the same manifests on standard output: `unlike` names those whose affinity or tolerations differ.

helm-controller is not built; FLUX_HELM names a folder with it (`site`). Without it the HelmReleases of the last
record stay in the record, with their own date.
"""

import datetime as dt
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import machine
from whole.flux import forms
from whole.flux.applied import NOTHING, Applied
from whole.flux.forms import COMPONENT, FOLDER, PATCHES, RELEASE, RENDERED
from whole.flux.release import Released
from whole.flux.site import KUSTOMIZE, SOURCE, FluxSite

PROGRAMS = (
    *("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl"),
    *("kustomize", "helm4", SOURCE, KUSTOMIZE),
)
DOORS = (NOTHING, PATCHES, COMPONENT, RENDERED)
MODES = ("enabled", "warn")
_MEASURED = FOLDER / "measured.json"


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every door. Raises Failed and AssertionError."""
    named = os.environ.get("FLUX_HELM")
    helm = Path(named) if named else None
    forms.prepare()
    with FluxSite(folder, helm) as site, ThreadPoolExecutor(1 + len(MODES)) as threads:
        groups: list[list[Applied | Released]] = [[Applied(site, form) for form in DOORS]]
        groups += [[Released(site, mode)] for mode in (MODES if helm else ())]
        doors = [door for group in groups for door in group]
        list(threads.map(_run_all, groups))
        peaks = site.peaks_mib()
    wrong = [f"{door.name}: {line}" for door in doors for line in door.wrong]
    applied = [door.measured() for door in doors if isinstance(door, Applied)]
    released = [door.measured() for door in doors if isinstance(door, Released)]
    record: dict[str, Any] = {
        "versions": {
            "source-controller": machine.TABLE[SOURCE].version,
            "kustomize-controller": machine.TABLE[KUSTOMIZE].version,
            "Kubernetes": machine.TABLE["kubectl"].version,
        },
        "writes": forms.digests(),
        "peaksMiB": peaks,
        "kustomizations": applied,
    }
    if helm:
        day = dt.datetime.now(tz=dt.UTC).date().isoformat()
        writes = {name: one for name, one in record["writes"].items() if name.startswith(RELEASE)}
        record["helm"] = {
            "date": day,
            "version": helm.name.rpartition("-")[2],
            "writes": writes,
            "releases": released,
        }
    elif _MEASURED.exists():
        record["helm"] = json.loads(_MEASURED.read_text(encoding="utf-8")).get("helm")
    return record, wrong


def _run_all(doors: Sequence[Applied | Released]) -> None:
    for door in doors:
        door.run()
