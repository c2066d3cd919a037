"""OpenKruise adds the term of each subset of a UnitedDeployment to the template, for the pods of the subset."""

from __future__ import annotations

from archfit.workloads.operator_hooks import OperatorHooks, Placement, RowMatch
from archfit.workloads.patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from archfit.workloads.pods import PlacementPaths


def _parts(match: RowMatch, spec: dict[str, Any], paths: PlacementPaths) -> Placement:
    terms = matches(match.value, ("spec", "topology", "subsets", "*", "nodeSelectorTerm"))
    return spec, paths.replace(parts=tuple(terms))


KINDS = {"UnitedDeployment": OperatorHooks(placement=_parts)}
