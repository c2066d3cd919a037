"""Argo: Rollouts, and Workflows, whose spec cannot change once they are submitted.

    templates[*]                              a pod for each that has container, script or containerSet
    templates[*].steps[*][*].inline           the same, one level below its caller; deeper ones are unread
    templates[*].dag.tasks[*].inline
    templateDefaults                          merged into each template: images of the kind that the template has

The first of these that has the field decides the placement: the template, `templateDefaults`, its callers, the spec.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, row, templates

_GROUP = "argoproj.io"
_FIELDS = ("affinity", "tolerations", "nodeSelector")
_MAIN = {
    "container": "container.image",
    "script": "script.image",
    "containerSet": "containerSet.containers[*].image",
}
_TEMPLATES = """
argoproj.io  Rollout                              spec.template.spec
argoproj.io  Experiment                           spec.templates[*].template.spec
argoproj.io  AnalysisTemplate,AnalysisRun         spec.metrics[*].provider.job.spec.template.spec
argoproj.io  ClusterAnalysisTemplate              spec.metrics[*].provider.job.spec.template.spec
"""


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield left(
        _GROUP, "Rollout", "spec.workloadRef",
        "its pods are those of the workload in spec.workloadRef, which is placed where it stands in a stream",
    )  # fmt: skip
    yield from _workflows("Workflow", "spec", immutable=True)
    yield from _workflows("WorkflowTemplate", "spec", immutable=False)
    yield from _workflows("ClusterWorkflowTemplate", "spec", immutable=False)
    yield from _workflows("CronWorkflow", "spec.workflowSpec", immutable=False)


def _workflows(kind: str, spec: str, *, immutable: bool) -> Iterator[Workload]:
    template = f"{spec}.templates[*]"
    steps, tasks = f"{template}.steps[*][*]", f"{template}.dag.tasks[*]"
    callers = [f"{template}.steps", f"{template}.dag"]
    defaults = [f"{spec}.templateDefaults.{field}" for field in _FIELDS]
    yield from _pods(kind, spec, template, immutable=immutable, shadows=[*callers, *defaults])
    for inline in (f"{steps}.inline", f"{tasks}.inline"):
        yield from _pods(kind, spec, inline, immutable=immutable, shadows=defaults, caller=template)
    yield left(
        _GROUP, kind, f"{spec}.workflowTemplateRef",
        f"its pods are those of the template that {spec}.workflowTemplateRef names, which is placed where it stands "
        "in a stream; the patches and defaults that this object adds to them are not looked at",
    )  # fmt: skip
    for caller in (steps, tasks):
        yield left(
            _GROUP, kind, f"{caller}.templateRef",
            "the template that a templateRef names is placed where it stands in a stream",
        )  # fmt: skip
    for one in (template, f"{steps}.inline", f"{tasks}.inline"):
        yield left(
            _GROUP, kind, f"{one}.resource",
            "the manifest in a resource template is text that archfit does not read",
        )  # fmt: skip
    yield left(
        _GROUP, kind, f"{spec}.executorPlugins",
        "executor plugins run in the agent's pod, which Argo places by the fields of the workflow alone",
    )  # fmt: skip
    yield never(
        _GROUP, kind, "the agent's pod runs it, not those of the templates",
        f"{spec}.executorPlugins[*].spec.sidecar.container.image",
    )  # fmt: skip
    for loop in (f"{steps}.withItems", f"{tasks}.withItems"):
        yield never(_GROUP, kind, "it is a value for the templates, which name it as {{item}}", loop)


def _pods(
    kind: str, spec: str, one: str, *, immutable: bool, shadows: list[str], caller: str = ""
) -> Iterator[Workload]:
    """The pods of a template: one for each of container, script and containerSet, the first that it has."""
    defaults = f"{spec}.templateDefaults"
    unless: list[tuple[str, str]] = []
    for there, image in _MAIN.items():
        alternative = f"|{defaults}.{image}" if there != "containerSet" else f" {defaults}.{image}"
        yield row(
            _GROUP, kind, one, immutable=immutable, there=f"{one}.{there}", metadata=f"{one}.metadata",
            unless=tuple(unless),
            images=f"{one}.{image}{alternative}",
            also=f"{one}.initContainers[*].image {one}.sidecars[*].image {one}.volumes[*].image.reference "
            f"{defaults}.initContainers[*].image {defaults}.sidecars[*].image "
            f"{defaults}.volumes[*].image.reference {spec}.volumes[*].image.reference",
            patches=tuple(f"{at}.podSpecPatch" for at in (one, defaults, spec)),
            merges=(defaults,),
            inherits=(caller, spec) if caller else (spec,),
            shadows=shadows,
        )  # fmt: skip
        unless.append((f"{one}.{there}", ""))
