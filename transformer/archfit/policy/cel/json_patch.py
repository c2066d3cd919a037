"""CEL: what a pod gets, by `placement.reach` and `placement.tolerations`, and the one mutation, a JSON patch of that.

There is one mutation, so that the API server does all of it or nothing: where the pod is the same as after an earlier
pass, nothing but the annotation; else its additions out, the new ones in. Its values are made of the policy's own
literals, never of parts of `object`, and never of a list of `Object{..}`: the API server loses the first and panics at
the second (kubernetes#140164, #142181).

A required term gets one In or NotIn, or two of In for a term that asks for another operating system and must match no
node; before it one of the operating system, where the cluster has others than Linux.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from archfit.images.platforms import WINDOWS
from archfit.options.placement_fields import PREFERRED, REQUIRED
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH, ARCH_LABELS, OS
from archfit.placement.tolerations import covers as is_covered
from archfit.policy.cel.cel_text import Variable, cel, literal, text, variables
from archfit.policy.cel.recorded_entries import (
    AFFINITY_LINE,
    NODE_AFFINITY_LINE,
    PATH_OF_ANNOTATION,
    SAME_ITEMS,
    preference_variables,
    states,
)
from archfit.policy.cel.term_reach import COVERS, several_systems
from archfit.webhook.added_record import NAME
from archfit.webhook.request_fields import STATES_TERMS

NEEDED_TERMS = "neededTerms"


def written_variables(options: Options) -> Iterator[Variable]:
    """The required node affinity: for each term what is ANDed to it; for a pod without terms, its one new term."""
    if options.affinity == "never":
        yield from variables(
            """
            neededTerms: for each required term, or for the one to create, what it gets
              variables.terms.map(term, [])

            written: for each required term, or for the one to create, what it gets
              variables.terms.map(term, [])
            """
        )
        return
    several = several_systems(options)
    enough = "variables.barred[i].size() == 0 || !variables.hasTerms && variables.archPins.size() > 0"
    unlabelled = cel(
        """
        variables.toleratesVirtualNodes && variables.archPins.size() == 0
          && variables.archRequirements[i].all(e, e.operator in ['NotIn', 'DoesNotExist'])
        """
    )
    if options.affinity == "always":
        yield from variables(
            """
            always: the pod gets a term even where it runs everywhere
              !variables.hasTerms && variables.archPins.size() == 0
              && variables.restricted && !variables.toleratesVirtualNodes%no_system
            """,
            no_system=" && variables.shut[0].size() == 0" if several else "",
        )
        enough = f"!variables.always && ({enough})"
    yield from variables(
        """
        another: an architecture that the pod cannot reach
          (variables.nodeArchitectures.filter(a, !(a in variables.reachable)) + ['none'])[0]

        %name: for each required term, or for the one to create, what it gets
          variables.terms.transformList(i, term,
            %enough ? []
            // nodes without an arch label stay reachable
            : %unlabelled
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
        name="neededArchitectures" if several else NEEDED_TERMS,
        enough=enough,
        unlabelled=unlabelled,
        not_in=expression("NotIn", "variables.lacking[i]"),
        live=expression(
            "In",
            "variables.unconstrained ? variables.live[i]"
            " : variables.architectures.filter(a, a in variables.live[i])",
        ),
        apart=expression("In", "variables.reachable.filter(a, !(a in variables.meeting[i]))"),
        reachable=expression("In", "variables.reachable"),
        another=expression("In", "[variables.another]"),
    )
    if several:
        yield from variables(
            """
            neededTerms: the same, behind the systems that a term is kept to
              variables.neededArchitectures.transformList(i, needed, (variables.shut[i].size() == 0 ? []
                : %unlabelled ? [%not_in]
                : [%is_in]) + needed)
            """,
            unlabelled=unlabelled,
            not_in=expression("NotIn", "variables.shut[i]", OS),
            is_in=expression("In", "variables.systems[i]", OS),
        )
    yield from variables(
        """
        written: the same, but for terms that an applied pod states
          %stated ? variables.terms.map(term, []) : variables.neededTerms
        """,
        stated=states(STATES_TERMS),
    )


def expression(operator: str, values: str, key: str = ARCH) -> str:
    """A requirement on a label of nodes. values: a list in CEL."""
    return f"{{'key': dyn({text(key)}), 'operator': dyn({text(operator)}), 'values': dyn({values})}}"


def addition_variables(options: Options) -> Iterator[Variable]:
    """The tolerations and preferred terms that a pod gets."""
    yield from variables(
        """
        exposed: the architectures to whose nodes the pod may come although an image does not run there
          variables.restrictions.size() == 0 ? [] :
          variables.architectures.filter(a, variables.systems.exists(i, systems,
            systems.size() > 0 && a in variables.meeting[i] && !(a in variables.live[i])
            && systems.exists(os, !(a in variables.offered[os]) && (os != 'windows' || a in %windows))
            && variables.written[i]%of_arch.all(e, e.operator == 'In' ? a in e.values : !(a in e.values))))
        """,
        windows=literal(WINDOWS),
        of_arch=f".filter(e, e.key == {text(ARCH)})" if several_systems(options) else "",
    )
    applying = cel(
        """
        variables.unasked || !variables.tolerates ? [] :
        variables.tolerationRules.filter(rule, rule.architectures.exists(a, a in variables.reachable)
          && rule.architectures.all(a, a in variables.reachable || !(a in variables.exposed)))
        """
    )
    needed = any(rule.needed for rule in options.tolerate)
    if needed:
        yield from _needed_variables(applying)
        applying = "variables.applyingRules.filter(rule, !rule.needed || variables.needsTolerations)\n  "
    yield from variables(
        """
        applicableTolerations: the tolerations of the rules that apply to the pod
          %applying.map(rule, rule.toleration)

        newTolerations: of these, those that no other toleration covers
          variables.applicableTolerations.transformList(i, new,
            !variables.tolerations.exists(there,
              %covers)%among_themselves,
            new)
        """,
        applying=applying if needed else f"{applying}\n",
        covers=COVERS,
        among_themselves=_among_themselves(options),
    )
    yield from preference_variables()
    yield from variables(
        """
        newPreferences: the preferred terms that the pod gets, if it has none on the architecture itself
          %preferences

        needsNodeAffinity: the pod has no node affinity, and gets some
          !variables.hasNodeAffinity
          && (variables.written[0].size() > 0 || variables.newPreferences.size() > 0)
        """,
        preferences=_preferences() if options.prefer or any(rule.prefer for rule in options.rules) else "[]",
    )


def _needed_variables(applying: str) -> Iterator[Variable]:
    return variables(
        """
        applyingRules: the rules that apply to the pod, where they are needed
          %applying

        needsTolerations: each architecture that the pod can reach needs a toleration, with those that it gets anyway
          variables.reachable.all(a, variables.applyingRules.exists(rule, a in rule.architectures
            && [rule.toleration].all(new, !variables.tolerations.exists(there,
              %covers)
            && !variables.applyingRules.exists(other, !other.needed && [other.toleration].exists(there,
              %covers)))))
        """,
        applying=applying,
        covers=COVERS,
    )


def _among_themselves(options: Options) -> str:
    """Whether an earlier toleration covers `new`; "" where none of the rules covers a later one."""
    added = [rule.toleration for rule in options.tolerate]
    if not any(is_covered(there, new) for there, new in combinations(added, 2)):
        return ""
    return "\n" + cel(
        """
        && !variables.applicableTolerations.exists(j, there, j < i &&
          %covers)
        """,
        covers=COVERS,
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


_PATH = "/spec/affinity/nodeAffinity"


def mutation() -> str:
    """The expression of the JSON patch.

    Items go from the front of their lists, each index less those that are gone; then mappings that would be empty.
    """
    return cel(
        """
        (%same ? [] :
        // what an earlier pass added
        (variables.ownLines.size() == 0 ? [] :
        variables.recordedTolerations.transformList(k, i,
          JSONPatch{op: 'remove', path: '/spec/tolerations/' + string(i - k)})
        + variables.recordedPreferences.transformList(k, i,
          JSONPatch{op: 'remove', path: %preferred_item + string(i - k)})
        + variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() > 0,
          JSONPatch{op: 'remove', path: %terms + string(i) + '/matchExpressions/'
            + string(variables.recordedExpressions[i][0])})
        + variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() > 1,
          JSONPatch{op: 'remove', path: %terms + string(i) + '/matchExpressions/'
            + string(variables.recordedExpressions[i][1] - 1)})
        + (variables.requiredRecorded && !variables.addsTerms
          ? [JSONPatch{op: 'remove', path: %required}] : [])
        + (%node_line in variables.ownLines && variables.hasNodeAffinity && !variables.hasTerms
            && variables.preferences.size() == 0 && !variables.addsAffinity
          ? [JSONPatch{op: 'remove', path: %affinity}]
            + (%affinity_line in variables.ownLines && !has(object.spec.affinity.podAffinity)
                && !has(object.spec.affinity.podAntiAffinity)
              ? [JSONPatch{op: 'remove', path: '/spec/affinity'}] : [])
          : []))
        + (!variables.places ? [] :
        // the mappings above what is written
        (variables.needsNodeAffinity && !has(object.spec.affinity)
          ? [JSONPatch{op: 'add', path: '/spec/affinity', value: {}}] : [])
        + (variables.needsNodeAffinity ? [JSONPatch{op: 'add', path: %affinity, value: {}}] : [])
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
          : variables.newTolerations.map(new, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: new}))))
        // the annotation that says what was added
        + (variables.newRecord == variables.recordText
            || variables.newItems.size() == 0 && variables.ownLines.size() == 0 ? []
          : variables.newRecord == '' ? [JSONPatch{op: 'remove', path: %annotation}]
          : has(object.metadata.annotations)
            ? [JSONPatch{op: 'add', path: %annotation, value: variables.newRecord}]
          : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {%name: variables.newRecord}}])
        """,
        same=SAME_ITEMS,
        affinity=text(_PATH),
        required=text(f"{_PATH}/{REQUIRED}"),
        terms=text(f"{_PATH}/{REQUIRED}/nodeSelectorTerms/"),
        preferred=text(f"{_PATH}/{PREFERRED}"),
        preferred_item=text(f"{_PATH}/{PREFERRED}/"),
        append=text(f"{_PATH}/{PREFERRED}/-"),
        own_preferred=f"variables.nodeAffinity.{PREFERRED}",
        node_line=NODE_AFFINITY_LINE,
        affinity_line=AFFINITY_LINE,
        annotation=text(PATH_OF_ANNOTATION),
        name=text(NAME),
    )
