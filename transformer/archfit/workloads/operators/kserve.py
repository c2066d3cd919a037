"""KServe merges a predictor over its serving runtime, gets its model, and adds a logger and a batcher.

Lists of terms and tolerations in a predictor replace those of the runtime. The storage initializer gets a model, where
its URI names no volume, and the agent where no URI does; Hugging Face's server gets one without KServe. In the
serverless mode Knative Services hold the pods, see `knative`.

Source: kserve v0.16.0, pkg/webhook/admission/pod, pkg/controller/v1beta1/inferenceservice (components, and MergePodSpec
of utils).
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.options.settings import ANNOTATE
from archfit.workloads.operator_hooks import OperatorHooks, Placement, RowMatch
from archfit.workloads.operators.knative import FLAGS
from archfit.workloads.patterns import get, matches
from archfit.workloads.pods import ImageUse, Lender, PlacementPaths
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_FLAGS = f"in KServe's serverless mode, {FLAGS}"
_MODE: Path = ("metadata", "annotations", "serving.kserve.io/deploymentMode")
_INITIALIZER = "KServe's configuration names the image of the storage initializer" + ANNOTATE
_AGENT = "KServe's configuration names the image of its agent" + ANNOTATE
# The fields of a component that may hold a model.
_AGENT_GETS = (
    "model", "lightgbm", "onnx", "paddle", "pmml", "pytorch", "sklearn", "tensorflow", "triton", "xgboost",
)  # fmt: skip
_MODELS = {"predictor": ("model", "huggingface", *_AGENT_GETS[1:]), "explainer": ("art",)}
_RUNTIME = Lender(
    "serving.kserve.io",
    ("ServingRuntime", "ClusterServingRuntime"),
    (),
    ("spec",),
    (
        "the containers of its serving runtime run beside it" + ANNOTATE,
        "the serving runtime of the model names it" + ANNOTATE,
    ),
    main="kserve-container",
    lost="terms of a predictor replace those of its serving runtime, and tolerations its tolerations; the runtime is "
    "not in the stream: add to the predictor what the runtime says",
)
_MERGED = "an InferenceService is merged with this runtime and may name other images" + ANNOTATE
_MERGED_CONTAINERS = dict.fromkeys(("kserve-container", "transformer-container", "worker-container"), _MERGED)
_CONFIGURED = {
    "main": "an LLMInferenceService is merged with this configuration and may name other images" + ANNOTATE
}


def _component(match: RowMatch) -> Path:
    return match.path[:-1] if match.path[-1] == "workerSpec" else match.path


def _models(match: RowMatch) -> Iterator[ImageUse]:
    component = _component(match)
    name = str(component[-1])
    fields = [
        *((field, key) for field in _MODELS.get(name, ()) for key in ("storageUri", "storage")),
        ("storageUris", "*", "uri"),
        ("containers", "*", "env", "=STORAGE_URI", "value"),
    ]
    uris = [uri for field in fields for uri in matches(match.value, (*component, *field))]
    yield from _fetched(uris)
    if name == "predictor" and not uris and not _fetches_itself(match.value, component):
        for field in _AGENT_GETS:
            if get(match.value, (*component, field)) is not None:
                yield ImageUse((*component, field), None, unasked=_AGENT)


def _fetches_itself(value: dict[str, Any], component: Path) -> bool:
    return text_of(get(value, (*component, "model", "modelFormat", "name"))) == "huggingface"


def _fetched(uris: list[tuple[Path, Any]]) -> Iterator[ImageUse]:
    for path, uri in uris:
        text = text_of(uri)
        if text.startswith("oci://"):
            yield ImageUse(path, text.removeprefix("oci://"))
        elif not text.startswith("pvc://"):
            yield ImageUse(path, None, unasked=_INITIALIZER)


def _llm_models(match: RowMatch) -> Iterator[ImageUse]:
    if match.path[1] != "router":
        yield from _fetched([*matches(match.value, ("spec", "model", "uri"))])


def _placement(match: RowMatch, spec: dict[str, Any], paths: PlacementPaths) -> Placement:
    if text_of(get(match.value, _MODE)) in ("Standard", "RawDeployment"):
        paths = paths.replace(needed_only="")
    component = _component(match)
    if component[-1] != "predictor":
        return spec, paths
    model = (*component, "model")
    runtime = _RUNTIME.replace(name=(*model, "runtime"), changes=((*model, "runtimeVersion"),))
    if component == match.path:
        runtime = runtime.replace(stated=(*model, "image"))
    else:
        runtime = runtime.replace(pod_spec=("spec", "workerSpec"), main="worker-container")
    return spec, paths.replace(lender=runtime)


KINDS = {
    **dict.fromkeys(
        ("ClusterServingRuntime", "ServingRuntime"),
        OperatorHooks(replaceable=lambda _: _MERGED_CONTAINERS, needed_only=_FLAGS),
    ),
    "InferenceService": OperatorHooks(images=_models, placement=_placement, needed_only=_FLAGS),
    "LLMInferenceService": OperatorHooks(images=_llm_models),
    "LLMInferenceServiceConfig": OperatorHooks(replaceable=lambda _: _CONFIGURED),
}
