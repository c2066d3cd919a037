"""Facts that are counted together: pods of one workload with the same images, containers that run the same build.

one more of the same key     pods, CPU and memory are added; where the pods run, too
owner_by                     the one that is known best
pinned                       what all of them are pinned to together; () where one is not pinned
tolerations                  those that all of them have
evidence                     the strongest, by `runtime_evidence.EVIDENCE`
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from archfit.cluster.audit_facts import BuildFacts, WorkloadFacts
from archfit.cluster.audit_merge import build_key, workload_key
from archfit.cluster.runtime_evidence import EVIDENCE

Workloads: TypeAlias = dict[tuple[Any, ...], WorkloadFacts]
Builds: TypeAlias = dict[tuple[Any, ...], BuildFacts]


def count_workload(workloads: Workloads, one: WorkloadFacts) -> None:
    """Adds the pods of `one` to the workload that it is of."""
    key = workload_key(one)
    before = workloads.get(key)
    if before is None:
        workloads[key] = one
        return
    runs_on = Counter(dict(before.runs_on))
    runs_on.update(dict(one.runs_on))
    workloads[key] = before.replace(
        owner_by=max(before.owner_by, one.owner_by),
        pods=before.pods + one.pods,
        cpu=before.cpu + one.cpu,
        memory=before.memory + one.memory,
        without_cpu=before.without_cpu + one.without_cpu,
        runs_on=tuple(sorted(runs_on.items())),
        pinned=tuple(sorted({*before.pinned, *one.pinned})) if before.pinned and one.pinned else (),
        where=min(before.where, one.where),
        labels=_least(before.labels, one.labels),
        tolerations=tuple(sorted({*before.tolerations} & {*one.tolerations})),
    )


def count_build(builds: Builds, one: BuildFacts) -> None:
    """Adds the containers of `one` to those that run the same build."""
    key = build_key(one)
    before = builds.get(key)
    if before is None:
        builds[key] = one
        return
    builds[key] = before.replace(
        pods=before.pods + one.pods,
        reason=max(before.reason, one.reason),
        evidence=_stronger(before.evidence, one.evidence),
    )


def _least(
    one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Of each label the smallest value that a pod of the workload has."""
    found: dict[str, str] = {}
    for key, value in (*one, *other):
        found[key] = min(found.get(key, value), value)
    return tuple(sorted(found.items()))


def _stronger(one: str, other: str) -> str:
    """Of two texts of evidence the one that `EVIDENCE` has first."""
    found = [word for word in EVIDENCE if word in (one, other)]
    return found[0] if found else max(one, other)
