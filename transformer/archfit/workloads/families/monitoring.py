"""The Prometheus operator, whose objects are a pod spec with more of their own, and Grafana's."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, row


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    grafana = "spec.deployment.spec.template.spec"
    yield row(
        "grafana.integreatly.org", "Grafana", grafana, version="v1beta1", there="spec", main="grafana",
        unless=(("spec.external", ""),), default_image="the Grafana operator chooses it by spec.version",
    )  # fmt: skip
    yield left(
        "grafana.integreatly.org", "Grafana", "spec.external", "it describes a Grafana that runs elsewhere"
    )
    for kind, main in (
        ("Prometheus", "prometheus"),
        ("PrometheusAgent", "prometheus"),
        ("Alertmanager", "alertmanager"),
        ("ThanosRuler", "thanos-ruler"),
    ):
        thanos = " spec.thanos.image|spec.thanos.baseImage+tag" if kind == "Prometheus" else ""
        yield row(
            "monitoring.coreos.com", kind, "spec", there="spec", metadata="spec.podMetadata", main=main,
            images=f"spec.image|spec.baseImage+tag{thanos}",
            default_image="the Prometheus operator chooses it by spec.version",
        )  # fmt: skip
