"""Excludes and rules of the configuration that no pod at admission meets, because they name another kind.

    exclude: [Deployment/shop/web]              left out when manifests are rendered; its pods are Pods, and are placed
    rules: [{match: {kind: Job}, ..}]           the same
    exclude: ["*/shop"], kind: Pod, no kind     meant for pods, too

A DaemonSet is no warning: the policy leaves its pods alone in any case.
"""

from __future__ import annotations

from archfit.admission.policy.match_conditions import POD
from archfit.options.settings import Options
from archfit.placement.filters import names_kind
from archfit.results import ObjectRef

_LEFT_ALONE = ObjectRef("apps/v1", "DaemonSet", "", "")


def without_effect(options: Options) -> list[str]:
    """A sentence about each."""
    patterns = [(f"exclude {one}", one.kind) for one in options.exclude]
    patterns += [(f"the rule for kind {rule.match.kind}", rule.match.kind) for rule in options.rules]
    return [
        f"{what} has no effect in a policy, which sees Pods: match the pods by namespace or labels, or annotate the "
        'pod template with archfit.dev/skip: "true"'
        for what, kind in dict.fromkeys(patterns)
        if kind and not any(names_kind(kind, ref) for ref in (POD, _LEFT_ALONE))
    ]
