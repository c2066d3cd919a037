"""CEL: the one mutation, a JSON patch that makes of the pod what the variables say.

    same as an earlier pass    nothing, but for the annotation
    else                       its additions out, the new ones in
    an update                  what it lacks of what was recorded is put back (`updated_pods`)

There is one, so that the API server does all of it or nothing. Its values are made of the policy's own literals, never
of parts of `object`, and never of a list of `Object{..}`: the API server loses the one and panics at the other
(kubernetes#140164, #142181).
"""

from __future__ import annotations

from archfit.admission.added_record import NAME
from archfit.admission.policy.cel_text import cel, text
from archfit.admission.policy.recorded_entries import (
    AFFINITY_LINE,
    NODE_AFFINITY_LINE,
    PATH_OF_ANNOTATION,
    same_items,
)
from archfit.admission.policy.updated_pods import restoring
from archfit.workloads.pods import PREFERRED, REQUIRED

_PATH = "/spec/affinity/nodeAffinity"


def mutation() -> str:
    """The expression of the JSON patch."""
    return cel(
        """
        request.operation == 'UPDATE' ?
        %restoring
        :
        (%same ? [] :
        %removed
        + (!variables.places ? [] :
        %added))
        // the annotation that says what was added
        + (variables.newRecord == variables.recordText
            || variables.newItems.size() == 0 && variables.ownLines.size() == 0 ? []
          : variables.newRecord == '' ? [JSONPatch{op: 'remove', path: %annotation}]
          : has(object.metadata.annotations)
            ? [JSONPatch{op: 'add', path: %annotation, value: variables.newRecord}]
          : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {%name: variables.newRecord}}])
        """,
        restoring=restoring(),
        same=same_items(),
        removed=_removed(),
        added=_added(),
        annotation=text(PATH_OF_ANNOTATION),
        name=text(NAME),
    )


def _removed() -> str:
    """Items from the front of their lists, each index less those that are gone; then mappings that would be empty."""
    return cel(
        """
        // what an earlier pass added
        (variables.ownLines.size() == 0 ? [] :
        variables.recordedTolerations.transformList(k, i,
          JSONPatch{op: 'remove', path: '/spec/tolerations/' + string(i - k)})
        + variables.recordedPreferences.transformList(k, i,
          JSONPatch{op: 'remove', path: %preferred + string(i - k)})
        + (variables.foreignRecord ? [] :
          variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() > 0,
            JSONPatch{op: 'remove', path: %terms + string(i) + '/matchExpressions/'
              + string(variables.recordedExpressions[i][0])})
          + variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() > 1,
            JSONPatch{op: 'remove', path: %terms + string(i) + '/matchExpressions/'
              + string(variables.recordedExpressions[i][1] - 1)})
          + (variables.requiredRecorded && !variables.addsTerms
            ? [JSONPatch{op: 'remove', path: %required}] : [])
          + (%node_line in variables.ownLines && variables.hasNodeAffinity && !variables.hasTerms
              && variables.preferences.size() == 0 && !variables.addsAffinity
            ? [JSONPatch{op: 'remove', path: %path}]
              + (%affinity_line in variables.ownLines && !has(object.spec.affinity.podAffinity)
                  && !has(object.spec.affinity.podAntiAffinity)
                ? [JSONPatch{op: 'remove', path: '/spec/affinity'}] : [])
            : [])))
        """,
        preferred=text(f"{_PATH}/{PREFERRED}/"),
        terms=text(f"{_PATH}/{REQUIRED}/nodeSelectorTerms/"),
        required=text(f"{_PATH}/{REQUIRED}"),
        node_line=NODE_AFFINITY_LINE,
        affinity_line=AFFINITY_LINE,
        path=text(_PATH),
    )


def _added() -> str:
    return cel(
        """
        // the mappings above what is written
        (variables.needsNodeAffinity && !has(object.spec.affinity)
          ? [JSONPatch{op: 'add', path: '/spec/affinity', value: {}}] : [])
        + (variables.needsNodeAffinity ? [JSONPatch{op: 'add', path: %path, value: {}}] : [])
        // required node affinity: a new term, or one or two more expressions in each that there is
        + (!variables.hasRequired && variables.written[0].size() > 0
          ? [JSONPatch{op: 'add',
            path: %required,
            value: {'nodeSelectorTerms': [{'matchExpressions': variables.written[0]}]}}] : [])
        + variables.statedTerms.transformList(i, term, variables.written[i].size() > 0,
          JSONPatch{op: 'add',
            path: %terms
              + string(i) + '/matchExpressions' + (has(term.matchExpressions) ? '/-' : ''),
            value: has(term.matchExpressions) ? dyn(variables.written[i][0]) : dyn([variables.written[i][0]])})
        + variables.statedTerms.transformList(i, term, variables.written[i].size() > 1,
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
