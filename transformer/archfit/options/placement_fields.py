"""The fields of a pod spec that decide on which nodes a pod may run: the one list.

A row of `workloads:` names them as a pod spec does; a `Workload` has an attribute for each, the path of the field.

To add one: a name here, an attribute of `Workload`, what it asks of a node (`placement`, and for a node of a cluster
`audit.running.object_fields`), and the same as CEL (`policy`), which fuzzers compare with the decision.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.base.patch import Path

AFFINITY, TOLERATIONS, NODE_SELECTOR = "affinity", "tolerations", "nodeSelector"
ATTRIBUTES = {AFFINITY: "affinity", TOLERATIONS: "tolerations", NODE_SELECTOR: "node_selector"}
"""Of each field the attribute of `Workload`."""
FIELDS = tuple(ATTRIBUTES)
LISTS = (AFFINITY, TOLERATIONS)
"""Those to which archfit adds; a nodeSelector is only read, unless the row of a kind says that it pins."""
EMPTY: dict[str, object] = {AFFINITY: None, TOLERATIONS: [], NODE_SELECTOR: {}}
"""What counts as nothing beside null: an affinity of {} is one, to Argo."""

NODE_AFFINITY = "nodeAffinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
"""Members of core/v1 NodeAffinity."""
TERM_LIST = "nodeSelectorTerms"
TERMS: Path = (AFFINITY, NODE_AFFINITY, REQUIRED, TERM_LIST)
