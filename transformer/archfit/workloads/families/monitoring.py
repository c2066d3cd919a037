"""The Prometheus operator, whose objects are a pod spec with more of their own, and Grafana's."""

from __future__ import annotations

from archfit.workloads.families.notation import row, templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates("grafana.integreatly.org Grafana spec.deployment.spec.template.spec")
    for kind, main in (
        ("Prometheus", "prometheus"),
        ("PrometheusAgent", "prometheus"),
        ("Alertmanager", "alertmanager"),
        ("ThanosRuler", "thanos-ruler"),
    ):
        yield row(
            "monitoring.coreos.com", kind, "spec", there="spec", metadata="spec.podMetadata", main=main,
            images="spec.image" + (" spec.thanos.image" if kind == "Prometheus" else ""),
            default_image="the Prometheus operator chooses it by spec.version",
        )  # fmt: skip
