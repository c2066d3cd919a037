"""Tekton: steps hold the images, pod templates of runs the placement; a run cannot change once it has started."""

from __future__ import annotations

from archfit.workloads.families.notation import ANNOTATE, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    reason = "Tekton places the pods of a task where its TaskRun or PipelineRun says (podTemplate), never in the task"
    for kind in ("Task", "ClusterTask", "StepAction", "Pipeline"):
        yield row("tekton.dev", kind, "", reason=reason)
    elsewhere = "its steps are in the task or pipeline that it refers to" + ANNOTATE
    run = "spec.taskSpec"
    yield row(
        "tekton.dev", "TaskRun", "spec.podTemplate", there="spec", immutable=True, metadata=None,
        images=f"{run}.steps[*].image {run}.sidecars[*].image {run}.stepTemplate.image",
        unseen=(("spec.taskRef", elsewhere), (f"{run}.steps[*].ref", elsewhere)),
    )  # fmt: skip
    for version, template, own in (
        ("v1", "spec.taskRunTemplate.podTemplate", "podTemplate"),
        ("v1beta1", "spec.podTemplate", "taskPodTemplate"),
    ):
        parts = [f"spec.pipelineSpec.{tasks}[*].taskSpec" for tasks in ("tasks", "finally")]
        shared = {
            "version": version, "immutable": True, "metadata": None,
            "images": " ".join(f"{at}.steps[*].image {at}.sidecars[*].image" for at in parts),
            "unseen": (
                ("spec.pipelineRef", elsewhere),
                *((f"{at[:-8]}taskRef", elsewhere) for at in parts),
                *((f"{at}.steps[*].ref", elsewhere) for at in parts),
            ),
        }  # fmt: skip
        yield row("tekton.dev", "PipelineRun", template, there="spec", **shared)
        one = f"spec.taskRunSpecs[*].{own}"
        yield row("tekton.dev", "PipelineRun", one, there=one, inherits=(template,), **shared)
