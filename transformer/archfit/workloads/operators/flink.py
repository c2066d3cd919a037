"""Flink merges the templates of job and task managers over the common one, lists item by item, by their position.

Of two lists of tolerations each item would have fields of both. So a list stands either in the common template or in
those of the roles.

Source: flink-kubernetes-operator, FlinkUtils.mergePodTemplates.
"""

from __future__ import annotations

from archfit.base.patch import dotted
from archfit.options.settings import LISTS
from archfit.workloads.operator_hooks import OperatorHooks, RowMatch
from archfit.workloads.patterns import get


def _problem(match: RowMatch) -> str:
    for common in match.row.inherits:
        for name in LISTS:
            theirs = (*common, name)
            if get(match.value, theirs) and match.spec.get(name):
                return (
                    f"the operator merges {dotted(theirs)} and {dotted((*match.path, name))} item by item; "
                    f"write the {name} that it needs into one of them"
                )
    return ""


KINDS = dict.fromkeys(("FlinkBlueGreenDeployment", "FlinkDeployment"), OperatorHooks(problem=_problem))
