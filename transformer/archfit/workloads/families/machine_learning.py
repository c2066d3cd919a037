"""Models and agents: Kubeflow, Ray, Knative Serving, KServe, Seldon, NIM.

Knative refuses affinity, tolerations and nodeSelector unless a flag allows each, so that only what a pod cannot run
without is written; KServe's serverless mode makes Knative Services.
"""

from __future__ import annotations

from archfit.base.patch import dotted, undotted
from archfit.options.placement_fields import TERMS
from archfit.options.settings import Lender
from archfit.workloads.families.notation import Draft, left, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LLM = "template worker prefill.template prefill.worker router.scheduler.template router.scheduler.tokenizer.template"
_BASE = "the configurations that spec.baseRefs names are merged into it" + ANNOTATE
_CONFIG_MERGED = (
    "an LLMInferenceService is merged with this configuration and may name other images" + ANNOTATE
)
_TEMPLATES = """
kubeflow.org             PyTorchJob               spec.pytorchReplicaSpecs.*.template.spec
kubeflow.org             MPIJob                   spec.mpiReplicaSpecs.*.template.spec
kubeflow.org             TFJob                    spec.tfReplicaSpecs.*.template.spec
kubeflow.org             XGBoostJob               spec.xgbReplicaSpecs.*.template.spec
kubeflow.org             PaddleJob                spec.paddleReplicaSpecs.*.template.spec
kubeflow.org             JAXJob                   spec.jaxReplicaSpecs.*.template.spec
kubeflow.org             Notebook                 spec.template.spec
ray.io                  RayJob             spec.submitterPodTemplate.spec
ray.io                  RayCronJob         spec.jobTemplate.submitterPodTemplate.spec
"""
_NIM = """
apps.nvidia.com NIMService spec @.image.repository+tag @.initContainers[*].image.repository+tag
  @.sidecarContainers[*].image.repository+tag
apps.nvidia.com NIMPipeline spec.services[*].spec @.image.repository+tag
  @.initContainers[*].image.repository+tag @.sidecarContainers[*].image.repository+tag
"""
_PREPACKAGED = "Seldon's configuration names the image of a prepackaged server" + ANNOTATE
_EXPLAINER = "the explainer runs in a pod of its own, which has no placement"
_KSERVE = "serving.kserve.io"
_FLAGS = (
    "Knative accepts affinity and tolerations only with the flags kubernetes.podspec-affinity, "
    "kubernetes.podspec-tolerations and kubernetes.podspec-nodeselector enabled in the ConfigMap config-features"
)
_SPREAD = (
    "Knative's default, which spreads the pods of a revision over the nodes (default-affinity-type in the ConfigMap "
    "config-deployment), ends with an affinity of one's own"
)
_SERVING_RUNTIMES = "ServingRuntime", "ClusterServingRuntime"
_TRAINING_RUNTIMES = "TrainingRuntime", "ClusterTrainingRuntime"
_MESH = (
    "ModelMesh adds a term of its own for kubernetes.io/arch beside those of the runtime, so that a pod may go where "
    "either holds, and containers of its own: write kubernetes.io/arch into spec.nodeSelector"
)
_IN_MESH = "in ModelMesh mode it has no pods of its own: its serving runtime is placed"
_MERGED_CONTAINERS = "kserve-container", "transformer-container", "worker-container"
_RUNTIME_NAMES = "the serving runtime of the model names it"
_RUNTIME_LOST = (
    "terms of a predictor replace those of its serving runtime, and tolerations its tolerations; the runtime is not in "
    "the stream: add to the predictor what the runtime says"
)
_WAITS = "the training operator adds an init container, whose image its flags name" + ANNOTATE
_INITIALIZER = "KServe's configuration names the image of the storage initializer" + ANNOTATE
_AGENT = "KServe's configuration names the image of its agent" + ANNOTATE
_URI = "env.=STORAGE_URI.value"
_ROUTING = "KServe's configuration names the image of the routing sidecar" + ANNOTATE
_CONFIG_TERMS = (
    "terms of an LLMInferenceService replace those of its configurations (LLMInferenceServiceConfig, KServe's own too);"
    " add what they say"
)
_TRAINED = "its training runtime names it"
_OVERRIDES = (
    "the pods that run this image are placed by their runtime, and archfit adds no item to what a TrainJob changes of "
    "it: name the architecture there, for the job that trains, in spec.runtimePatches (since Trainer 2.2), "
    "spec.podTemplateOverrides (2.1) or spec.podSpecOverrides (2.0)"
)
_JOB = "spec.template.spec.replicatedJobs[*].template"
_JOB_NAMES = "spec.template.spec.replicatedJobs[*].name"
_PATCHED = "spec.runtimePatches[*].trainingRuntimeSpec"
# Releases share an apiVersion (2.2, 2.1): where a TrainJob changes pods of its runtime, and where it names their jobs.
_CHANGED_PODS = {
    f"{_PATCHED}.{_JOB[5:]}.spec.template.spec": f"{_PATCHED}.{_JOB_NAMES[5:]}",
    "spec.podTemplateOverrides[*].spec": "spec.podTemplateOverrides[*].targetJobs[*].name",
}
_RUNTIME_MERGED = "an InferenceService is merged with this runtime and may name other images" + ANNOTATE
_RUNTIME = "the containers of its serving runtime run beside it" + ANNOTATE
_RUNTIMES = (
    "model huggingface lightgbm onnx paddle pmml pytorch sklearn tensorflow triton xgboost".split()  # noqa: SIM905
)
_REPLACED = "spec.trainer.image of a TrainJob replaces the image of this container" + ANNOTATE
_SUBMITTER = (
    "KubeRay runs the head's image in a pod that submits the job, without affinity or tolerations; write "
    "{}.submitterPodTemplate, with its container, and archfit places that pod too"
)
_LEFT = """
serving.kserve.io InferenceGraph spec: KServe's controller chooses the image of its router
kaito.sh Workspace inference: Kaito writes an affinity of its own over that of its template
kaito.sh Workspace tuning: Kaito writes an affinity of its own over that of its template
kaito.sh InferenceSet,RAGEngine spec: Kaito writes an affinity of its own over that of its template
trainer.kubeflow.org TrainJob spec.podSpecOverrides[*].tolerations: they take the place of the tolerations of the
  training runtime, and archfit cannot tell what the pods need: write the toleration of their nodes there too
production-stack.vllm.ai VLLMRuntime,VLLMRouter,CacheServer spec: it has nodeSelectorTerms in place of an affinity,
  and its image is joined of registry and name
"""
_NEVER = """
apps.nvidia.com NIMService spec.expose.router.eppConfig.containerSpec.image: the router runs in pods of its own
apps.nvidia.com NIMPipeline spec.services[*].spec.expose.router.eppConfig.containerSpec.image: the router runs in pods
  of its own
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield from _training_operator()
    yield from _kubeflow_trainer()
    yield from _ray()
    yield from _knative()
    yield from _kserve()
    yield from _seldon()
    yield from parts(_NIM, "the NIM operator chooses it, or a part of it")
    yield row("kubeflow.org", "Experiment", objects="spec.trialTemplate.trialSpec", immutable=True)
    yield from left(_LEFT)
    yield from never(_NEVER)


def _seldon() -> Iterator[Draft]:
    group, kind, at = "machinelearning.seldon.io", "SeldonDeployment", "spec.predictors[*]"
    graph = " ".join(f"{at}.graph{'.children[*]' * depth}.storageInitializerImage" for depth in range(3))
    pod = f"{at}.componentSpecs[*].spec"
    prepackaged = tuple(
        (f"{at}.graph{'.children[*]' * depth}.implementation", _PREPACKAGED) for depth in range(3)
    )
    yield row(group, kind, pod, there=pod, images=graph, unseen=prepackaged)
    explainer = f"{at}.explainer"
    yield from never(
        f"{group} {kind} {explainer}.containerSpec.image {explainer}.storageInitializerImage: {_EXPLAINER}"
    )
    yield from left(f"{group} {kind} {explainer}: {_EXPLAINER}")


def _knative() -> Iterator[Draft]:
    for kind in ("Service", "Configuration"):
        yield row(
            "serving.knative.dev", kind, "spec.template.spec", there="spec.template.spec",
            needed_only=_FLAGS, default_affinity=_SPREAD,
        )  # fmt: skip


def _kserve() -> Iterator[Draft]:
    for path in _LLM.split():
        at = f"spec.{path}"
        routed = (("spec.prefill", _ROUTING),) if path in ("template", "worker") else ()
        yield row(
            _KSERVE, "LLMInferenceService", at, metadata=None, there=at,
            unseen=(("spec.baseRefs", _BASE), *routed), default_affinity=_CONFIG_TERMS,
            models=() if "router" in path else (("spec.model.uri", _INITIALIZER),),
        )  # fmt: skip
        yield row(
            _KSERVE, "LLMInferenceServiceConfig", at, metadata=None, there=at,
            replaceable=(("main", _CONFIG_MERGED),), unseen=((f"{at}.containers", _CONFIG_MERGED),),
        )  # fmt: skip
    kserve: dict[str, Any] = {"metadata": None, "needed_only": f"in KServe's serverless mode, {_FLAGS}"}
    for kind in _SERVING_RUNTIMES:
        yield from left(f"{_KSERVE} {kind} spec.multiModel=true: {_MESH}")
        for there in ("spec", "spec.workerSpec"):
            yield row(
                _KSERVE, kind, there, there=there, unless=(("spec.multiModel", "true"),),
                replaceable=tuple((name, _RUNTIME_MERGED) for name in _MERGED_CONTAINERS), **kserve,
            )  # fmt: skip
    mode = ("metadata", "annotations", f"{_KSERVE}/deploymentMode")
    kserve["accepts"] = ((mode, "Standard"), (mode, "RawDeployment"))
    in_mesh = (mode, "ModelMesh")
    yield row(_KSERVE, "InferenceService", there=mode, only=in_mesh[1], reason=_IN_MESH)
    for at in ("spec.predictor", "spec.canary[*].predictor"):
        images = " ".join(f"{at}.{name}.image" for name in _RUNTIMES)
        formats = tuple(f"{at}.{name}" for name in _RUNTIMES)
        helpers = tuple((f"{at}.{name}", _AGENT) for name in ("logger", "batcher"))
        face = ((f"{at}.model.modelFormat.name", "huggingface"),)
        for when, unless, unfetched in (((), face, formats), (face, (), ())):
            barred: dict[str, Any] = {"when": when, "unless": (*unless, in_mesh)}
            # Hugging Face's server gets a model without KServe.
            without = tuple((one, _AGENT) for one in unfetched if not one.endswith(".huggingface"))
            yield row(
                _KSERVE, "InferenceService", at, there=at, images=images, default_image=_RUNTIME_NAMES,
                unseen=(*((one, _RUNTIME) for one in formats), *helpers),
                models=_stored(at, formats), unfetched=without,
                lender=_serving_runtime(at, "spec", "kserve-container", f"{at}.model.image"), **barred, **kserve,
            )  # fmt: skip
            yield row(
                _KSERVE, "InferenceService", f"{at}.workerSpec", there=f"{at}.workerSpec",
                unseen=((f"{at}.workerSpec", _RUNTIME), *helpers), models=_stored(at, formats), unfetched=without,
                lender=_serving_runtime(at, "spec.workerSpec", "worker-container", ""), **barred, **kserve,
            )  # fmt: skip
    kserve["unless"] = (in_mesh,)
    at = "spec.transformer"
    yield row(
        _KSERVE, "InferenceService", at, there=at, models=_stored(at),
        unseen=tuple((f"{at}.{name}", _AGENT) for name in ("logger", "batcher")), **kserve,
    )  # fmt: skip
    at = "spec.explainer"
    yield row(
        _KSERVE, "InferenceService", at, there=at, images=f"{at}.art.image", models=_stored(at, (f"{at}.art",)),
        unseen=((f"{at}.logger", _AGENT),), default_image="KServe's configuration names it", **kserve,
    )  # fmt: skip


def _stored(at: str, formats: tuple[str, ...] = ()) -> tuple[tuple[str, str], ...]:
    """Where the pod of a component says from where its model comes. formats: the mappings of models."""
    named = (f"{one}.{where}" for one in formats for where in ("storageUri", "storage"))
    return tuple(
        (path, _INITIALIZER) for path in (*named, f"{at}.storageUris[*].uri", f"{at}.containers[*].{_URI}")
    )


def _serving_runtime(at: str, spec: str, main: str, stated: str) -> Lender:
    """The ServingRuntime of a model; spec: its pod spec."""
    return Lender(
        _KSERVE, _SERVING_RUNTIMES, undotted(f"{at}.model.runtime"), undotted(spec),
        (_RUNTIME, _RUNTIME_NAMES + ANNOTATE), main, undotted(stated) if stated else (),
        (undotted(f"{at}.model.runtimeVersion"),), lost=_RUNTIME_LOST,
    )  # fmt: skip


def _training_operator() -> Iterator[Draft]:
    """Workers wait for their master, and a launcher for kubectl, in containers that the operator adds."""
    for kind, replicas, waiting, awaited in (
        ("PyTorchJob", "spec.pytorchReplicaSpecs", "Worker", "Master"),
        ("MPIJob", "spec.mpiReplicaSpecs", "Launcher", "Launcher"),
    ):
        pod = f"{replicas}.{waiting}.template.spec"
        yield row("kubeflow.org", kind, pod, there=pod, unseen=((f"{replicas}.{awaited}", _WAITS),))


def _kubeflow_trainer() -> Iterator[Draft]:
    """A TrainJob replaces the container `node` of the job whose template says that it trains, and no other one.

    Source: kubeflow/trainer, pkg/runtime/framework/plugins/jobset/builder.go (Trainer).
    """
    pod = f"{_JOB}.spec.template.spec"
    trains = (*undotted(f"{_JOB}.metadata.labels"), "trainer.kubeflow.org/trainjob-ancestor-step"), "trainer"
    for kind in _TRAINING_RUNTIMES:
        yield row("trainer.kubeflow.org", kind, pod, when=(trains,), replaceable=(("node", _REPLACED),))
        yield row("trainer.kubeflow.org", kind, pod, unless=(trains,))
    runtime = Lender(
        "trainer.kubeflow.org", _TRAINING_RUNTIMES, ("spec", "runtimeRef", "name"), undotted(pod),
        (_TRAINED + ANNOTATE,), "node", ("spec", "trainer", "image"), when=trains,
    )  # fmt: skip
    yield row(
        "trainer.kubeflow.org", "TrainJob", "spec", there="spec", metadata=None, immutable=True,
        affinity=None, tolerations=None, node_selector=None,
        images="spec.trainer.image", default_image=_TRAINED, lender=runtime.replace(alone=True),
        unplaced=_OVERRIDES,
        also=[f"{pod}.volumes[*].image.reference" for pod in (*_CHANGED_PODS, "spec.podSpecOverrides[*]")],
    )  # fmt: skip
    for pod, jobs in _CHANGED_PODS.items():
        yield from _changed(pod, runtime.replace(named=(undotted(jobs), undotted(_JOB_NAMES))))


def _changed(pod: str, runtime: Lender) -> Iterator[Draft]:
    """Lists of terms and tolerations in a TrainJob take the place of those of the jobs that it names.

    Source: kubeflow/trainer, pkg/runtime/core/trainingruntime.go (mergeRuntimePatches, mergePodTemplateOverrides: a
    strategic merge).
    """
    terms, tolerations = (f"{pod}.{dotted(TERMS)}", ""), (f"{pod}.tolerations", "")
    for conditions in ({"when": (terms,)}, {"unless": (terms,), "when": (tolerations,)}):
        yield row(
            "trainer.kubeflow.org", "TrainJob", pod, there=pod, immutable=True, unseen=((pod, _TRAINED + ANNOTATE),),
            lender=runtime, **conditions,
        )  # fmt: skip


def _ray() -> Iterator[Draft]:
    for kind, cluster in (
        ("RayCluster", "spec"),
        ("RayJob", "spec.rayClusterSpec"),
        ("RayService", "spec.rayClusterConfig"),
        ("RayCronJob", "spec.jobTemplate.rayClusterSpec"),
    ):
        yield from _ray_pods(kind, cluster)
    yield _submitter("RayJob", "spec")
    yield _submitter("RayCronJob", "spec.jobTemplate")


def _ray_pods(kind: str, cluster: str) -> Iterator[Draft]:
    """The pods of a RayClusterSpec; the collector of the history server is a container of each."""
    collector = f"{cluster}.historyServerOptions.collectorOptions.image"
    head, worker = f"{cluster}.headGroupSpec.template.spec", f"{cluster}.workerGroupSpecs[*].template.spec"
    yield row("ray.io", kind, head, there=head, also=f"{cluster}.autoscalerOptions.image {collector}")
    yield row("ray.io", kind, worker, there=worker, also=collector)


def _submitter(kind: str, job: str) -> Draft:
    """The pod that submits a job, where the user writes none (submissionMode K8sJobMode, the default)."""
    head = f"{job}.rayClusterSpec.headGroupSpec.template"
    return row(
        "ray.io", kind, f"{head}.spec", there=f"{head}.spec", immutable=True,
        affinity=None, tolerations=None, node_selector=None,
        images=f"{head}.spec.containers[*].image",
        unless=(
            (f"{job}.submitterPodTemplate", ""),
            *((f"{job}.submissionMode", mode) for mode in ("HTTPMode", "InteractiveMode", "SidecarMode")),
        ),
        unplaced=_SUBMITTER.format(job),
    )  # fmt: skip
