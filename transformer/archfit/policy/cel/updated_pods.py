"""CEL: what an update of a pod lacks of what archfit had added to it, by `admission.updated_pod`.

recordBefore, linesBefore                            the stored pod's annotation, its entries (policy's, webhook's)
termsBefore                                          its required terms
recordedBefore.. Tolerations, Expressions, Preferences
                                                     of what the stored pod has, the entries that it records
lost.. Tolerations, Expressions, Preferences         those of them that the update lacks

    at      the index in the stored pod's list
    line    the entry of the annotation, as `recorded_entries` writes it
    value   what is put back, written anew: no part of `oldObject` may be a value of the patch

Expressions come in one list for each term. All of it is evaluated only on an update.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.admission.added_record import NAME, NODE_AFFINITY, PREFERENCES, REQUIRED_SET, TERMS, TOLERATIONS
from archfit.base.patch import pointer
from archfit.placement.affinity import ARCH
from archfit.policy.cel.cel_text import Variable, cel, text, variable
from archfit.policy.cel.recorded_entries import (
    BEGINNING,
    PATH_OF_ANNOTATION,
    expression_line,
    is_expression,
    is_preference,
    lines_of_either,
    preference_line,
    stated_toleration_line,
)
from archfit.workloads.pods import PREFERRED, REQUIRED

MOST_OF_A_TERM = 3
"""Expressions that are put back: the policy writes one or two, and the webhook beside it a narrower one."""
_NODE_AFFINITY = pointer(NODE_AFFINITY)
_REQUIRED = pointer(REQUIRED_SET)
_TERMS = pointer(TERMS)
_RECORD = f"oldObject.metadata.annotations[{text(NAME)}]"


def update_condition() -> tuple[str, str]:
    """The match condition for updates, (name, expression): of pods that archfit has changed, and of what it changed.

    The manifests of the webhook have the same, so that it is not called for each label and finalizer: the controller of
    Jobs takes one from each of its pods.
    """
    return (
        "updated-after-a-change",
        cel(
            """
            request.operation != 'UPDATE' || has(oldObject.metadata.annotations)
            && %name in oldObject.metadata.annotations && %record.startsWith(%beginning)
            && !has(oldObject.metadata.deletionTimestamp)
            && (!has(object.metadata.annotations) || !(%name in object.metadata.annotations)
            || object.metadata.annotations[%name] != %record
            || (has(object.spec.tolerations) ? object.spec.tolerations : [])
            != (has(oldObject.spec.tolerations) ? oldObject.spec.tolerations : [])
            || (has(object.spec.affinity) ? object.spec.affinity : {})
            != (has(oldObject.spec.affinity) ? oldObject.spec.affinity : {}))
            """,
            name=text(NAME),
            record=_RECORD,
            beginning=text(BEGINNING),
        ),
    )


def update_variables() -> Iterator[Variable]:
    """See the module. Uses nodeAffinity and statedTerms, which are those of the update."""
    yield variable("recordBefore", "what the stored pod records", _RECORD)
    yield variable(
        "linesBefore",
        "its entries, of policy or webhook",
        "%lines",
        lines=lines_of_either("variables.recordBefore"),
    )
    yield variable(
        "affinityBefore",
        "the stored pod's node affinity, if it has any",
        """
        has(oldObject.spec.affinity) && has(oldObject.spec.affinity.nodeAffinity)
        ? oldObject.spec.affinity.nodeAffinity : {}
        """,
    )
    yield variable(
        "termsBefore",
        "the required terms of that",
        f"has(variables.affinityBefore.{REQUIRED}) ? variables.affinityBefore.{REQUIRED}.nodeSelectorTerms : []",
    )
    yield from _tolerations()
    yield from _expressions()
    yield from _preferences()


def _tolerations() -> Iterator[Variable]:
    yield variable(
        "tolerationsBefore",
        "the stored pod's tolerations that it records",
        """
        !has(oldObject.spec.tolerations) ? [] :
        oldObject.spec.tolerations.transformList(i, t, !has(t.tolerationSeconds),
          {'at': dyn(i), 'line': dyn(%line), 'value': dyn({
            ?'key': t.?key, ?'operator': t.?operator, ?'value': t.?value, ?'effect': t.?effect})})
        .filter(one, one.line in variables.linesBefore)
        """,
        line=stated_toleration_line("t"),
    )
    yield variable(
        "lostTolerations",
        "those that the update lacks",
        """
        !has(object.spec.tolerations) ? variables.tolerationsBefore :
        [object.spec.tolerations.filter(t, !has(t.tolerationSeconds)).map(t, %line)].map(stated,
          variables.tolerationsBefore.filter(one, !(one.line in stated)))[0]
        """,
        line=stated_toleration_line("t"),
    )


def _expressions() -> Iterator[Variable]:
    yield variable(
        "expressionsBefore",
        "for each of its required terms the expressions that it records",
        """
        variables.termsBefore.transformList(i, term, !has(term.matchExpressions) ? [] :
          term.matchExpressions.transformList(k, e, %is_expression,
            {'at': dyn(k), 'line': dyn(%line), 'value': dyn(%value)})
          .filter(one, one.line in variables.linesBefore))
        """,
        is_expression=is_expression("e"),
        line=expression_line("e"),
        value=_expression("e"),
    )
    yield variable(
        "lostExpressions",
        "those that the update lacks; of other terms than before nothing is put back, as the API server refuses them",
        """
        variables.termsBefore.size() == variables.statedTerms.size()
        ? variables.expressionsBefore.transformList(i, before,
          before.size() == 0 || !has(variables.statedTerms[i].matchExpressions) ? before :
          [variables.statedTerms[i].matchExpressions.filter(e, %is_expression).map(e, %line)].map(stated,
            before.filter(one, !(one.line in stated)))[0])
        : variables.statedTerms.size() == 0 && variables.termsBefore.all(i, term,
          (has(term.matchExpressions) ? term.matchExpressions.size() : 0) == variables.expressionsBefore[i].size()
          && !has(term.matchFields))
        ? variables.expressionsBefore : []
        """,
        is_expression=is_expression("e"),
        line=expression_line("e"),
    )


def _preferences() -> Iterator[Variable]:
    yield variable(
        "preferencesBefore",
        "its preferred terms that it records",
        """
        !has(%before) ? [] :
        %before.transformList(i, p, %is_preference,
          {'at': dyn(i), 'line': dyn(%line), 'value': dyn({
            'weight': dyn(p.weight),
            'preference': dyn({'matchExpressions': p.preference.matchExpressions.map(e, %value)})})})
        .filter(one, one.line in variables.linesBefore)
        """,
        before=f"variables.affinityBefore.{PREFERRED}",
        is_preference=is_preference("p"),
        line=preference_line("p"),
        value=_expression("e"),
    )
    yield variable(
        "lostPreferences",
        "those that the update lacks",
        """
        !has(%stated) ? variables.preferencesBefore :
        [%stated.filter(p, %is_preference).map(p, %line)].map(stated,
          variables.preferencesBefore.filter(one, !(one.line in stated)))[0]
        """,
        stated=f"variables.nodeAffinity.{PREFERRED}",
        is_preference=is_preference("p"),
        line=preference_line("p"),
    )


def _expression(e: str) -> str:
    return f"{{'key': dyn({text(ARCH)}), 'operator': dyn({e}.operator), 'values': dyn({e}.values.map(v, v))}}"


def restoring() -> str:
    """The JSON patch that puts back what an update lacks, each at the index that it had, and the annotation."""
    return cel(
        """
        // the mappings above what is put back
        (%affinity_lost && !has(object.spec.affinity)
          ? [JSONPatch{op: 'add', path: '/spec/affinity', value: {}}] : [])
        + (%affinity_lost && !variables.hasNodeAffinity
          ? [JSONPatch{op: 'add', path: %path, value: {}}] : [])
        // the required set, or expressions of its terms
        + (variables.statedTerms.size() > 0 || !%expression_lost ? []
          : [JSONPatch{op: 'add', path: %required,
            value: {'nodeSelectorTerms': variables.lostExpressions.map(lost,
              {'matchExpressions': lost.map(one, one.value)})}}])
        %expressions
        // preferred terms
        + %preferences
        // tolerations
        + %tolerations
        // the annotation that records them
        + (variables.tolerationsBefore.size() + variables.preferencesBefore.size() == 0
            && !variables.expressionsBefore.exists(before, before.size() > 0)
            || %name in variables.annotations && variables.annotations[%name] == variables.recordBefore ? []
          : has(object.metadata.annotations)
            ? [JSONPatch{op: 'add', path: %annotation, value: variables.recordBefore}]
          : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {%name: variables.recordBefore}}])
        """,
        affinity_lost="(variables.lostExpressions.exists(lost, lost.size() > 0)"
        " || variables.lostPreferences.size() > 0)",
        expression_lost="variables.lostExpressions.exists(lost, lost.size() > 0)",
        path=text(_NODE_AFFINITY),
        required=text(_REQUIRED),
        expressions="\n".join(map(_of_each_term, range(MOST_OF_A_TERM))),
        preferences=_of_list("lostPreferences", f"variables.nodeAffinity.{PREFERRED}", pointer(PREFERENCES)),
        tolerations=_of_list("lostTolerations", "object.spec.tolerations", pointer(TOLERATIONS)),
        name=text(NAME),
        annotation=text(PATH_OF_ANNOTATION),
    )


def _of_each_term(number: int) -> str:
    """What puts back the lost expression of that number in each term; the first one, where it has none, all of them."""
    stated = "variables.statedTerms[i].matchExpressions"
    one = cel(
        """
        JSONPatch{op: 'add',
            path: %terms + string(i) + '/matchExpressions/'
              + (%lost.at < %stated.size() + %number ? string(%lost.at) : '-'),
            value: %lost.value}
        """,
        terms=text(f"{_TERMS}/"),
        lost=f"lost[{number}]",
        stated=stated,
        number=str(number),
    )
    if number:
        return cel(
            """
            + variables.lostExpressions.transformList(i, lost,
              variables.statedTerms.size() > 0 && lost.size() > %number && has(%stated),
              %one)
            """,
            number=str(number),
            stated=stated,
            one=one,
        )
    return cel(
        """
        + variables.lostExpressions.transformList(i, lost,
          variables.statedTerms.size() > 0 && lost.size() > 0,
          has(%stated)
          ? %one
          : JSONPatch{op: 'add',
            path: %terms + string(i) + '/matchExpressions',
            value: lost.map(one, one.value)})
        """,
        stated=stated,
        one=one,
        terms=text(f"{_TERMS}/"),
    )


def _of_list(lost: str, stated: str, path: str) -> str:
    """What puts items back into a list that the update may lack."""
    return cel(
        """
        (variables.%lost.size() == 0 ? []
          : !has(%stated) ? [JSONPatch{op: 'add', path: %path, value: variables.%lost.map(one, one.value)}]
          : variables.%lost.transformList(k, one, JSONPatch{op: 'add',
            path: %items + (one.at < %stated.size() + k ? string(one.at) : '-'), value: one.value}))
        """,
        lost=lost,
        stated=stated,
        path=text(path),
        items=text(f"{path}/"),
    )
