"""Which workloads serve admission webhooks, as far as the input has their objects.

    MutatingWebhookConfiguration,       webhooks[].clientConfig.service ── namespace, name
    ValidatingWebhookConfiguration                                              │
    Service                             spec.selector ──────────────────── labels of pod templates of its namespace

A webhook with a `url` is served by nobody that the input names, and so is one whose Service is not in the input or has
no selector. A Service of a manifest without a namespace stands for each namespace. Pods without the object that makes
them are not looked at: their labels change from pod to pod.

Source: admissionregistration.k8s.io/v1, WebhookClientConfig; core/v1, ServiceSpec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from archfit.audit.running.object_fields import mapping, mappings, text
from archfit.base.record import Record

Labels: TypeAlias = tuple[tuple[str, str], ...]
_CONFIGURATIONS = frozenset({
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
})  # fmt: skip
_SERVICE = ("", "Service")


class PodSelector(Record):
    """Pods behind a webhook: in a namespace, "" for any, those with all of these labels."""

    namespace: str
    labels: Labels

    def takes(self, namespace: str, labels: Labels) -> bool:
        """Whether pods of this namespace with these labels are behind the webhook."""
        return self.namespace in ("", namespace) and set(labels).issuperset(self.labels)


class Webhooks:
    """What was read of webhooks and Services, in any order."""

    def __init__(self) -> None:
        self._named: set[tuple[str, str]] = set()
        self._selectors: set[tuple[str, str, Labels]] = set()

    def add(self, group: str, kind: str, value: Mapping[str, Any]) -> list[Any]:
        """Each thing that the object adds, as JSON's own values; [] for other kinds, and for what was read before."""
        if (group, kind) in _CONFIGURATIONS:
            services = [
                mapping(mapping(one.get("clientConfig")).get("service"))
                for one in mappings(value.get("webhooks"))
            ]
            named = {(text(one.get("namespace")), text(one.get("name"))) for one in services if one}
            new = sorted(named - self._named)
            self._named |= named
            return [list(one) for one in new]
        if (group, kind) != _SERVICE:
            return []
        metadata = mapping(value.get("metadata"))
        labels = labels_of(mapping(value.get("spec")).get("selector"))
        row = text(metadata.get("namespace")), text(metadata.get("name")), labels
        if not labels or row in self._selectors:
            return []
        self._selectors.add(row)
        return [[*row[:2], [list(pair) for pair in labels]]]

    def selectors(self) -> tuple[PodSelector, ...]:
        """The pods behind each webhook whose Service is there, each once."""
        found = (
            PodSelector(namespace, labels)
            for namespace, name, labels in sorted(self._selectors)
            if any(name == wanted and namespace in ("", place) for place, wanted in self._named)
        )
        return tuple(dict.fromkeys(found))


def labels_of(value: Any) -> Labels:
    """Labels or a selector (JSON's own values), sorted."""
    return tuple(sorted((name, label) for name, label in mapping(value).items() if isinstance(label, str)))


def serves(selectors: Iterable[PodSelector], namespace: str, labels: Labels) -> bool:
    """Whether such pods are behind one of the webhooks."""
    return any(one.takes(namespace, labels) for one in selectors)
