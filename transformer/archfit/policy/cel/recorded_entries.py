"""CEL: what the policy itself added in an earlier pass of the same admission, by `admission.added_record`, and what the
request states, by `admission.request_fields`.

CEL reads no JSON: the text of an entry is written for each item of the pod that has the shape of an addition, and
looked for among the lines of the annotation. All of it costs nothing for a pod without the annotation.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.base.patch import pointer
from archfit.options.placement_fields import PREFERRED
from archfit.placement.affinity import ARCH
from archfit.policy.cel.cel_text import Variable, cel, literal, text, variables
from archfit.webhook.added_record import (
    AFFINITY,
    KEYS,
    LONGEST,
    NAME,
    NODE_AFFINITY,
    OPERATORS,
    PREFERENCES,
    REQUIRED_SET,
    SEPARATOR,
    TERMS,
    entry,
)
from archfit.webhook.request_fields import (
    APPLY,
    LISTS,
    MARKS,
    RECORD,
    STATES_PREFERENCES,
    STATES_TOLERATIONS,
    Field,
)

_OWN, _ANY = text('{"by":"policy",'), text('{"by":"')
_BEGINNING = '[{"by":"'
"""How the annotation begins; that of a rendered Pod begins otherwise."""
_HOLDERS = tuple(text(entry("policy", path, {})) for path in (AFFINITY, NODE_AFFINITY, REQUIRED_SET))
AFFINITY_LINE, NODE_AFFINITY_LINE, REQUIRED_LINE = _HOLDERS
_EQUAL = " && ".join(
    f"(has(t.{field}) ? t.{field} : '') == (has(rule.toleration.{field}) ? rule.toleration.{field} : '')"
    for field in ("key", "operator", "value", "effect")
)
"""Whether the toleration `t` of a pod is that of `rule`, in CEL: a field that is absent is an empty one."""
PATH_OF_ANNOTATION = pointer(("metadata", "annotations", NAME))
SAME_ITEMS = cel(
    """
    variables.newItems.size() == variables.recordedItems.size()
    && variables.newItems.all(item, item in variables.recordedItems)
    """
)
"""Whether the pod has what it gets."""


def toleration_line(fields: dict[str, str]) -> str:
    """The entry of a rule's toleration."""
    return entry("policy", ("spec", "tolerations", "-"), fields)


def record_variables() -> Iterator[Variable]:
    """The annotation, its entries, and what the request states."""
    return variables(
        """
        recordText: what an earlier pass wrote that it added
          %name in variables.annotations ? variables.annotations[%name] : ''

        managedFields: what the request states: the API server makes them before admission
          has(object.metadata.managedFields) ? object.metadata.managedFields : []

        requestedRecord: the annotation came with the request, or nothing says that it did not
          variables.recordText != '' && (variables.managedFields.size() == 0 || %requested)

        recordLines: its entries
          variables.recordText.startsWith(%beginning) && variables.recordText.endsWith(']')
          && variables.recordText.size() < %longest
          ? variables.recordText.substring(1, variables.recordText.size() - 1).split(%separator) : []

        ownLines: those of this policy, less the number of images that it saw
          variables.requestedRecord ? [] :
          variables.recordLines.filter(l, l.matches(%pattern)).map(l, %own + l.substring(l.indexOf('"path":')))

        otherLines: those of the webhook
          variables.recordLines.filter(l, l.startsWith(%any) && !l.matches(%pattern))

        statedLists: the atomic lists that an applied pod states are not extended: the next apply writes them whole
          (variables.requestedRecord ? %of_record : [])
          + (has(object.metadata.ownerReferences)
              && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller)
            || !%marked && !variables.managedFields.exists(m, has(m.operation) && m.operation == %apply) ? [] :
            %stated)
        """,
        name=text(NAME),
        requested=_requested(RECORD),
        beginning=text(_BEGINNING),
        longest=str(LONGEST),
        separator=text(SEPARATOR),
        pattern=text(r'^\{"by":"policy","images":[0-9]{1,9},"path":'),
        own=_OWN,
        any=_ANY,
        of_record=literal([STATES_TOLERATIONS[-1], STATES_PREFERENCES[-1]]),
        marked=f"({' || '.join(f'{text(mark)} in variables.annotations' for mark in MARKS)})",
        apply=text(APPLY),
        stated="\n+ ".join(f"({_requested(field)} ? [{text(field[-1])}] : [])" for field in LISTS),
    )


def states(field: Field) -> str:
    """Whether the pod states the list, in CEL. field: of LISTS."""
    return f"{text(field[-1])} in variables.statedLists"


def _requested(field: Field) -> str:
    holder, tests = "m.fieldsV1", ["has(m.fieldsV1)"]
    for name in field:
        tests.append(f"{text(name)} in {holder}")
        holder += f"[{text(name)}]"
    return f"variables.managedFields.exists(m, {' && '.join(tests)})"


def toleration_variables() -> Iterator[Variable]:
    """Uses tolerationRules."""
    return variables(
        """
        recordedTolerations: where in the pod's list an earlier pass's tolerations stand
          variables.ownLines.size() == 0 || !has(object.spec.tolerations) ? [] :
          object.spec.tolerations.transformList(i, t, !has(t.tolerationSeconds)
            && variables.tolerationRules.exists(rule, rule.line in variables.ownLines
              && %equal)
            && !object.spec.tolerations.exists(j, other, j < i && other == t), i)

        tolerations: the others, if it has any
          !has(object.spec.tolerations) ? [] : variables.recordedTolerations.size() == 0 ? object.spec.tolerations :
          object.spec.tolerations.transformList(i, t, !(i in variables.recordedTolerations), t)
        """,
        equal=_EQUAL,
    )


def expression_variables() -> Iterator[Variable]:
    """Uses statedTerms."""
    return variables(
        """
        recordedExpressions: for each required term, where an earlier pass's expressions stand
          variables.ownLines.size() == 0 ? variables.statedTerms.map(term, []) :
          variables.statedTerms.transformList(i, term, !has(term.matchExpressions) ? [] :
            [term.matchExpressions.transformList(k, e, %is_expression && %line in variables.ownLines
              // of equal ones the first: another webhook may have added one of them
              && !term.matchExpressions.exists(j, other, j < k && other == e), k)]
            // archfit adds nothing to a term without conditions: such a term is not its own
            .map(recorded, recorded.size() == term.matchExpressions.size() && !has(term.matchFields)
              && !(%required in variables.ownLines) ? [] : recorded)[0])

        requiredRecorded: the required set holds nothing else
          %required in variables.ownLines && variables.statedTerms.size() == 1
          && variables.recordedExpressions[0].size() > 0 && !has(variables.statedTerms[0].matchFields)
          && variables.recordedExpressions[0].size() == variables.statedTerms[0].matchExpressions.size()
        """,
        required=REQUIRED_LINE,
        # Whether it has the shape of what archfit adds.
        is_expression=f"e.key in {literal(KEYS)} && e.operator in {literal(OPERATORS)} && has(e.values)",
        line=_expression_line(),
    )


def preference_variables() -> Iterator[Variable]:
    """Uses nodeAffinity."""
    return variables(
        """
        recordedPreferences: where in the pod's list an earlier pass's preferred terms stand
          variables.ownLines.size() == 0 || !has(%listed) ? [] :
          %listed.transformList(i, p, !has(p.preference.matchFields) && has(p.preference.matchExpressions)
            && p.preference.matchExpressions.size() == 1 && p.preference.matchExpressions.all(e,
              e.key == %arch && e.operator == 'In' && has(e.values)) && %line in variables.ownLines
            && !%listed.exists(j, other, j < i && other == p), i)

        preferences: the others, if it has any
          !has(%listed) ? [] : variables.recordedPreferences.size() == 0 ? %listed :
          %listed.transformList(i, p, !(i in variables.recordedPreferences), p)
        """,
        listed=f"variables.nodeAffinity.{PREFERRED}",
        arch=text(ARCH),
        line=_preference_line(),
    )


def result_variables() -> Iterator[Variable]:
    """What was added, what the pod gets, and the new annotation."""
    return variables(
        """
        places: the policy adds what the pod lacks
          variables.decided && !variables.conflict

        recordedItems: the entries that an earlier pass added and that are still there
          variables.ownLines.size() == 0 ? [] :
          variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() > 0,
            variables.recordedExpressions[i].map(k, term.matchExpressions[k]).map(e, %expression).join(%separator))
          + variables.recordedPreferences.map(i, variables.nodeAffinity.%preferred[i]).map(p, %preference)
          + variables.recordedTolerations.map(i, object.spec.tolerations[i]).map(t,
            variables.tolerationRules.filter(rule, %equal)[0].line)

        newItems: the entries of what the pod gets
          !variables.places ? [] :
          variables.written.transformList(i, written, written.size() > 0,
            written.map(e, %expression).join(%separator))
          + variables.newPreferences.map(p, %preference)
          + variables.newTolerations.map(new, variables.tolerationRules.filter(rule, rule.toleration == new)[0].line)

        addsTerms: some of them are expressions of required terms
          variables.places && variables.written.exists(written, written.size() > 0)

        addsAffinity: some of them are node affinity
          variables.addsTerms || variables.places && variables.newPreferences.size() > 0

        newRecord: the annotation that says so, beside what the webhook added; one of the request stays
          variables.requestedRecord ? variables.recordText :
          [((variables.addsAffinity && (!has(object.spec.affinity) || %outer in variables.ownLines) ? [%outer] : [])
            + (variables.addsAffinity && (!variables.hasNodeAffinity || %node in variables.ownLines) ? [%node] : [])
            + (variables.addsTerms && (!variables.hasRequired || %required in variables.ownLines) ? [%required] : [])
            + variables.newItems).map(l, l.replace(%own, %own + '"images":' + string(variables.imageUses.size()) + ','))
            + variables.otherLines]
          .map(lines, lines.size() == 0 ? '' : '[' + lines.join(%separator) + ']')[0]
        """,
        expression=_expression_line(),
        separator=text(SEPARATOR),
        preferred=PREFERRED,
        preference=_preference_line(),
        equal=_EQUAL,
        outer=AFFINITY_LINE,
        node=NODE_AFFINITY_LINE,
        required=REQUIRED_LINE,
        own=_OWN,
    )


def _expression_line() -> str:
    """The entry of the expression `e` of term `i`."""
    before, after = entry("policy", (*TERMS, "%", "matchExpressions", "-"), 0).split("%")
    end, _, close = after.rpartition("0")
    return f"({text(before)} + string(i) + {text(end)} + {_expression('e')} + {text(close)})"


def _preference_line() -> str:
    """The entry of the preferred term `p`."""
    before, _, close = entry("policy", (*PREFERENCES, "-"), 0).rpartition("0")
    head, tail = '{"preference":{"matchExpressions":[', ']},"weight":'
    expression = _expression("p.preference.matchExpressions[0]")
    return f"({text(before + head)} + {expression} + {text(tail)} + string(p.weight) + {text('}' + close)})"


def _expression(e: str) -> str:
    """The JSON of an expression: no value of a label has a mark that JSON escapes."""
    key, operator = text('{"key":"'), text('","operator":"')
    values = text('","values":["')
    joined = text('","')
    close = text('"]}')
    return f"{key} + {e}.key + {operator} + {e}.operator + {values} + {e}.values.join({joined}) + {close}"
