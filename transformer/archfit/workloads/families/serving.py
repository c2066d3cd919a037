"""Knative Serving and KServe."""

from __future__ import annotations

from archfit.workloads.families.notation import row, templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload

_KNATIVE = (
    "Knative accepts affinity and tolerations only with the flags kubernetes.podspec-affinity, "
    "kubernetes.podspec-tolerations and kubernetes.podspec-nodeselector enabled in the ConfigMap config-features"
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates("serving.kserve.io ServingRuntime,ClusterServingRuntime spec")
    for kind in ("Service", "Configuration"):
        yield row(
            "serving.knative.dev", kind, "spec.template.spec", there="spec.template.spec", note=_KNATIVE
        )
    kserve = {"metadata": None, "note": _KNATIVE + " (in KServe's serverless mode)"}
    runtimes = ("model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx")
    yield row(
        "serving.kserve.io", "InferenceService", "spec.predictor", there="spec.predictor", main="kserve-container",
        images="|".join(f"spec.predictor.{name}.image" for name in runtimes),
        default_image="the serving runtime of the model names it", **kserve,
    )  # fmt: skip
    for part in ("transformer", "explainer"):
        at = f"spec.{part}"
        yield row("serving.kserve.io", "InferenceService", at, there=at, **kserve)
