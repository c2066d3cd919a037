"""CEL: the one mutation, a JSON patch that adds what the variables say.

There is one, so that the API server does all of it or nothing. Its values are made of the policy's own literals, never
of parts of `object`, and never of a list of `Object{..}`: the API server loses the one and panics at the other
(kubernetes#140164, #142181).
"""

from __future__ import annotations

from archfit.admission.policy.cel_text import cel, text
from archfit.workloads.pods import PREFERRED, REQUIRED

_PATH = "/spec/affinity/nodeAffinity"


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
        own_preferred=f"variables.nodeAffinity.{PREFERRED}",
        preferred=text(f"{_PATH}/{PREFERRED}"),
        append=text(f"{_PATH}/{PREFERRED}/-"),
    )
