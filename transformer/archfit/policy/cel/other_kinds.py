"""Other kinds than Pods, which a policy places: it warns of DaemonSets, and of filters without effect.

The policy leaves the pods of a DaemonSet alone: each is made for one node. So its companion looks at the DaemonSet, by
the variables that decide for a pod, read of `spec.template`; annotations and labels count on both, the nearer wins. An
update that leaves the template as it was says nothing again. DaemonSets of kube-system count: nothing is changed or
refused, and most agents that run on each node live there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from archfit.base.results import ObjectRef
from archfit.options.settings import Options
from archfit.placement.annotations import PREFIX
from archfit.placement.filters import is_glob, names_kind
from archfit.policy.cel.cel_text import Variable, literal, text, variables
from archfit.policy.cel.match_conditions import NOT_SKIPPED, POD, TRUE, match_conditions
from archfit.policy.cel.platform_table import SYSTEMS
from archfit.policy.cel.policy_settings import OPT_OUT, PolicySettings

_DAEMON_SET = ObjectRef("apps/v1", "DaemonSet", "", "")
_OF_PODS = (NOT_SKIPPED, "not-of-a-daemon-set", "not-a-mirror-of-a-static-pod")
_BOTH = "[object.spec.template.metadata, object.metadata]"
_LABEL = re.compile(
    r"has\(object\.metadata\.labels\) && (?P<key>'[^']*') in object\.metadata\.labels "
    r"&& object\.metadata\.labels\[(?P=key)\] == (?P<value>'[^']*')"
)
MERGED = ("annotations", "labels")
"""The variables that are read of the DaemonSet and of its template."""


def without_effect(options: Options) -> list[str]:
    """A sentence about each."""
    patterns = [(f"exclude {glob}", glob.kind) for glob in options.exclude]
    patterns += [(f"the rule for kind {rule.match.kind}", rule.match.kind) for rule in options.rules]
    return [
        f"{what} has no effect in a policy, which sees Pods: match the pods by namespace or labels, or annotate the "
        'pod template with archfit.dev/skip: "true"'
        for what, kind in dict.fromkeys(patterns)
        if kind and not any(names_kind(kind, ref) for ref in (POD, _DAEMON_SET))
    ]


def about_daemon_sets(options: Options) -> Options:
    """The options with those rules and excludes that are about DaemonSets, written as if they were about Pods."""
    exclude = [
        glob.replace(kind=("*" if is_glob(glob.kind) else POD.kind) if glob.kind else "")
        for glob in options.exclude
        if not glob.kind or names_kind(glob.kind, _DAEMON_SET)
    ]
    rules = [
        rule.replace(match=rule.match.replace(kind=""))
        for rule in options.rules
        if not rule.match.kind or names_kind(rule.match.kind, _DAEMON_SET)
    ]
    return options.replace(exclude=tuple(exclude), rules=tuple(rules))


def of_template(expression: str) -> str:
    """An expression about a Pod, for the template of a DaemonSet. The name is the DaemonSet's."""
    labelled = _LABEL.sub(
        rf"{_BOTH}.exists(m, has(m.labels) && \g<key> in m.labels && m.labels[\g<key>] == \g<value>)",
        expression,
    )
    return re.sub(r"\bobject\.spec\.(?!template\b)", "object.spec.template.spec.", labelled)


def daemon_set_constraints(settings: PolicySettings) -> dict[str, Any]:
    """DaemonSets that are created or updated, but for those that opt out."""
    return {
        "resourceRules": [
            {
                "apiGroups": ["apps"],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["daemonsets"],
            }
        ],
        "namespaceSelector": {"matchExpressions": [OPT_OUT, *settings.namespace_selector]},
        "objectSelector": {"matchExpressions": [OPT_OUT]},
    }


def daemon_set_conditions(options: Options) -> Iterator[tuple[str, str]]:
    """(name, expression) of each match condition. options: `about_daemon_sets(..)`."""
    yield (
        "of-a-new-template",
        "request.operation != 'UPDATE' || object.spec.template != oldObject.spec.template",
    )
    skip = text(f"{PREFIX}skip")
    yield (
        NOT_SKIPPED,
        f"!({_BOTH}.filter(m, has(m.annotations) && {skip} in m.annotations).map(m, string(m.annotations[{skip}])) "
        f"+ [''])[0].matches({TRUE})",
    )
    for name, expression in match_conditions(options):
        if name not in _OF_PODS:
            yield name, of_template(expression)


def of_daemon_sets(variables_of_pods: Iterable[Variable]) -> Iterator[Variable]:
    """The variables of a policy, for DaemonSets, and lost. Those of a policy of `about_daemon_sets(..)`."""
    for pods in variables_of_pods:
        if pods.name in MERGED:
            yield from _merged_variable(pods.name)
        else:
            yield pods.replace(expression=of_template(pods.expression))
    # The architectures of `placement.pod_warnings.lost_nodes`.
    yield from variables(
        """
        lost: the cluster's nodes that the DaemonSet goes to, and that cannot run it
          !variables.decided || variables.conflict || !variables.hasTerms && variables.archPins.size() > 0 ? [] :
          %systems.map(os, variables.nodes[os].filter(a,
              variables.systems.exists(i, systems, os in systems && a in variables.meeting[i])
              && !variables.systems.exists(i, systems, os in systems && a in variables.live[i]
                && a in variables.supported[os])
              && variables.only.all(names, a in names))
            .map(a, (os == 'linux' ? '' : os + '/') + a).join(', ')).filter(names, names != '')
        """,
        systems=literal(SYSTEMS),
    )


def _merged_variable(name: str) -> Iterator[Variable]:
    return variables(
        """
        %name: of the DaemonSet and of its template, which wins
          [has(object.metadata.%name) ? object.metadata.%name : {}].map(own,
            [has(object.spec.template.metadata) && has(object.spec.template.metadata.%name)
              ? object.spec.template.metadata.%name : {}].map(near,
              (own.map(k, k).filter(k, !(k in near)) + near.map(k, k))
                .transformMapEntry(i, k, {k: k in near ? near[k] : own[k]})))[0][0]
        """,
        name=name,
    )
