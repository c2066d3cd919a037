"""CEL: what the pod gets, by `placement.required_terms` and `placement.tolerations`, and the one JSON patch for it.

    written            for each term, what is ANDed to it; for a pod without required terms, its one new term
    newTolerations     of the rules that apply, those that no toleration of the pod covers
    newPreferences     preferred terms

There is one mutation, so that the API server does all of it or nothing. Its values are made of literals and of what the
policy's own literals hold, never of parts of `object`, and never a list of `Object{..}`: the API server loses the one
and panics at the other (kubernetes#140164, #142181).
"""

from __future__ import annotations

from archfit.admission.policy.cel_text import cel, literal, text
from archfit.admission.policy.image_answers import Variables
from archfit.admission.policy.term_reach import HAS_AFFINITY
from archfit.options.settings import Options
from archfit.options.text_form import WINDOWS
from archfit.placement.affinity import ARCH, ARCH_LABELS
from archfit.workloads.pods import PREFERRED, REQUIRED

_PREFERRED = f"object.spec.affinity.nodeAffinity.{PREFERRED}"
_PATH = "/spec/affinity/nodeAffinity"


def addition_variables(options: Options) -> Variables:
    """written, exposed, newTolerations, newPreferences."""
    yield "written", _written(options)
    yield (
        "exposed",
        cel(
            """
        variables.architectures.filter(a, variables.systems.exists(i, systems,
          systems.size() > 0 && a in variables.meeting[i] && !(a in variables.live[i])
          && variables.restrictions.size() > 0
          && systems.exists(os, !(a in variables.offered[os]) && (os != 'windows' || a in %windows))
          && variables.written[i].all(e, e.operator == 'In' ? a in e.values : !(a in e.values))))
        """,
            windows=literal(WINDOWS),
        ),
    )
    yield (
        "applicableTolerations",
        cel(
            """
        variables.unasked || !variables.anyAnswer || !variables.tolerates ? [] :
        variables.tolerationRules.filter(rule, rule.architectures.exists(a, a in variables.reachable)
          && rule.architectures.all(a, a in variables.reachable || !(a in variables.exposed)))
        .map(rule, rule.toleration)
        """
        ),
    )
    yield (
        "newTolerations",
        cel(
            """
        variables.applicableTolerations.transformList(i, new,
          !variables.tolerations.exists(there, %covers)
          && !variables.applicableTolerations.exists(j, there, j < i && %covers),
          new)
        """,
            covers=_covers(),
        ),
    )
    yield (
        "newPreferences",
        cel(
            """
        variables.unasked || !variables.anyAnswer
          || variables.reachable.size() < 2 && !variables.live.exists(live, live.exists(a, !(a in variables.reachable)))
          || %preferred.exists(p, has(p.preference.matchExpressions)
            && p.preference.matchExpressions.exists(e, e.key in %labels)) ? [] :
        variables.weights.filter(w, w.architecture in variables.reachable).map(w, {
          'weight': dyn(w.weight),
          'preference': dyn({'matchExpressions': [{
            'key': dyn(%arch), 'operator': dyn('In'), 'values': dyn([w.architecture])}]})})
        """,
            preferred=f"({HAS_AFFINITY} && has({_PREFERRED}) ? {_PREFERRED} : [])",
            labels=literal(sorted(ARCH_LABELS)),
            arch=text(ARCH),
        )
        if options.prefer or any(rule.prefer for rule in options.rules)
        else "[]",
    )


def mutation() -> str:
    """The expression of the JSON patch."""
    return cel(
        """
        !variables.decided || variables.conflict ? [] :
        // the mappings above what is written
        (%writes && !has(object.spec.affinity)
          ? [JSONPatch{op: 'add', path: '/spec/affinity', value: {}}] : [])
        + (%writes && !(%has_affinity)
          ? [JSONPatch{op: 'add', path: %path, value: {}}] : [])
        // required node affinity
        + (!variables.hasTerms && variables.written[0].size() > 0
          ? [JSONPatch{op: 'add', path: %required,
              value: {'nodeSelectorTerms': [{'matchExpressions': variables.written[0]}]}}] : [])
        + (variables.hasTerms ? variables.terms.transformList(i, term, variables.written[i].size() > 0, JSONPatch{
            op: 'add',
            path: %terms + string(i) + '/matchExpressions' + (has(term.matchExpressions) ? '/-' : ''),
            value: has(term.matchExpressions) ? dyn(variables.written[i][0]) : dyn([variables.written[i][0]])}) : [])
        + (variables.hasTerms ? variables.terms.transformList(i, term, variables.written[i].size() > 1, JSONPatch{
            op: 'add', path: %terms + string(i) + '/matchExpressions/-', value: variables.written[i][1]}) : [])
        // preferred node affinity
        + (variables.newPreferences.size() > 0 && !(%has_affinity && has(object.spec.affinity.nodeAffinity.%preferred))
          ? [JSONPatch{op: 'add', path: %preferred_path, value: variables.newPreferences}]
          : variables.newPreferences.map(p, JSONPatch{op: 'add', path: %preferred_path + '/-', value: p}))
        // tolerations
        + (variables.newTolerations.size() > 0 && !has(object.spec.tolerations)
          ? [JSONPatch{op: 'add', path: '/spec/tolerations', value: variables.newTolerations}]
          : variables.newTolerations.map(t, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: t}))
        """,
        writes="(!variables.hasTerms && variables.written[0].size() > 0 || variables.newPreferences.size() > 0)",
        has_affinity=HAS_AFFINITY,
        path=text(_PATH),
        required=text(f"{_PATH}/{REQUIRED}"),
        terms=text(f"{_PATH}/{REQUIRED}/nodeSelectorTerms/"),
        preferred=PREFERRED,
        preferred_path=text(f"{_PATH}/{PREFERRED}"),
    )


def _written(options: Options) -> str:
    if options.affinity == "never":
        return "variables.terms.map(term, [])"
    always = ""
    if options.affinity == "always":
        always = (
            "!variables.hasTerms && variables.archPins.size() == 0 && variables.restricted "
            "&& !variables.toleratesVirtualNodes"
        )
    return cel(
        """
        variables.terms.transformList(i, term,
          (variables.barred[i].size() == 0 || !variables.hasTerms && variables.archPins.size() > 0) && !(%always) ? []
          // nodes without an arch label stay reachable
          : variables.toleratesVirtualNodes && variables.archPins.size() == 0
            && variables.archRequirements[i].all(e, e.operator in ['NotIn', 'DoesNotExist'])
            ? [%not_in]
          : variables.live[i].size() > 0 ? [%live]
          // a dead term is closed: by what it does not ask for, else by an architecture that no image runs on
          : variables.reachable.exists(a, !(a in variables.meeting[i])) ? [%apart]
          : %another in variables.meeting[i] ? [%reachable, %other] : [%other])
        """,
        always=always or "false",
        not_in=_expression("NotIn", "variables.lacking[i]"),
        live=_expression("In", "variables.architectures.filter(a, a in variables.live[i])"),
        apart=_expression("In", "variables.reachable.filter(a, !(a in variables.meeting[i]))"),
        reachable=_expression("In", "variables.reachable"),
        other=_expression("In", f"[{_another()}]"),
        another=_another(),
    )


def _another() -> str:
    return "(variables.nodeArchitectures.filter(a, !(a in variables.reachable)) + ['none'])[0]"


def _expression(operator: str, values: str) -> str:
    return f"{{'key': dyn({text(ARCH)}), 'operator': dyn({text(operator)}), 'values': dyn({values})}}"


def _covers() -> str:
    """Whether `there` tolerates every taint that `new` does, as `placement.tolerations.covers` has it."""
    return cel(
        """
        ((!has(there.effect) || there.effect == '' || has(new.effect) && new.effect == there.effect)
          && (!has(there.key) || there.key == '' || has(new.key) && new.key == there.key)
          && (has(there.operator) && there.operator == 'Exists'
            || (!has(there.operator) || there.operator in ['', 'Equal'])
              && (!has(new.operator) || new.operator == 'Equal')
              && (has(there.value) ? there.value : '') == (has(new.value) ? new.value : '')))
        """
    )
