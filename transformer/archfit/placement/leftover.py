"""A required term that archfit may have written when the images ran on less than they do now.

    nodeSelectorTerms:
    - matchExpressions:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}      alone, sorted: as archfit writes it; NotIn
                                                                      for a pod that tolerates virtual nodes

Whoever wrote it, it is the user's as long as no `stamp` says otherwise: it stays, and the run says that it is narrower
than the images are.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.placement.affinity import ARCH, required_terms
from archfit.placement.messages import listed
from archfit.placement.reach import Reach
from archfit.workloads.pods import Pod


def leftover(pod: Pod, found: Sequence[Reach], *, unlabelled: bool) -> str:
    """What to say about the pod's only term, "" where there is nothing to say. Raises Malformed.

    unlabelled: the pod tolerates nodes without an arch label, and so gets NotIn.
    """
    reach, system = found[0], found[0].systems[0]
    if reach.demand.index is None or len(found) > 1 or len(reach.systems) > 1:
        return ""
    here = system.cluster if system.supported is None else system.cluster & system.supported
    if not reach.allowed < here:
        return ""
    written = _written("In", reach.allowed)
    if unlabelled and not reach.demand.asks_for_label:
        written = _written("NotIn", system.cluster - reach.allowed)
    terms, _ = required_terms(pod)
    if terms != [written]:
        return ""
    return (
        f"this allows only {listed(reach.allowed)}, though the images run on {listed(here)}: if an earlier run of "
        "archfit wrote it, remove it; files that are edited in place want --stamp"
    )


def _written(operator: str, architectures: frozenset[str]) -> dict[str, object]:
    return {"matchExpressions": [{"key": ARCH, "operator": operator, "values": sorted(architectures)}]}
