"""Elastic Cloud on Kubernetes (ECK): a pod template for each part, images by version or in `spec.image`."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import row

_ECK = "the ECK operator chooses it by spec.version"
# ECK writes this for Elasticsearch as long as the pod template has no affinity.
_APART = {
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": {
                        "matchLabels": {"elasticsearch.k8s.elastic.co/cluster-name": "{metadata.name}"}
                    },
                    "topologyKey": "kubernetes.io/hostname",
                },
            }
        ]
    }
}


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for group, kind, there, main in (
        ("elasticsearch", "Elasticsearch", "spec.nodeSets[*]", "elasticsearch"),
        ("kibana", "Kibana", "spec", "kibana"),
        ("apm", "ApmServer", "spec", "apm-server"),
        ("enterprisesearch", "EnterpriseSearch", "spec", "enterprise-search"),
        ("maps", "ElasticMapsServer", "spec", "maps"),
        ("logstash", "Logstash", "spec", "logstash"),
        ("beat", "Beat", "spec.deployment", ""),
        ("beat", "Beat", "spec.daemonSet", ""),
        ("agent", "Agent", "spec.deployment", "agent"),
        ("agent", "Agent", "spec.daemonSet", "agent"),
        ("agent", "Agent", "spec.statefulSet", "agent"),
    ):
        yield row(
            f"{group}.k8s.elastic.co", kind, f"{there}.podTemplate.spec", there=there, main=main,
            images="spec.image", default_image=_ECK, default_affinity=_APART if kind == "Elasticsearch" else "",
        )  # fmt: skip
