"""CEL: what the pod gets, by `placement.required_terms` and `placement.tolerations`, and the one JSON patch for it.

    written                for each term what is ANDed to it; for a pod without required terms, its one new term
    exposed                the architectures to whose nodes the pod may come although an image does not run there
    newTolerations         of the rules that apply, those that no toleration of the pod covers
    newPreferences         preferred terms

There is one mutation, so that the API server does all of it or nothing. Its values are made of the policy's own
literals, never of parts of `object`, and never of a list of `Object{..}`: the API server loses the one and panics at
the other (kubernetes#140164, #142181).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from archfit.admission.policy.cel_text import Variable, cel, literal, text, variable
from archfit.options.settings import Options
from archfit.options.text_form import WINDOWS
from archfit.placement.affinity import ARCH, ARCH_LABELS
from archfit.placement.tolerations import covers
from archfit.workloads.pods import PREFERRED, REQUIRED

_PATH = "/spec/affinity/nodeAffinity"
_PREFERRED = f"variables.nodeAffinity.{PREFERRED}"


def addition_variables(options: Options) -> Iterator[Variable]:
    """written, exposed, applicableTolerations, newTolerations, newPreferences, needsNodeAffinity."""
    yield from _written(options)
    yield variable(
        "exposed",
        "the architectures to whose nodes the pod may come although an image does not run there",
        """
        variables.restrictions.size() == 0 ? [] :
        variables.architectures.filter(a, variables.systems.exists(i, systems,
          systems.size() > 0 && a in variables.meeting[i] && !(a in variables.live[i])
          && systems.exists(os, !(a in variables.offered[os]) && (os != 'windows' || a in %windows))
          && variables.written[i].all(e, e.operator == 'In' ? a in e.values : !(a in e.values))))
        """,
        windows=literal(WINDOWS),
    )
    yield variable(
        "applicableTolerations",
        "the tolerations of the rules that apply to the pod",
        """
        variables.unasked || !variables.anyAnswer || !variables.tolerates ? [] :
        variables.tolerationRules.filter(rule, rule.architectures.exists(a, a in variables.reachable)
          && rule.architectures.all(a, a in variables.reachable || !(a in variables.exposed)))
        .map(rule, rule.toleration)
        """,
    )
    yield variable(
        "newTolerations",
        "of these, those that no other toleration covers",
        """
        variables.applicableTolerations.transformList(i, new,
          !variables.tolerations.exists(there,
            %covers)%among_themselves,
          new)
        """,
        covers=_covers(),
        among_themselves=_among_themselves(options),
    )
    yield variable(
        "newPreferences",
        "the preferred terms that the pod gets, if it has none on the architecture itself",
        "%preferences",
        preferences=_preferences() if options.prefer or any(rule.prefer for rule in options.rules) else "[]",
    )
    yield variable(
        "needsNodeAffinity",
        "the pod has no node affinity, and gets some",
        """
        !variables.hasNodeAffinity
        && (variables.written[0].size() > 0 || variables.newPreferences.size() > 0)
        """,
    )


def mutation() -> str:
    """The expression of the JSON patch."""
    return cel(
        """
        !variables.decided || variables.conflict ? [] :
        // the mappings above what is written
        (variables.needsNodeAffinity && !has(object.spec.affinity)
          ? [JSONPatch{op: 'add', path: '/spec/affinity', value: {}}] : [])
        + (variables.needsNodeAffinity ? [JSONPatch{op: 'add', path: %path, value: {}}] : [])
        // required node affinity: a new term, or one or two more expressions in each that there is
        + (!variables.hasTerms && variables.written[0].size() > 0
          ? [JSONPatch{op: 'add',
            path: %required,
            value: {'nodeSelectorTerms': [{'matchExpressions': variables.written[0]}]}}] : [])
        + (variables.hasTerms ? variables.terms : []).transformList(i, term, variables.written[i].size() > 0,
          JSONPatch{op: 'add',
            path: %terms
              + string(i) + '/matchExpressions' + (has(term.matchExpressions) ? '/-' : ''),
            value: has(term.matchExpressions) ? dyn(variables.written[i][0]) : dyn([variables.written[i][0]])})
        + (variables.hasTerms ? variables.terms : []).transformList(i, term, variables.written[i].size() > 1,
          JSONPatch{op: 'add',
            path: %terms
              + string(i) + '/matchExpressions/-',
            value: variables.written[i][1]})
        // preferred node affinity
        + (variables.newPreferences.size() > 0 && !has(%own_preferred)
          ? [JSONPatch{op: 'add',
            path: %preferred,
            value: variables.newPreferences}]
          : variables.newPreferences.map(new, JSONPatch{op: 'add',
            path: %append,
            value: new}))
        // tolerations
        + (variables.newTolerations.size() > 0 && !has(object.spec.tolerations)
          ? [JSONPatch{op: 'add', path: '/spec/tolerations', value: variables.newTolerations}]
          : variables.newTolerations.map(new, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: new}))
        """,
        path=text(_PATH),
        required=text(f"{_PATH}/{REQUIRED}"),
        terms=text(f"{_PATH}/{REQUIRED}/nodeSelectorTerms/"),
        own_preferred=_PREFERRED,
        preferred=text(f"{_PATH}/{PREFERRED}"),
        append=text(f"{_PATH}/{PREFERRED}/-"),
    )


def _written(options: Options) -> Iterator[Variable]:
    comment = "for each required term, or for the one to create, what it gets"
    if options.affinity == "never":
        yield variable("written", comment, "variables.terms.map(term, [])")
        return
    enough = "variables.barred[i].size() == 0 || !variables.hasTerms && variables.archPins.size() > 0"
    if options.affinity == "always":
        yield variable(
            "always",
            "the pod gets a term even where it runs everywhere",
            """
            !variables.hasTerms && variables.archPins.size() == 0
            && variables.restricted && !variables.toleratesVirtualNodes
            """,
        )
        enough = f"!variables.always && ({enough})"
    yield variable(
        "another",
        "an architecture that the pod cannot reach",
        "(variables.nodeArchitectures.filter(a, !(a in variables.reachable)) + ['none'])[0]",
    )
    yield variable(
        "written",
        comment,
        """
        variables.terms.transformList(i, term,
          %enough ? []
          // nodes without an arch label stay reachable
          : variables.toleratesVirtualNodes && variables.archPins.size() == 0
            && variables.archRequirements[i].all(e, e.operator in ['NotIn', 'DoesNotExist'])
            ? [%not_in]
          : variables.live[i].size() > 0
            ? [%live]
          // a term on which nothing runs, beside one on which the pod does: it must match no node
          : variables.reachable.exists(a, !(a in variables.meeting[i]))
            ? [%apart]
          : variables.another in variables.meeting[i]
            ? [%reachable,
              %another]
          : [%another])
        """,
        enough=enough,
        not_in=_expression("NotIn", "variables.lacking[i]"),
        live=_expression("In", "variables.architectures.filter(a, a in variables.live[i])"),
        apart=_expression("In", "variables.reachable.filter(a, !(a in variables.meeting[i]))"),
        reachable=_expression("In", "variables.reachable"),
        another=_expression("In", "[variables.another]"),
    )


def _expression(operator: str, values: str) -> str:
    return f"{{'key': dyn({text(ARCH)}), 'operator': dyn({text(operator)}), 'values': dyn({values})}}"


def _among_themselves(options: Options) -> str:
    """Whether an earlier toleration covers `new`; "" where none of the rules covers a later one."""
    added = [rule.toleration for rule in options.tolerate]
    if not any(covers(there, new) for there, new in combinations(added, 2)):
        return ""
    return "\n" + cel(
        """
        && !variables.applicableTolerations.exists(j, there, j < i &&
          %covers)
        """,
        covers=_covers(),
    )


def _covers() -> str:
    """Whether `there` tolerates every taint that `new` does, as `placement.tolerations.covers` has it."""
    return cel(
        """
        (!has(there.effect) || there.effect == '' || has(new.effect) && new.effect == there.effect)
        && (!has(there.key) || there.key == '' || has(new.key) && new.key == there.key)
        && (has(there.operator) && there.operator == 'Exists'
          || (!has(there.operator) || there.operator in ['', 'Equal'])
            && (!has(new.operator) || new.operator == 'Equal')
            && (has(there.value) ? there.value : '') == (has(new.value) ? new.value : ''))
        """
    )


def _preferences() -> str:
    return cel(
        """
        variables.unasked || !variables.anyAnswer
        // one architecture alone leaves nothing to prefer
        || variables.reachable.size() < 2
          && !variables.live.exists(live, live.exists(a, !(a in variables.reachable)))
        || has(%preferred)
          && %preferred.exists(p, has(p.preference.matchExpressions)
            && p.preference.matchExpressions.exists(e, e.key in %labels))
        ? [] :
        variables.weights.filter(w, w.architecture in variables.reachable).map(w, {
          'weight': dyn(w.weight),
          'preference': dyn({'matchExpressions': [%expression]})})
        """,
        preferred=_PREFERRED,
        labels=literal(sorted(ARCH_LABELS)),
        expression=_expression("In", "[w.architecture]"),
    )
