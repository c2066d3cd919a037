"""CEL: the tolerations and preferred terms that a pod gets, by `placement.tolerations`.

exposed                  the architectures to whose nodes the pod may come although an image does not run there
applicableTolerations    those of the rules that apply to the pod
newTolerations           of these, those that no other toleration covers
newPreferences           preferred terms
needsNodeAffinity        the pod has no node affinity, and gets some
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from archfit.admission.policy.cel_text import Variable, cel, literal, variable
from archfit.admission.policy.recorded_entries import preference_variables
from archfit.admission.policy.required_affinity import expression
from archfit.images.platforms import WINDOWS
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH_LABELS
from archfit.placement.tolerations import covers


def addition_variables(options: Options) -> Iterator[Variable]:
    """exposed, applicableTolerations, newTolerations, newPreferences, needsNodeAffinity."""
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
        variables.unasked || !variables.tolerates ? [] :
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
    yield from preference_variables()
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
        variables.unasked
        // one architecture alone leaves nothing to prefer
        || variables.reachable.size() < 2
          && !variables.live.exists(live, live.exists(a, !(a in variables.reachable)))
        || variables.preferences.exists(p, has(p.preference.matchExpressions)
          && p.preference.matchExpressions.exists(e, e.key in %labels))
        ? [] :
        variables.weights.filter(w, w.architecture in variables.reachable).map(w, {
          'weight': dyn(w.weight),
          'preference': dyn({'matchExpressions': [%expression]})})
        """,
        labels=literal(sorted(ARCH_LABELS)),
        expression=expression("In", "[w.architecture]"),
    )
