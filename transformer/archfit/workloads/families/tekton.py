"""Tekton: steps hold the images, pod templates of runs the placement; a run cannot change once it has started.

A step without an image takes that of `stepTemplate`. Tasks of a pipeline run in pods of their own with one template,
so that the images of all of them count.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, row
from archfit.workloads.pods import ANNOTATE

_GROUP = "tekton.dev"
_REASON = (
    "Tekton places the pods of a task where its TaskRun or PipelineRun says (podTemplate), never in the task"
)
_REFERRED = "its steps are in the task or pipeline that it refers to" + ANNOTATE
_NESTED = "its steps are in a pipeline inside of a pipeline" + ANNOTATE


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for kind in ("Task", "ClusterTask", "StepAction", "Pipeline"):
        yield left(_GROUP, kind, "spec", _REASON)
    run = "spec.taskSpec"
    yield row(
        _GROUP, "TaskRun", "spec.podTemplate", there="spec", immutable=True, metadata=None, images=_images(run),
        unseen=(("spec.taskRef", _REFERRED), (f"{run}.steps[*].ref", _REFERRED)),
    )  # fmt: skip
    yield from _pipeline_runs("v1", "spec.taskRunTemplate.podTemplate", "podTemplate")
    yield from _pipeline_runs("v1beta1", "spec.podTemplate", "taskPodTemplate")


def _images(at: str) -> str:
    return (
        f"{at}.steps[*].image {at}.sidecars[*].image {at}.stepTemplate.image {at}.volumes[*].image.reference"
    )


def _pipeline_runs(version: str, template: str, own: str) -> Iterator[Workload]:
    tasks = [f"spec.pipelineSpec.{name}[*]" for name in ("tasks", "finally")]
    shared = {
        "version": version, "immutable": True, "metadata": None,
        "images": " ".join(_images(f"{at}.taskSpec") for at in tasks),
        "unseen": (
            ("spec.pipelineRef", _REFERRED),
            *((f"{at}.taskRef", _REFERRED) for at in tasks),
            *((f"{at}.taskSpec.steps[*].ref", _REFERRED) for at in tasks),
            *((f"{at}.pipelineRef", _REFERRED) for at in tasks),
            *((f"{at}.pipelineSpec", _NESTED) for at in tasks),
        ),
    }  # fmt: skip
    yield row(_GROUP, "PipelineRun", template, there="spec", **shared)
    one = f"spec.taskRunSpecs[*].{own}"
    yield row(_GROUP, "PipelineRun", one, there=one, inherits=(template,), **shared)
