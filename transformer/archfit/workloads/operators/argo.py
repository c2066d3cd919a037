"""Argo Workflows: templateDefaults and podSpecPatch.

    templateDefaults                          merged into each template: images of the kind that the template has
    spec.podSpecPatch, and of each template   merged into the pod last: the template's own before the workflow's

The first of these that has the field decides the placement: the template, `templateDefaults`, its callers, the spec,
into which `workflowDefaults` of the controller are merged. So a template without the field is left where one of the
others may have it; so is one with an affinity, into which terms of `templateDefaults` would be merged.

Source: argo-workflows, workflow/controller/workflowpod.go (addSchedulingConstraints), workflow/util/merge.go.
"""

from __future__ import annotations

from archfit.base.patch import Path, dotted
from archfit.options.settings import FIELDS, TERMS
from archfit.workloads.operator_hooks import OperatorHooks, RowMatch
from archfit.workloads.patterns import get, matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.settings import Workload


def _workflow(row: Workload) -> Path:
    """Where the specification of the workflow stands."""
    return row.pod_spec[: row.pod_spec.index("templates")]


def _problem(match: RowMatch) -> str:
    for name, holder in _shadowing(match):
        if holder != match.path and match.spec.get(name) in (None, {}, []):
            return (
                f"{dotted((*holder, name))} may also apply to {dotted(match.path)}; "
                f"write the {name} that it needs into {dotted(match.path)} itself"
            )
    source = (*_workflow(match.row), "templateDefaults", *TERMS)
    if get(match.value, source) and match.spec.get("affinity") and not get(match.spec, TERMS):
        return (
            f"{dotted(source[:-2])} is merged into {dotted(match.path)}, where terms of its own would "
            f"replace it; write the nodeAffinity that it needs into {dotted(match.path)} itself"
        )
    return ""


def _shadowing(match: RowMatch) -> list[tuple[str, Path]]:
    """(field, mapping) that may hold for any pod: two for each field, as one of them may be the pod's own."""
    key = "shadowing"
    if key not in match.shared:
        workflow = _workflow(match.row)
        markers = [(*workflow, "templateDefaults", name) for name in FIELDS]
        if match.row.pod_spec[-1] != "inline":
            markers[:0] = [(*workflow, "templates", "*", name) for name in ("steps", "dag")]
        by_field: dict[str, dict[Path, None]] = {name: {} for name in FIELDS}
        for marker in markers:
            for path, _ in matches(match.value, marker):
                for name, holders in by_field.items():
                    if len(holders) < 2 and get(match.value, (*path[:-1], name)) not in (None, {}, []):
                        holders[path[:-1]] = None
        match.shared[key] = [(name, holder) for name, holders in by_field.items() for holder in holders]
    shadowing: list[tuple[str, Path]] = match.shared[key]
    return shadowing


def _patches(row: Workload) -> Iterator[Path]:
    workflow = _workflow(row)
    for holder in (row.pod_spec, (*workflow, "templateDefaults"), workflow):
        yield (*holder, "podSpecPatch")


KINDS = dict.fromkeys(
    ("ClusterWorkflowTemplate", "CronWorkflow", "Workflow", "WorkflowTemplate"),
    OperatorHooks(
        problem=_problem, patches=_patches, holders=lambda row: [(*_workflow(row), "templateDefaults")]
    ),
)
