"""Workflows, their triggers and rollouts: Argo and Tekton.

A submitted Argo Workflow and a started run of Tekton cannot change.

    templates[*]                              a pod for each that has container, script or containerSet
    templates[*].steps[*][*].inline           the same, one level below its caller; deeper ones are unread
    templates[*].dag.tasks[*].inline
    templateDefaults                          merged into each template: images of the kind that the template has

The first of these that has the field decides the placement: the template, `templateDefaults`, its callers, the spec,
into which `workflowDefaults` of the controller are merged. Argo adds its executor to every pod.

Tekton: steps hold the images, pod templates of runs the placement, what they lack `default-pod-template` of the
controller. A step without an image takes that of `stepTemplate`. Tasks of a pipeline run in pods of their own with one
template, so that the images of all of them count. Tekton adds its entrypoint to every pod.

Source: argo-workflows, workflow/controller/workflowpod.go (addSchedulingConstraints), workflow/util/merge.go;
tektoncd/pipeline, pkg/apis/pipeline/pod/template.go (MergePodTemplateWithDefault), pkg/pod/pod.go.
"""

from __future__ import annotations

from archfit.workloads.families.notation import Draft, left, never, row, templates
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ARGO, _TEKTON = "argoproj.io", "tekton.dev"
_FIELDS = ("affinity", "tolerations", "nodeSelector")
_MAIN = {
    "container": "container.image",
    "script": "script.image",
    "containerSet": "containerSet.containers[*].image",
}
_EXECUTOR = "Argo adds its executor" + ANNOTATE
_ENTRYPOINT = "Tekton adds its entrypoint" + ANNOTATE
_WORKFLOW_DEFAULTS = (
    "from here on nothing of the controller's workflowDefaults reaches this field of the pod; what they set there, "
    "write here, too"
)
_CALLERS = (
    "from here on nothing of workflowDefaults, nor of the workflows that call this template, reaches this field of the "
    "pod; what they set there, write here, too"
)
_POD_TEMPLATE = (
    "from here on nothing of Tekton's default-pod-template reaches this field of the pod; what it sets there, write "
    "here, too"
)
_TEMPLATES = """
argoproj.io  Rollout                              spec.template.spec
argoproj.io  Experiment                           spec.templates[*].template.spec
argoproj.io  AnalysisTemplate,AnalysisRun         spec.metrics[*].provider.job.spec.template.spec
argoproj.io  ClusterAnalysisTemplate              spec.metrics[*].provider.job.spec.template.spec
"""
_ARGO_CD = "Argo CD renders its sources in the cluster: archfit runs there as a plugin (archfit setup argocd)"
_REFERRED = "its steps are in the task or pipeline that it refers to" + ANNOTATE
_NESTED = "its steps are in a pipeline inside of a pipeline" + ANNOTATE
_LEFT = """
argoproj.io Rollout spec.workloadRef: its pods are those of the workload in spec.workloadRef, which is placed where it
  stands in a stream
argoproj.io EventBus spec: the controller of Argo Events chooses its images by version
argoproj.io ArgoCD spec: spec.nodePlacement has no affinity, and the Argo CD operator joins images and versions of its
  own
argoproj.io ArgoCDExport spec: its schema has no place for affinity and tolerations
tekton.dev Task,ClusterTask,StepAction,Pipeline spec: Tekton places the pods of a task where its TaskRun or
  PipelineRun says (podTemplate), never in the task
triggers.tekton.dev EventListener spec: the controller of Tekton Triggers chooses its image, whatever
  spec.resources says of its pods
"""
_NEVER = """
argoproj.io Application operation spec.source spec.sources spec.sourceHydrator: it runs in what Argo CD renders
argoproj.io ApplicationSet spec.generators spec.template: it runs in what Argo CD renders
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield from _workflows("Workflow", "spec", immutable=True)
    yield from _workflows("WorkflowTemplate", "spec", immutable=False)
    yield from _workflows("ClusterWorkflowTemplate", "spec", immutable=False)
    yield from _workflows("CronWorkflow", "spec.workflowSpec", immutable=False)
    yield from _events()
    yield from _tekton()
    yield row("triggers.tekton.dev", "TriggerTemplate", objects="spec.resourcetemplates[*]")
    yield from left(_LEFT)
    yield from never(_NEVER)
    for source in ("source", "sources[*]"):
        for tool in ("helm", "kustomize"):
            yield from left(f"{_ARGO} Application spec.{source}.{tool}: {_ARGO_CD}")
            yield from left(f"{_ARGO} ApplicationSet spec.template.spec.{source}.{tool}: {_ARGO_CD}")


def _workflows(kind: str, spec: str, *, immutable: bool) -> Iterator[Draft]:
    template = f"{spec}.templates[*]"
    steps, tasks = f"{template}.steps[*][*]", f"{template}.dag.tasks[*]"
    callers = [f"{template}.steps", f"{template}.dag"]
    defaults = [f"{spec}.templateDefaults.{field}" for field in _FIELDS]
    yield from _pods(kind, spec, template, immutable=immutable, shadows=[*callers, *defaults])
    for inline in (f"{steps}.inline", f"{tasks}.inline"):
        yield from _pods(kind, spec, inline, immutable=immutable, shadows=defaults, caller=template)
    yield from left(f"""
{_ARGO} {kind} {spec}.workflowTemplateRef: its pods are those of the template that {spec}.workflowTemplateRef names,
  which is placed where it stands in a stream; the patches and defaults that this object adds to them are not looked at
{_ARGO} {kind} {spec}.executorPlugins: executor plugins run in the agent's pod, which Argo places by the fields of the
  workflow alone
""")
    for caller in (steps, tasks):
        yield from left(
            f"{_ARGO} {kind} {caller}.templateRef: "
            "the template that a templateRef names is placed where it stands in a stream"
        )
    for one in (template, f"{steps}.inline", f"{tasks}.inline"):
        yield from left(
            f"{_ARGO} {kind} {one}.resource: the manifest in a resource template is text that archfit does not read"
        )
    yield from never(f"""
{_ARGO} {kind} {spec}.executorPlugins[*].spec.sidecar.container.image: the agent's pod runs it, not those of the
  templates
{_ARGO} {kind} {steps}.withItems {tasks}.withItems: it is a value for the templates, which name it as {{{{item}}}}
""")


def _pods(
    kind: str, spec: str, one: str, *, immutable: bool, shadows: list[str], caller: str = ""
) -> Iterator[Draft]:
    """The pods of a template: one for each of container, script and containerSet, the first that it has."""
    defaults = f"{spec}.templateDefaults"
    unless: list[tuple[str, str]] = []
    for there, image in _MAIN.items():
        alternative = f"|{defaults}.{image}" if there != "containerSet" else f" {defaults}.{image}"
        yield row(
            _ARGO, kind, one, immutable=immutable, there=f"{one}.{there}", metadata=f"{one}.metadata",
            unless=tuple(unless), added=(("wait", _EXECUTOR),),
            outside=_CALLERS if "Template" in kind else _WORKFLOW_DEFAULTS,
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


def _events() -> Iterator[Draft]:
    for kind in ("Sensor", "EventSource"):
        yield row(
            _ARGO, kind, "spec.template", there="spec.template.container", metadata="spec.template.metadata",
            images="spec.template.container.image",
        )  # fmt: skip
    for trigger in ("k8s", "argoWorkflow"):
        at = f"spec.triggers[*].template.{trigger}"
        yield row(
            _ARGO, "Sensor", objects=f"{at}.source.resource",
            filled=(
                (f"{at}.parameters[*].dest", f"{at}.source.resource"),
                ("spec.triggers[*].parameters[*].dest", "spec.triggers[*].template"),
            ),
        )  # fmt: skip
    yield row(
        _ARGO, "EventSource", there="spec", unless=(("spec.template.container.image", ""),),
        reason="the controller of Argo Events chooses its image",
    )  # fmt: skip


def _tekton() -> Iterator[Draft]:
    run = "spec.taskSpec"
    yield row(
        _TEKTON, "TaskRun", "spec.podTemplate", there="spec", immutable=True, metadata=None, images=_images(run),
        unseen=(("spec.taskRef", _REFERRED), (f"{run}.steps[*].ref", _REFERRED)),
        added=(("prepare", _ENTRYPOINT),), outside=_POD_TEMPLATE,
    )  # fmt: skip
    yield from _pipeline_runs("v1", "spec.taskRunTemplate.podTemplate", "podTemplate")
    yield from _pipeline_runs("v1beta1", "spec.podTemplate", "taskPodTemplate")


def _images(at: str) -> str:
    return (
        f"{at}.steps[*].image|{at}.stepTemplate.image {at}.sidecars[*].image {at}.volumes[*].image.reference"
    )


def _pipeline_runs(version: str, template: str, own: str) -> Iterator[Draft]:
    tasks = [f"spec.pipelineSpec.{name}[*]" for name in ("tasks", "finally")]
    shared = {
        "version": version, "immutable": True, "metadata": None,
        "images": " ".join(_images(f"{at}.taskSpec") for at in tasks),
        "outside": _POD_TEMPLATE,
        "added": (("prepare", _ENTRYPOINT),),
        "unseen": (
            ("spec.pipelineRef", _REFERRED),
            *((f"{at}.taskRef", _REFERRED) for at in tasks),
            *((f"{at}.taskSpec.steps[*].ref", _REFERRED) for at in tasks),
            *((f"{at}.pipelineRef", _REFERRED) for at in tasks),
            *((f"{at}.pipelineSpec", _NESTED) for at in tasks),
        ),
    }  # fmt: skip
    yield row(_TEKTON, "PipelineRun", template, there="spec", **shared)
    one = f"spec.taskRunSpecs[*].{own}"
    yield row(_TEKTON, "PipelineRun", one, there=one, inherits=(template,), **shared)
