"""CEL: what a pod's required terms ask of a node, by `placement.affinity`; lists have one entry for each term.

terms                               the required terms; one without conditions where there is no required set
unconstrained                       neither they nor nodeSelector ask anything of architecture or operating system
archPins, osPins                    what nodeSelector asks of architecture and operating system
archRequirements, osRequirements    what a term asks of them, by either name of the label
systems                             the operating systems of a term, linux and windows alone; [] for a closed one
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.admission.policy.cel_text import Variable, cel, literal, variable
from archfit.admission.policy.recorded_entries import expression_variables
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.workloads.pods import REQUIRED

_ARCH, _OS = literal(sorted(ARCH_LABELS)), literal(sorted(OS_LABELS))


def term_variables() -> Iterator[Variable]:
    """hasNodeAffinity, nodeAffinity, .. hasTerms, terms, the pins and requirements, .. systems."""
    yield variable(
        "hasNodeAffinity",
        "the pod has node affinity",
        "has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)",
    )
    yield variable(
        "nodeAffinity",
        "the pod's own, if it has any",
        "variables.hasNodeAffinity ? object.spec.affinity.nodeAffinity : {}",
    )
    yield variable("hasRequired", "it has a required set", f"has(variables.nodeAffinity.{REQUIRED})")
    yield variable(
        "statedTerms",
        "the terms of that",
        f"variables.hasRequired ? variables.nodeAffinity.{REQUIRED}.nodeSelectorTerms : []",
    )
    yield from expression_variables()
    yield variable(
        "hasTerms",
        "the pod has required terms that no earlier pass made",
        "variables.hasRequired && !variables.requiredRecorded",
    )
    yield variable(
        "terms",
        "the required terms, without what an earlier pass added; one without conditions where there are none",
        """
        !variables.hasTerms ? [{'matchExpressions': []}]
        : variables.ownLines.size() == 0 ? variables.statedTerms
        : variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() == 0 ? dyn(term)
          : [term.matchExpressions.transformList(k, e, !(k in variables.recordedExpressions[i]), e)].map(left,
            has(term.matchFields)
            ? dyn({'matchExpressions': dyn(left), 'matchFields': dyn(term.matchFields)})
            : dyn({'matchExpressions': dyn(left)}))[0])
        """,
    )
    yield variable(
        "unconstrained",
        "neither required terms nor nodeSelector ask anything: most pods, and the rest is short for them",
        "!variables.hasTerms && !%labels.exists(label, label in variables.nodeSelector)",
        labels=literal(sorted({*ARCH_LABELS, *OS_LABELS})),
    )
    yield _pins("archPins", "the architectures that nodeSelector names", _ARCH)
    yield _requirements("archRequirements", "what each term asks of the architecture", _ARCH)
    yield _pins("osPins", "the operating systems that nodeSelector names", _OS)
    yield _requirements("osRequirements", "what each term asks of the operating system", _OS)
    yield from _system_variables()


def _system_variables() -> Iterator[Variable]:
    yield variable(
        "statedSystem",
        "spec.os.name",
        "has(object.spec.os) && has(object.spec.os.name) ? string(object.spec.os.name) : ''",
    )
    yield variable(
        "openSystems",
        "the operating systems that each term leaves possible",
        """
        variables.osRequirements.map(asked, ['linux', 'windows'].filter(os,
          variables.osPins.all(pin, pin == os) && asked.all(e,
            %meets)))
        """,
        meets=meets("os"),
    )
    yield variable(
        "systems",
        "the operating systems whose images count for each term; none where it matches nothing",
        """
        variables.unconstrained ? [[variables.statedSystem == '' ? 'linux' : variables.statedSystem]] :
        variables.terms.transformList(i, term,
          // a term without conditions matches nothing
          variables.hasTerms && !(has(term.matchExpressions) && term.matchExpressions.size() > 0)
            && !(has(term.matchFields) && term.matchFields.size() > 0) ? []
          : variables.osPins.size() == 0 && variables.osRequirements[i].size() == 0
            || variables.statedSystem in variables.openSystems[i]
            ? [variables.statedSystem == '' ? 'linux' : variables.statedSystem]
          : variables.openSystems[i].size() > 0
            ? variables.openSystems[i].filter(os, os == 'linux' || variables.openSystems[i].size() == 1
              || variables.restrictions.size() == 0 || variables.offered[os].size() > 0)
          : variables.osPins.size() > 0 || variables.osRequirements[i].exists(e, e.operator == 'In') ? []
          : [variables.statedSystem == '' ? 'linux' : variables.statedSystem])
        """,
    )


def _pins(name: str, comment: str, labels: str) -> Variable:
    source = """
        %labels
          .filter(label, label in variables.nodeSelector).map(label, variables.nodeSelector[label])
        """
    return variable(name, comment, source, labels=labels)


def _requirements(name: str, comment: str, labels: str) -> Variable:
    source = """
        variables.terms.map(term, has(term.matchExpressions)
          ? term.matchExpressions.filter(e, e.key in %labels) : [])
        """
    return variable(name, comment, source, labels=labels)


def meets(value: str) -> str:
    """Whether a label with this value meets the requirement `e`, as `placement.affinity.matches` has it."""
    return cel(
        """
        e.operator == 'In' ? %value in e.values
        : e.operator == 'NotIn' ? !(%value in e.values)
        : e.operator in ['Gt', 'Lt'] ? [string(%value), string(e.values[0])].all(n, n.matches('^[+-]?[0-9]+$'))
          && (e.operator == 'Gt' ? int(%value) > int(e.values[0]) : int(%value) < int(e.values[0]))
        : e.operator == 'Exists'
        """,
        value=value,
    )
