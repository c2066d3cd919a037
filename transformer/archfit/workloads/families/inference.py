"""Serving models and agents: KServe's LLM kinds, Seldon, Grove, AIBrix, role-based groups, NIM, agent sandboxes."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

_LLM = "template worker prefill.template prefill.worker router.scheduler.template router.scheduler.tokenizer.template"
_BASE = "the configurations that spec.baseRefs names are merged into it" + ANNOTATE
_MERGED = "an LLMInferenceService is merged with this configuration and may name other images" + ANNOTATE
_TEMPLATES = """
grove.io                PodCliqueSet       spec.template.cliques[*].spec.podSpec
grove.io                PodClique          spec.podSpec
orchestration.aibrix.ai PodSet             spec.template.spec
orchestration.aibrix.ai RoleSet            spec.roles[*].template.spec
orchestration.aibrix.ai StormService       spec.template.spec.roles[*].template.spec
agents.x-k8s.io         Sandbox            spec.podTemplate.spec
extensions.agents.x-k8s.io SandboxTemplate spec.podTemplate.spec
"""
_AIBRIX = """
orchestration.aibrix.ai RayClusterFleet,RayClusterReplicaSet spec.template.spec.headGroupSpec.template.spec
  spec.template.spec.autoscalerOptions.image
orchestration.aibrix.ai RayClusterFleet,RayClusterReplicaSet spec.template.spec.workerGroupSpecs[*].template.spec
orchestration.aibrix.ai KVCache spec.cache.template.spec spec.cache.image
orchestration.aibrix.ai KVCache spec.watcher.template.spec spec.watcher.image
orchestration.aibrix.ai KVCache spec.metadata.etcd.runtime.template.spec spec.metadata.etcd.runtime.image
orchestration.aibrix.ai KVCache spec.metadata.redis.runtime.template.spec spec.metadata.redis.runtime.image
"""
_NIM = """
apps.nvidia.com NIMService spec @.image.repository+tag @.initContainers[*].image.repository+tag
  @.sidecarContainers[*].image.repository+tag
apps.nvidia.com NIMPipeline spec.services[*].spec @.image.repository+tag
  @.initContainers[*].image.repository+tag @.sidecarContainers[*].image.repository+tag
apps.nvidia.com NemoDatastore,NemoEntitystore,NemoEvaluator,NemoGuardrail spec @.image.repository+tag
"""
_PREPACKAGED = "Seldon's configuration names the image of a prepackaged server" + ANNOTATE
_ROUTER = "expose.router.eppConfig.containerSpec.image"
_AGENTS = """
kagent.dev Agent,SandboxAgent spec.byo.deployment @.image @.extraContainers[*].image
"""
_GROUP = "roles[*].engineRuntimes[*].containers[*].image"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for path in _LLM.split():
        at = f"spec.{path}"
        for kind, unseen in (
            ("LLMInferenceService", ("spec.baseRefs", _BASE)),
            ("LLMInferenceServiceConfig", (f"{at}.containers", _MERGED)),
        ):
            yield row("serving.kserve.io", kind, at, metadata=None, there=at, unseen=(unseen,))
    yield left(
        "serving.kserve.io", "InferenceGraph", "spec", "KServe's controller chooses the image of its router"
    )
    yield from templates(_TEMPLATES)
    yield from parts(_AIBRIX, metadata=())
    yield from _seldon()
    yield from _role_based_groups()
    yield from parts(_NIM, "the NIM operator chooses it, or a part of it")
    for kind, spec in (
        ("NIMService", "spec"), ("NIMPipeline", "spec.services[*].spec"), ("NemoDatastore", "spec"),
        ("NemoEntitystore", "spec"), ("NemoEvaluator", "spec"), ("NemoGuardrail", "spec"),
    ):  # fmt: skip
        yield never("apps.nvidia.com", kind, "the router runs in pods of its own", f"{spec}.{_ROUTER}")
    yield from _agents()
    for kind, there in (
        ("Workspace", "inference"),
        ("Workspace", "tuning"),
        ("InferenceSet", "spec"),
        ("RAGEngine", "spec"),
    ):
        yield left("kaito.sh", kind, there, "Kaito writes an affinity of its own over that of its template")
    for kind in ("VLLMRuntime", "VLLMRouter", "CacheServer"):
        yield left(
            "production-stack.vllm.ai", kind, "spec",
            "it has nodeSelectorTerms in place of an affinity, and its image is joined of registry and name",
        )  # fmt: skip


def _seldon() -> Iterator[Workload]:
    group, kind, at = "machinelearning.seldon.io", "SeldonDeployment", "spec.predictors[*]"
    graph = " ".join(f"{at}.graph{'.children[*]' * depth}.storageInitializerImage" for depth in range(3))
    pod = f"{at}.componentSpecs[*].spec"
    prepackaged = tuple(
        (f"{at}.graph{'.children[*]' * depth}.implementation", _PREPACKAGED) for depth in range(3)
    )
    yield row(group, kind, pod, there=pod, images=graph, unseen=prepackaged)
    explainer = f"{at}.explainer"
    yield never(
        group, kind, "the explainer runs in a pod of its own, which has no placement",
        f"{explainer}.containerSpec.image {explainer}.storageInitializerImage",
    )  # fmt: skip
    yield left(group, kind, explainer, "the explainer runs in a pod of its own, which has no placement")


def _role_based_groups() -> Iterator[Workload]:
    for kind, spec in (
        ("RoleBasedGroup", "spec"),
        ("RoleBasedGroupSet", "spec.groupTemplate.spec"),
        ("RoleBasedGroupSet", "spec.template"),
    ):
        one = f"{spec}.roles[*]"
        for path in (
            f"{one}.template.spec", f"{one}.standalonePattern.template.spec",
            f"{one}.leaderWorkerPattern.template.spec",
            f"{one}.customComponentsPattern.components[*].template.spec", f"{spec}.roleTemplates[*].template.spec",
        ):  # fmt: skip
            yield row("workloads.x-k8s.io", kind, path, there=path, images=f"{spec}.{_GROUP}")


def _agents() -> Iterator[Workload]:
    yield from parts(_AGENTS, "kagent's controller chooses it")
    declared = "spec.declarative.deployment"
    for kind in ("Agent", "SandboxAgent"):
        yield row(
            "kagent.dev", kind, declared, there=declared, metadata=None, images=f"{declared}.extraContainers[*].image",
            unseen=((declared, "kagent's controller chooses the image of the agent"),),
        )  # fmt: skip
    yield row(
        "kagent.dev", "Agent", "spec.deployment", version="v1alpha1", there="spec.deployment", metadata=None,
        unseen=(("spec.deployment", "kagent's controller chooses the image of the agent"),),
        affinity=None, tolerations=None, node_selector=None,
        unplaced="an Agent of v1alpha1 has no place for affinity and tolerations",
    )  # fmt: skip
    yield row(
        "kagent.dev", "SandboxAgent", "spec.byo", version="v1alpha3", there="spec.byo", metadata=None,
        images="spec.byo.image", affinity=None, tolerations=None, node_selector=None,
        unplaced="a SandboxAgent of v1alpha3 has no place for affinity and tolerations",
    )  # fmt: skip
    for kind in ("MCPServer", "EmbeddingServer"):
        yield row(
            "toolhive.stacklok.dev", kind, "spec.podTemplateSpec.spec", there="spec", images="spec.image"
        )
