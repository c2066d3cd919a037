"""Which workloads serve admission webhooks, as far as the input has their objects: by the selector of their Service.

A webhook with a `url` is served by nobody that the input names, and so is one whose Service is not in the input or has
no selector. A Service of a manifest without a namespace stands for each namespace. Pods without the object that makes
them are not looked at: their labels change from pod to pod.

Source: admissionregistration.k8s.io/v1, WebhookClientConfig; core/v1, ServiceSpec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from archfit.audit.running.object_fields import text
from archfit.cluster.nodes import mapping, sequence

Labels: TypeAlias = tuple[tuple[str, str], ...]
_CONFIGURATIONS = frozenset({
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
})  # fmt: skip
_SERVICE = ("", "Service")


Selectors: TypeAlias = Mapping[tuple[str, tuple[str, str]], Sequence[Labels]]
"""Pods behind webhooks: namespace ("" for any), and the label of the selector that the fewest others have -> selectors.

A pod is compared only with selectors one of whose labels it has, so thousands of them cost little.
"""


class Webhooks:
    """What was read of webhooks and Services, in any order."""

    def __init__(self) -> None:
        self._named: set[tuple[str, str]] = set()
        self._selectors: set[tuple[str, str, Labels]] = set()

    def add(self, group: str, kind: str, value: Mapping[str, Any]) -> list[Any]:
        """Each thing that the object adds, as JSON's own values; [] for other kinds, and for what was read before."""
        if (group, kind) in _CONFIGURATIONS:
            configs = [mapping(webhook, "clientConfig") for webhook in sequence(value, "webhooks")]
            services = [service for config in configs if (service := mapping(config, "service"))]
            named = {(text(service.get("namespace")), text(service.get("name"))) for service in services}
            new = sorted(named - self._named)
            self._named |= named
            return [list(name) for name in new]
        if (group, kind) != _SERVICE:
            return []
        metadata = mapping(value, "metadata")
        labels = labels_of(mapping(value, "spec").get("selector"))
        row = text(metadata.get("namespace")), text(metadata.get("name")), labels
        if not labels or row in self._selectors:
            return []
        self._selectors.add(row)
        return [[*row[:2], [list(pair) for pair in labels]]]

    def selectors(self) -> Selectors:
        """The pods behind each webhook whose Service is there, each once."""
        names = {name for _, name in self._named}
        served = {
            (namespace, labels)
            for namespace, name, labels in self._selectors
            if (namespace, name) in self._named or (not namespace and name in names)
        }
        shared = Counter((namespace, pair) for namespace, labels in served for pair in labels)
        selectors: dict[tuple[str, tuple[str, str]], list[Labels]] = {}
        for namespace, labels in sorted(served):
            rarest = min(((namespace, pair) for pair in labels), key=lambda key: (shared[key], key))
            selectors.setdefault(rarest, []).append(labels)
        return selectors


def labels_of(value: Any) -> Labels:
    """Labels or a selector (JSON's own values), sorted."""
    return tuple(sorted((name, label) for name, label in mapping(value).items() if isinstance(label, str)))


def serves(selectors: Selectors, namespace: str, labels: Labels) -> bool:
    """Whether such pods are behind one of the webhooks."""
    own = set(labels)
    return any(
        own.issuperset(selector)
        for pair in labels
        for place in dict.fromkeys((namespace, ""))
        for selector in selectors.get((place, pair), ())
    )
