"""The patch operations that write node affinity; each addition is guarded by a test of what was found there.

    found in the pod spec                   written
    no affinity                             affinity: {nodeAffinity: {required.., preferred..}}
    affinity without nodeAffinity           nodeAffinity: {required.., preferred..}
    nodeAffinity without required set       requiredDuring..: {nodeSelectorTerms: [{matchExpressions: [..]}]}
    nodeAffinity without preferred terms    preferredDuring..: [{weight: .., preference: {..}}]
    preferred terms                         one more at their end
    a required term with matchExpressions   one more expression at their end
    a required term with matchFields only   matchExpressions: [..]

A member whose value is null counts as missing; `add` replaces it. `{}` and `[]` are kept and filled.
"""

from __future__ import annotations

from collections.abc import Iterable

from archfit.patch import Add, Operation, Path, Test
from archfit.placement.affinity import ARCH, PREFERRED, REQUIRED, Requirement
from archfit.source.values import Typed
from archfit.typing_names import Any
from archfit.workloads.pods import Pod


def operations(
    pod: Pod,
    required: Requirement | None,
    narrowed: Iterable[tuple[int, Iterable[Requirement]]],
    preferred: Iterable[tuple[str, int]],
) -> list[Operation]:
    """The patch for a pod spec whose affinity has been read without Malformed.

    required: of the one term to write where there is no required set.
    narrowed: (index of a required term, what to AND to it).
    preferred: (architecture, weight) of the preferred terms to append.
    """
    fresh: dict[str, Any] = {}
    if required:
        fresh[REQUIRED] = {"nodeSelectorTerms": [{"matchExpressions": [_expression(required)]}]}
    terms = [_preference(architecture, weight) for architecture, weight in preferred]
    if terms:
        fresh[PREFERRED] = terms
    path = pod.at("affinity")
    affinity = pod.spec.get("affinity")
    if affinity is None:
        return _created(path, {"nodeAffinity": fresh}) if fresh else []
    path = (*path, "nodeAffinity")
    node = affinity.get("nodeAffinity")
    if node is None:
        return _created(path, fresh) if fresh else []
    made: list[Operation] = []
    for key, value in fresh.items():
        made += _appended((*path, key), node.get(key), value)
    for index, requirements in narrowed:
        at = (*path, REQUIRED, "nodeSelectorTerms", index, "matchExpressions")
        there = node[REQUIRED]["nodeSelectorTerms"][index].get("matchExpressions")
        made += _appended(at, there, [_expression(one) for one in requirements])
    return made


def _created(path: Path, value: object) -> list[Operation]:
    return [Test(path, None), Add(path, value)]


def _appended(path: Path, there: object, value: Any) -> list[Operation]:
    if there is None:
        return _created(path, value)
    return [Test(path, there), *[Add((*path, "-"), item) for item in value]]


def _expression(requirement: Requirement) -> dict[str, Any]:
    operator, architectures = requirement
    return {"key": ARCH, "operator": operator, "values": list(architectures)}


def _preference(architecture: str, weight: int) -> dict[str, Any]:
    return {
        "weight": Typed("int", str(weight)),
        "preference": {"matchExpressions": [_expression(("In", (architecture,)))]},
    }
