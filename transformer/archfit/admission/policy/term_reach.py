"""CEL: where a pod can go, by `placement.reach`; lists have one entry for each required term.

    restricted, offered, nodes, supported    what the images offer, and what the cluster has, by operating system
    meeting                                  what meets a term's requirements, whatever the cluster has
    allowed, barred, live, lacking           A(t), what of it does not run, T(t), what the cluster has beside S
    reachable                                E, of the architectures that the policy knows

A value that meets a term and that the policy does not know stands in the first list that the term asks for with In
(nodeSelector asks so too): a value that NotIn, Gt or Lt names does not meet it. So no other list is looked through, and
what meets a term that asks with In is named by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.admission.policy.cel_text import Variable, cel, literal, rows, text, variable
from archfit.admission.policy.platform_table import SYSTEMS
from archfit.admission.policy.term_requirements import meets
from archfit.options.settings import Options
from archfit.placement.reach import by_system

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
