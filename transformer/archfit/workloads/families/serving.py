"""Knative Serving and KServe, whose serverless mode makes Knative Services.

Knative refuses affinity, tolerations and nodeSelector unless a flag allows each, so that only what a pod cannot run
without is written.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import row
from archfit.workloads.pods import ANNOTATE

_KSERVE = "serving.kserve.io"
_FLAGS = (
    "Knative accepts affinity and tolerations only with the flags kubernetes.podspec-affinity, "
    "kubernetes.podspec-tolerations and kubernetes.podspec-nodeselector enabled in the ConfigMap config-features"
)
_SPREAD = (
    "Knative's default, which spreads the pods of a revision over the nodes (default-affinity-type in the ConfigMap "
    "config-deployment), ends with an affinity of one's own"
)
_MERGED = "an InferenceService is merged with this runtime and may name other images" + ANNOTATE
_RUNTIME = "the containers of its serving runtime run beside it" + ANNOTATE
_RUNTIMES = (
    "model huggingface lightgbm onnx paddle pmml pytorch sklearn tensorflow triton xgboost".split()  # noqa: SIM905
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for kind in ("Service", "Configuration"):
        yield row(
            "serving.knative.dev", kind, "spec.template.spec", there="spec.template.spec",
            needed_only=_FLAGS, default_affinity=_SPREAD,
        )  # fmt: skip
    kserve = {"metadata": None, "needed_only": f"in KServe's serverless mode, {_FLAGS}"}
    for kind in ("ServingRuntime", "ClusterServingRuntime"):
        for there in ("spec", "spec.workerSpec"):
            yield row(
                _KSERVE, kind, there, there=there, unseen=((f"{there}.containers", _MERGED),), **kserve
            )  # fmt: skip
    for at in ("spec.predictor", "spec.canary[*].predictor"):
        yield row(
            _KSERVE, "InferenceService", at, there=at, images=" ".join(f"{at}.{name}.image" for name in _RUNTIMES),
            default_image="the serving runtime of the model names it",
            unseen=tuple((f"{at}.{name}", _RUNTIME) for name in _RUNTIMES), **kserve,
        )  # fmt: skip
        yield row(_KSERVE, "InferenceService", f"{at}.workerSpec", there=f"{at}.workerSpec", **kserve)
    yield row(_KSERVE, "InferenceService", "spec.transformer", there="spec.transformer", **kserve)
    explainer = "spec.explainer"
    yield row(
        _KSERVE, "InferenceService", explainer, there=explainer, images=f"{explainer}.art.image",
        default_image="KServe's configuration names it", **kserve,
    )  # fmt: skip
