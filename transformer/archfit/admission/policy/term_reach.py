"""CEL: where a pod can go, by `placement.affinity` and `placement.reach`; lists have one entry for each required term.

    terms                   the required terms; one without conditions where there is no required set
    archRequirements        what a term asks of the label kubernetes.io/arch, by either of its names
    systems                 the operating systems of a term, linux and windows alone; [] for a closed one
    meeting                 architectures that meet a term's requirements, whatever the cluster has
    allowed                 A(t)      barred, live: as in `placement.reach`
    reachable               E, of the architectures that the policy knows

A value that meets a term and is no architecture that the policy knows stands in the first list that the term asks for
with In (nodeSelector asks so too), so that no other list has to be looked through: a value that NotIn, Gt or Lt names
does not meet it. For the same reason, what meets a term that asks with In is named by it.
"""

from __future__ import annotations

from archfit.admission.policy.cel_text import cel, literal, rows, text
from archfit.admission.policy.image_answers import Variables
from archfit.admission.policy.platform_table import SYSTEMS
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.placement.reach import by_system
from archfit.workloads.pods import REQUIRED

AFFINITY = f"object.spec.affinity.nodeAffinity.{REQUIRED}"
HAS_AFFINITY = "has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)"
_NUMBER = text("^[+-]?[0-9]+$")


def supported_variables(options: Options) -> Variables:
    """restricted, offered, nodes, supported."""
    cluster = by_system(options.cluster_architectures)
    offered = "variables.architectures.filter(a, variables.restrictions.all(offer, {0} in offer && a in offer[{0}]))"
    yield "restricted", "variables.restrictions.size() > 0 || variables.only.size() > 0"
    yield "offered", _by_system(offered)
    windows = (
        literal(sorted(cluster["windows"]))
        if "windows" in cluster
        else cel(
            """
        variables.restrictions.size() > 0 && variables.offered['windows'].size() > 0
          ? variables.offered['windows'] : %linux
        """,
            linux=literal(sorted(cluster["linux"])),
        )
    )
    yield "nodes", rows((f"'linux': {literal(sorted(cluster['linux']))}", f"'windows': {windows}"), "{", "}")
    narrowed = "variables.offered[{0}].filter(a, variables.only.all(names, a in names))"
    yield "supported", _by_system(narrowed)


def term_variables() -> Variables:
    """hasTerms, .., reachable."""
    arch, systems = literal(sorted(ARCH_LABELS)), literal(sorted(OS_LABELS))
    yield "hasTerms", f"{HAS_AFFINITY} && has({AFFINITY})"
    yield "terms", f"variables.hasTerms ? {AFFINITY}.nodeSelectorTerms : [{{'matchExpressions': []}}]"
    yield "archPins", _pins(arch)
    yield "archRequirements", _requirements(arch)
    yield from _system_variables(systems)
    yield (
        "asksWithIn",
        cel(
            """
        variables.archRequirements.map(asked, variables.archPins.size() > 0 || asked.exists(e, e.operator == 'In'))
        """
        ),
    )
    yield (
        "meeting",
        cel(
            """
        variables.archRequirements.map(asked,
          (variables.archPins.size() > 0 ? variables.archPins
            : asked.exists(e, e.operator == 'In') ? asked.filter(e, e.operator == 'In')[0].values
            : variables.architectures)
          .filter(a, variables.archPins.all(pin, pin == a) && asked.all(e, %meets)))
        """,
            meets=_meets("a"),
        ),
    )
    yield (
        "allowed",
        cel(
            """
        variables.meeting.transformList(i, meeting, meeting.filter(a, variables.systems[i].exists(os,
          a in variables.nodes[os]
            || variables.asksWithIn[i] && !variables.systems[i].exists(other, a in variables.nodes[other]))))
        """
        ),
    )
    yield (
        "barred",
        cel(
            """
        !variables.restricted ? variables.allowed.map(allowed, []) :
        variables.allowed.transformList(i, allowed, allowed.filter(a, variables.systems[i].exists(os,
          !(a in variables.supported[os]) && (a in variables.nodes[os]
            || variables.asksWithIn[i] && !variables.systems[i].exists(other, a in variables.nodes[other])))))
        """
        ),
    )
    yield (
        "live",
        "variables.allowed.transformList(i, allowed, allowed.filter(a, !(a in variables.barred[i])))",
    )
    yield "reachable", "variables.architectures.filter(a, variables.live.exists(live, a in live))"
    yield (
        "lacking",
        cel(
            """
        variables.systems.map(systems, variables.architectures.filter(a, systems.exists(os,
          a in variables.nodes[os] && !(a in variables.supported[os]))))
        """
        ),
    )


def _system_variables(labels: str) -> Variables:
    yield "osPins", _pins(labels)
    yield "osRequirements", _requirements(labels)
    yield "statedSystem", "has(object.spec.os) && has(object.spec.os.name) ? object.spec.os.name : ''"
    yield (
        "openSystems",
        cel(
            """
        variables.osRequirements.map(asked, ['linux', 'windows'].filter(os,
          variables.osPins.all(pin, pin == os) && asked.all(e, %meets)))
        """,
            meets=_meets("os"),
        ),
    )
    yield (
        "systems",
        cel(
            """
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
        """
        ),
    )


def _by_system(architectures: str) -> str:
    return rows((f"{text(os)}: {architectures.format(text(os))}" for os in SYSTEMS), "{", "}")


def _pins(labels: str) -> str:
    return (
        f"{labels}.filter(label, label in variables.nodeSelector).map(label, variables.nodeSelector[label])"
    )


def _requirements(labels: str) -> str:
    return (
        "variables.terms.map(term,\n"
        f"  has(term.matchExpressions) ? term.matchExpressions.filter(e, e.key in {labels}) : [])"
    )


def _meets(value: str) -> str:
    """Whether a label with this value meets the requirement `e`, as `placement.affinity.matches` has it."""
    return cel(
        """
        (e.operator == 'In' ? %value in e.values
          : e.operator == 'NotIn' ? !(%value in e.values)
          : e.operator == 'Exists' ? true
          : e.operator in ['Gt', 'Lt'] ? %value.matches(%number) && e.values[0].matches(%number)
            && (e.operator == 'Gt' ? int(%value) > int(e.values[0]) : int(%value) < int(e.values[0]))
          : false)
        """,
        value=value,
        number=_NUMBER,
    )
