"""CEL: where a pod can go, by `placement.reach`; lists have one entry for each required term.

    restricted, offered, nodes, supported    what the images offer, and what the cluster has, by operating system
    meeting                                  what meets a term's requirements, whatever the cluster has
    allowed, barred, live, lacking           as in `Reach`, and what the cluster has and the images do not support
    reachable                                the union of live, of the architectures that the policy knows

A value that meets a term and that the policy does not know stands in the first list that the term asks for with In
(nodeSelector asks so too): a value that NotIn, Gt or Lt names does not meet it. So no other list is looked through, and
what meets a term that asks with In is named by it.

These variables are what the required terms ask of a node, by `placement.affinity`:

terms                               the required terms; one without conditions where there is no required set
unconstrained                       neither they nor nodeSelector ask anything of architecture or operating system
archPins, osPins                    what nodeSelector asks of architecture and operating system
archRequirements, osRequirements    what a term asks of them, by either name of the label
systems                             the operating systems of a term, linux and windows alone; [] for a closed one
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.options.placement_fields import REQUIRED
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.placement.reach import by_system
from archfit.policy.cel.cel_text import Variable, cel, literal, rows, text, variable
from archfit.policy.cel.platform_table import SYSTEMS
from archfit.policy.cel.recorded_entries import expression_variables

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


_ALLOWED = """\
a in variables.nodes[os]
|| variables.asksWithIn[i] && !variables.systems[i].exists(other, a in variables.nodes[other])"""


def supported_variables(options: Options) -> Iterator[Variable]:
    """restricted, offered, nodes, supported."""
    yield variable(
        "restricted",
        "something keeps the pod from some architectures",
        "variables.restrictions.size() > 0 || variables.only.size() > 0",
    )
    yield variable(
        "offered",
        "the architectures that every image offers",
        "%offered",
        offered=_by_system(
            "variables.restrictions.size() == 0 ? variables.architectures\n"
            ": !variables.restrictions.all(offer, %os in offer) ? []\n"
            ": variables.restrictions[0][%os].map(a, variables.restrictions.all(offer, a in offer[%os]), string(a))"
        ),
    )
    cluster = {os: literal(sorted(names)) for os, names in by_system(options.cluster_architectures).items()}
    unknown = "variables.restrictions.size() > 0 && variables.offered['windows'].size() > 0\n"
    yield variable(
        "nodes",
        "the architectures of the cluster's nodes; for a system without any, those of the images",
        """
        {
          'linux': %linux,
          'windows': %windows
        }
        """,
        linux=cluster["linux"],
        windows=cluster.get("windows") or f"{unknown}  ? variables.offered['windows'] : {cluster['linux']}",
    )
    yield variable(
        "supported",
        "the architectures that every image offers and the user's choice leaves",
        "%supported",
        supported=_by_system(
            "variables.only.size() == 0 ? variables.offered[%os]\n"
            ": variables.offered[%os].filter(a, variables.only.all(names, a in names))"
        ),
    )


def reach_variables() -> Iterator[Variable]:
    """asksWithIn, meeting, allowed, barred, live, lacking, reachable."""
    yield variable(
        "asksWithIn",
        "whether each term names the architectures that it allows",
        "variables.archRequirements.map(asked,\n"
        "  variables.archPins.size() > 0 || asked.exists(e, e.operator == 'In'))",
    )
    yield variable(
        "meeting",
        "the architectures that meet each term",
        """
        variables.unconstrained ? [variables.architectures] :
        variables.archRequirements.map(asked,
          (variables.archPins.size() > 0 ? variables.archPins
            : asked.exists(e, e.operator == 'In') ? asked.filter(e, e.operator == 'In')[0].values
            : variables.architectures)
          .filter(a, variables.archPins.all(pin, pin == a) && asked.all(e,
            %meets)))
        """,
        meets=meets("a"),
    )
    yield variable(
        "allowed",
        "the architectures that each term allows on some node",
        """
        variables.unconstrained ? [variables.nodes[variables.systems[0][0]]] :
        variables.meeting.transformList(i, meeting, meeting.filter(a, variables.systems[i].exists(os,
          %allowed)))
        """,
        allowed=_ALLOWED,
    )
    yield variable(
        "barred",
        "of these, those on which an image does not run",
        """
        !variables.restricted ? variables.allowed.map(allowed, []) :
        variables.unconstrained
        ? [variables.allowed[0].filter(a, !(a in variables.supported[variables.systems[0][0]]))] :
        variables.allowed.transformList(i, allowed, allowed.filter(a, variables.systems[i].exists(os,
          !(a in variables.supported[os]) && (
            %allowed))))
        """,
        allowed=_ALLOWED,
    )
    yield variable(
        "live",
        "of these, the others: where the pod runs",
        "variables.allowed.transformList(i, allowed, variables.barred[i].size() == 0 ? allowed\n"
        "  : allowed.filter(a, !(a in variables.barred[i])))",
    )
    yield variable(
        "lacking",
        "the architectures of each term's nodes on which the pod does not run",
        """
        variables.systems.map(systems, variables.architectures.filter(a, systems.exists(os,
          a in variables.nodes[os] && !(a in variables.supported[os]))))
        """,
    )
    yield variable(
        "reachable",
        "the architectures that the pod can reach in the end",
        "variables.unconstrained ? variables.live[0]\n"
        ": variables.architectures.filter(a, variables.live.exists(live, a in live))",
    )


def _by_system(architectures: str) -> str:
    return rows(
        (f"{text(os)}: {cel(architectures, os=text(os))}".replace("\n", "\n  ") for os in SYSTEMS), "{", "}"
    )
