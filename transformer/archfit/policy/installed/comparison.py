"""The policy's answer about a pod beside archfit's own decision, for placement alone.

    the API server's pod is ..                             outcome
    as archfit's patch of the pod without the policy       same
    as the pod without the policy, for a listed reason     left-alone
    anything else                                          different
    not admitted, or made by an operator; or archfit       not-compared
      itself cannot decide

Placement is nodeSelector, the required and preferred node affinity, and the tolerations, whose order means nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from archfit.base.patch import apply
from archfit.base.record import Record
from archfit.base.results import Decision
from archfit.workloads.pods import PREFERRED, REQUIRED
from archfit.yaml.values import mapping_of, plain, typed

Outcome: TypeAlias = Literal["same", "left-alone", "different", "not-compared"]


class Compared(Record):
    """What was found about one pod. reason: in words. expected, actual: placement, where they differ."""

    outcome: Outcome
    reason: str
    expected: dict[str, Any] | None = None
    actual: dict[str, Any] | None = None


def compared(
    actual: dict[str, Any], skipped: dict[str, Any], decision: Decision, left_alone: str
) -> Compared:
    """The policy's answer. actual: with the policy. skipped: the pod without it. decision: archfit's, about `skipped`.

    left_alone: why the policy does not touch it, "" if it should.
    """
    patched = plain(apply(typed(skipped), decision.patch))
    before, wanted, found = placement(skipped), placement(patched), placement(actual)
    if found == wanted:
        return Compared("same", decision.reason)
    if decision.outcome == "Unresolved":
        return Compared("not-compared", f"archfit cannot decide: {decision.reason}")
    if found == before and left_alone:
        return Compared("left-alone", left_alone, wanted, found)
    if found == before:
        return Compared(
            "different", f"archfit adds {_added(before, wanted)}, and the policy adds nothing", wanted, found
        )
    if wanted == before:
        return Compared(
            "different", f"archfit adds nothing, and the policy adds {_added(before, found)}", wanted, found
        )
    return Compared(
        "different",
        f"archfit adds {_added(before, wanted)}, and the policy adds {_added(before, found)}",
        wanted,
        found,
    )


def placement(pod: dict[str, Any]) -> dict[str, Any]:
    """What places a pod, in one spelling for all that means the same."""
    spec = mapping_of(pod.get("spec"))
    affinity = mapping_of(mapping_of(spec.get("affinity")).get("nodeAffinity"))
    tolerations = [
        {"operator": "Equal", **{key: value for key, value in one.items() if value not in {"", None}}}
        for one in spec.get("tolerations") or ()
    ]
    found = {
        "nodeSelector": spec.get("nodeSelector"),
        REQUIRED: affinity.get(REQUIRED),
        PREFERRED: affinity.get(PREFERRED),
        "tolerations": sorted(tolerations, key=_canonical),
    }
    return {key: value for key, value in found.items() if value}


def _added(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What one placement has and the other has not, in a few words."""
    return "; ".join(_differences(before, after)) or "nothing"


def _differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    known = [_canonical(one) for one in before.get("tolerations", ())]
    for toleration in after.get("tolerations", ()):
        if _canonical(toleration) not in known:
            yield f"the toleration {_canonical(toleration)}"
    for name in (REQUIRED, PREFERRED, "nodeSelector"):
        if after.get(name) != before.get(name):
            yield f"{name} {_canonical(after.get(name))}"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
