"""The settings of a policy itself, beside the options of placement: its name, its API version, its namespaces."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeAlias

from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

Requirement: TypeAlias = dict[str, Any]  # metav1.LabelSelectorRequirement: {key, operator, values}

OWN_NAMESPACE = "archfit"
OPT_OUT = {"key": "archfit.dev/webhook", "operator": "NotIn", "values": ["ignore", "disabled"]}
"""Of namespaces and of pods: the label that opts out of the policy and of the webhook alike."""
DATE = "archfit.dev/date"
"""The annotation that says when a policy was written, as 2026-11-23T06:17:00Z (RFC 3339)."""
RENEW = "archfit.dev/renew-before"
"""The annotation that says from when on the companion calls the policy too old, likewise."""
MAX_AGE_SECONDS = 7 * 24 * 3600
ALWAYS_LEFT_OUT = ("kube-system", OWN_NAMESPACE)
"""Namespaces whose pods the policy never sees."""


class PolicySettings(Record):
    """name: of the policy, its binding and, with the carrier `crd`, of the custom resource.

    api_version: of admissionregistration.k8s.io. `v1` needs Kubernetes 1.36; `v1beta1` is served by 1.34 and 1.35 where
        the feature gate MutatingAdmissionPolicy is on.
    carrier: where the platforms of the images stand: `literal`, in the policy's variables; `crd`, in a custom resource.
    namespace_selector: further requirements on the labels of a pod's namespace (LabelSelectorRequirement).
    deny: whether a pod that may go to a node on which it does not run is refused, instead of warned of.
    max_age: in seconds; the companion warns of each new pod once the policy is older. 0: it never does.
    date: when the policy is written, for the annotation DATE; "" where that is not known: it then has no age.
    """

    name: str = "archfit.dev"
    api_version: Literal["v1", "v1beta1"] = "v1"
    carrier: Literal["literal", "crd"] = "literal"
    namespace_selector: tuple[Requirement, ...] = ()
    deny: bool = False
    max_age: int = MAX_AGE_SECONDS
    date: str = ""

    def dated(self, name: str) -> dict[str, Any]:
        """The metadata of a small object, with the date.

        A policy has none: the API server compiles it anew at each change, also at one of an annotation.
        """
        annotations = {DATE: self.date} if self.date else {}
        if self.date and self.max_age:
            renew = datetime.fromisoformat(self.date) + timedelta(seconds=self.max_age)
            annotations[RENEW] = f"{renew:%Y-%m-%dT%H:%M:%SZ}"
        return {"name": name, **({"annotations": annotations} if annotations else {})}
