"""Kubeflow Trainer merges a TrainJob over the training runtime that it names.

It replaces the container `node` of the job whose template says that it trains, and no other one. Lists of terms and
tolerations in a TrainJob take the place of those of the jobs that it names; a nodeSelector is merged label by label.

Source: kubeflow/trainer, pkg/runtime/framework/plugins/jobset/builder.go (Trainer),
pkg/runtime/core/trainingruntime.go (mergeRuntimePatches, mergePodTemplateOverrides: a strategic merge).
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.options.settings import ANNOTATE
from archfit.workloads.operator_hooks import OperatorHooks, Placement, RowMatch
from archfit.workloads.patterns import get
from archfit.workloads.pods import Lender, PlacementPaths
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTAINER = "node"
_REPLACED = {_CONTAINER: "spec.trainer.image of a TrainJob replaces the image of this container" + ANNOTATE}
_JOB: Path = ("spec", "template", "spec", "replicatedJobs", "*")
_POD: Path = (*_JOB, "template", "spec", "template", "spec")
_STEP: Path = ("metadata", "labels", "trainer.kubeflow.org/trainjob-ancestor-step")
_RUNTIME = Lender(
    "trainer.kubeflow.org",
    ("TrainingRuntime", "ClusterTrainingRuntime"),
    ("spec", "runtimeRef", "name"),
    _POD,
    ("its training runtime names it" + ANNOTATE,),
    main=_CONTAINER,
    stated=("spec", "trainer", "image"),
    when=((*_JOB, "template", *_STEP), "trainer"),
)


def _replaceable(match: RowMatch) -> dict[str, str]:
    template = match.path[: -len(("spec", "template", "spec"))]
    return _REPLACED if text_of(get(match.value, (*template, *_STEP))) == "trainer" else {}


def _lent(match: RowMatch, spec: dict[str, Any], paths: PlacementPaths) -> Placement:
    names = {
        "runtimePatches": ("trainingRuntimeSpec", *_JOB[1:], "name"),
        "podTemplateOverrides": ("targetJobs", "*", "name"),
    }
    if match.path == ("spec",):
        return spec, paths.replace(lender=_RUNTIME.replace(alone=True))
    of_jobs = match.same((*match.row.pod_spec[:3], *names[str(match.path[1])]))
    return spec, paths.replace(lender=_RUNTIME.replace(named=(of_jobs, (*_JOB, "name"))))


KINDS = {
    **dict.fromkeys(("ClusterTrainingRuntime", "TrainingRuntime"), OperatorHooks(replaceable=_replaceable)),
    "TrainJob": OperatorHooks(placement=_lent),
}
