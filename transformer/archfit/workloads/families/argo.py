"""Argo: Rollouts, and Workflows, whose spec cannot change once they are submitted."""

from __future__ import annotations

from archfit.workloads.families.notation import left, row, templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload

_FIELDS = ("affinity", "tolerations", "nodeSelector")
_TEMPLATES = """
argoproj.io  Rollout                                            spec.template.spec
argoproj.io  Experiment                                         spec.templates[*].template.spec
argoproj.io  AnalysisTemplate,AnalysisRun,ClusterAnalysisTemplate  spec.metrics[*].provider.job.spec.template.spec
"""


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield left(
        "argoproj.io", "Rollout", "spec.workloadRef",
        "its pods are those of the workload in spec.workloadRef, which is placed where it stands in a stream",
    )  # fmt: skip
    yield from _workflows()


def _workflows() -> Iterator[Workload]:
    """Argo: a template's own affinity, tolerations or nodeSelector replace those of its callers and the workflow's."""
    for kind, spec, immutable in (
        ("Workflow", "spec", True),
        ("WorkflowTemplate", "spec", False),
        ("ClusterWorkflowTemplate", "spec", False),
        ("CronWorkflow", "spec.workflowSpec", False),
    ):
        one = f"{spec}.templates[*]"
        for there in ("container", "script", "containerSet"):
            yield row(
                "argoproj.io", kind, one, immutable=immutable, there=f"{one}.{there}", metadata=f"{one}.metadata",
                images=f"{one}.container.image {one}.script.image {one}.containerSet.containers[*].image "
                f"{one}.initContainers[*].image {one}.sidecars[*].image",
                inherits=(spec,),
                shadows=(f"{one}.steps", f"{one}.dag", *(f"{spec}.templateDefaults.{field}" for field in _FIELDS)),
            )  # fmt: skip
        yield row(
            "argoproj.io", kind, "", there=f"{one}.resource",
            reason="the manifest in a resource template is a text, which archfit does not read",
        )  # fmt: skip
