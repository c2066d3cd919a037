"""CEL: where a pod can go, by `placement.affinity` and `placement.reach`; lists have one entry for each required term.

A value that meets a term and that the policy does not know stands in the first list that the term asks for with In
(nodeSelector asks so too): a value that NotIn, Gt or Lt names does not meet it. So no other list is looked through, and
what meets a term that asks with In is named by it.

Where the cluster has Windows nodes, a term's systems are those that it is open to and for which the images have builds.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.options.placement_fields import REQUIRED
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.placement.pod_patch import toleration_fields
from archfit.placement.reach import by_system
from archfit.placement.tolerations import closing
from archfit.policy.cel.cel_text import Variable, cel, literal, mixed, rows, text, variables
from archfit.policy.cel.platform_table import SYSTEMS
from archfit.policy.cel.pod_choices import narrows_where_offered
from archfit.policy.cel.recorded_entries import expression_variables


def term_variables(options: Options) -> Iterator[Variable]:
    """What the required terms ask of a node."""
    several = several_systems(options)
    selecting = (
        f"{literal(sorted({*ARCH_LABELS, *OS_LABELS}))}.exists(label, label in variables.nodeSelector)"
    )
    yield from variables(
        """
        hasNodeAffinity: the pod has node affinity
          has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)

        nodeAffinity: the pod's own, if it has any
          variables.hasNodeAffinity ? object.spec.affinity.nodeAffinity : {}

        hasRequired: it has a required set
          has(variables.nodeAffinity.%required)

        statedTerms: the terms of that
          variables.hasRequired ? variables.nodeAffinity.%required.nodeSelectorTerms : []
        """,
        required=REQUIRED,
    )
    yield from expression_variables()
    yield from variables(
        """
        hasTerms: the pod has required terms that no earlier pass made
          variables.hasRequired && !variables.requiredRecorded

        terms: the required terms, without what an earlier pass added; one without conditions where there are none
          !variables.hasTerms ? [{'matchExpressions': []}]
          : variables.ownLines.size() == 0 ? variables.statedTerms
          : variables.statedTerms.transformList(i, term, variables.recordedExpressions[i].size() == 0 ? dyn(term)
            : [term.matchExpressions.transformList(k, e, !(k in variables.recordedExpressions[i]), e)].map(left,
              has(term.matchFields)
              ? dyn({'matchExpressions': dyn(left), 'matchFields': dyn(term.matchFields)})
              : dyn({'matchExpressions': dyn(left)}))[0])

        unconstrained: neither required terms nor nodeSelector ask anything: most pods, and the rest is short for them
          %unconstrained

        archPins: the architectures that nodeSelector names
          %arch
            .filter(label, label in variables.nodeSelector).map(label, variables.nodeSelector[label])

        archRequirements: what each term asks of the architecture
          variables.terms.map(term, has(term.matchExpressions)
            ? term.matchExpressions.filter(e, e.key in %arch) : [])

        osPins: the operating systems that nodeSelector names
          %os
            .filter(label, label in variables.nodeSelector).map(label, variables.nodeSelector[label])

        osRequirements: what each term asks of the operating system
          variables.terms.map(term, has(term.matchExpressions)
            ? term.matchExpressions.filter(e, e.key in %os) : [])

        statedSystem: spec.os.name
          has(object.spec.os) && has(object.spec.os.name) ? string(object.spec.os.name) : ''

        openSystems: the operating systems that each term leaves possible
          variables.osRequirements.map(asked, ['linux', 'windows'].filter(os,
            variables.osPins.all(pin, pin == os) && asked.all(e,
              %meets)))

        %systems: the operating systems whose images count for each term; none where it matches nothing
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
        unconstrained="false" if several else f"!variables.hasTerms && !{selecting}",
        arch=literal(sorted(ARCH_LABELS)),
        os=literal(sorted(OS_LABELS)),
        meets=meets("os"),
        systems="stated" if several else "systems",
    )


def several_systems(options: Options) -> bool:
    """Whether the cluster has nodes of another system than Linux."""
    return len(by_system(options.cluster_architectures)) > 1


COVERS = cel(
    """
    (!has(there.effect) || there.effect == '' || has(new.effect) && new.effect == there.effect)
    && (!has(there.key) || there.key == '' || has(new.key) && new.key == there.key)
    && (has(there.operator) && there.operator == 'Exists'
      || (!has(there.operator) || there.operator in ['', 'Equal'])
        && (!has(new.operator) || new.operator == 'Equal')
        && (has(there.value) ? there.value : '') == (has(new.value) ? new.value : ''))
    """
)
"""Whether `there` tolerates every taint that `new` does, as `placement.tolerations.covers` has it."""


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


def supported_variables(options: Options) -> Iterator[Variable]:
    """What the images offer, and what the cluster has, by operating system."""
    cluster = {os: literal(sorted(names)) for os, names in by_system(options.cluster_architectures).items()}
    unknown = "variables.restrictions.size() > 0 && variables.offered['windows'].size() > 0\n"
    return variables(
        """
        offered: the architectures that every image offers
          %offered

        nodes: the architectures of the cluster's nodes; for a system without any, those of the images
          {
            'linux': %linux,
            'windows': %windows
          }
        """,
        offered=_by_system(
            "variables.restrictions.size() == 0 ? variables.architectures\n"
            ": !variables.restrictions.all(offer, %os in offer) ? []\n"
            ": variables.restrictions[0][%os].map(a, variables.restrictions.all(offer, a in offer[%os]), string(a))"
        ),
        linux=cluster["linux"],
        windows=cluster.get("windows") or f"{unknown}  ? variables.offered['windows'] : {cluster['linux']}",
    )


def _narrowed_variables(options: Options, only: str) -> Iterator[Variable]:
    if only == "narrowing":
        terms, linux = "systems", "systems == ['linux']"
        if several_systems(options):  # a bare architecture means Linux alone
            stated = "variables.statedSystem in ['', 'linux'] && variables.stated[i].size() > 0"
            terms, linux = "near", f"'linux' in systems && {stated}"
        yield from variables(
            """
            narrowing: what narrows the pod: a rule with `when: offered`, if a term leads to nodes that all images name
              object.kind == 'DaemonSet' || variables.unasked || variables.restrictions.size() == 0
                || variables.onlyOffered.size() == 0
                || !variables.%terms.exists(i, systems, %linux && variables.meeting[i].exists(a,
                  a in variables.onlyOffered[0] && a in variables.offered['linux']
                  && (a in variables.nodes['linux'] || variables.asksWithIn[i])))
              ? variables.only : variables.onlyOffered
            """,
            terms=terms,
            linux=linux,
        )
    yield from variables(
        """
        restricted: something keeps the pod from some architectures
          variables.restrictions.size() > 0 || variables.%only.size() > 0

        supported: the architectures that every image offers and the user's choice leaves
          %supported
        """,
        only=only,
        supported=_by_system(
            f"variables.{only}.size() == 0 ? variables.offered[%os]\n"
            f": variables.offered[%os].filter(a, variables.{only}.all(names, a in names))"
        ),
    )


def _near_variables(options: Options) -> Iterator[Variable]:
    taints = [toleration_fields(taint) | {"system": os} for os, taint in closing(options)]
    return variables(
        """
        tainted: the systems all of whose nodes have a taint that the pod does not tolerate
          %taints.filter(new, !variables.tolerations.exists(there,
            %covers)).map(new, new.system)

        near: the operating systems whose nodes each term can reach
          variables.openSystems.map(open,
            [open.filter(os, !(os in variables.tainted))].map(left, left.size() > 0 ? left : open)[0])
        """,
        taints=f"[{', '.join(map(mixed, taints))}]",
        covers=COVERS,
    )


def _alive_variables(only: str) -> Iterator[Variable]:
    there = (
        "(a in variables.nodes[%os] || variables.asksWithIn[i] && !alive.exists(o, a in variables.nodes[o]))"
    )
    return variables(
        """
        meant: of these, those that the pod is for: a bare architecture of the user's choice means Linux
          variables.near.map(near, near.filter(os, variables.statedSystem in ['', os]
            && (variables.%only.size() == 0 || os == 'linux' || !('linux' in near))))

        alive: of these, those on which it runs; none where the first is not among them
          variables.meant.transformList(i, meant, variables.stated[i].size() == 0 ? [] :
            [meant.filter(os, variables.meeting[i].exists(a,
              (a in variables.nodes[os] || variables.asksWithIn[i])
              && (!variables.restricted || a in variables.supported[os])))]
            .map(alive, alive.size() > 0 && alive[0] == meant[0] ? alive : [])[0])

        twoSystems: the pod has no required terms, and its images run on other architectures of each system
          !variables.hasTerms && [variables.alive[0]].exists(i, alive, variables.meeting[0].exists(a,
            alive.exists(os, %runs && %there)
            && alive.exists(other, %bars && %elsewhere)))

        systems: the operating systems of each term
          variables.alive.transformList(i, alive, alive.size() == 0 ? variables.stated[i]
            : alive.size() == 1 || !variables.hasTerms
              || variables.meeting[i].exists(a, alive.exists(os, %runs && %there)
                && alive.all(other, !(%bars && %elsewhere)))
              ? alive
            : [alive[0]])

        shut: those that a term can reach and on which nothing runs
          variables.near.transformList(i, near, variables.alive[i].size() == 0 ? [] :
            near.filter(os, !(os in variables.systems[i])
              && variables.nodes[os].exists(a, a in variables.meeting[i])))
        """,
        only=only,
        runs="(!variables.restricted || a in variables.supported[os])",
        bars="variables.restricted && !(a in variables.supported[other])",
        there=cel(there, os="os"),
        elsewhere=cel(there, os="other"),
    )


def reach_variables(options: Options) -> Iterator[Variable]:
    """What meets each term, where the pod runs, and where it does not, as in `placement.reach`."""
    yield from variables(
        """
        asksWithIn: whether each term names the architectures that it allows
          variables.archRequirements.map(asked,
            variables.archPins.size() > 0 || asked.exists(e, e.operator == 'In'))

        meeting: the architectures that meet each term
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
    several = several_systems(options)
    only = "narrowing" if narrows_where_offered(options) else "only"
    if several:
        yield from _near_variables(options)
    yield from _narrowed_variables(options, only)
    if several:
        yield from _alive_variables(only)
    yield from variables(
        """
        allowed: the architectures that each term allows on some node
          variables.unconstrained ? [variables.nodes[variables.systems[0][0]]] :
          variables.meeting.transformList(i, meeting, meeting.filter(a, variables.systems[i].exists(os,
            %allowed)))

        barred: of these, those on which an image does not run
          !variables.restricted ? variables.allowed.map(allowed, []) :
          variables.unconstrained
          ? [variables.allowed[0].filter(a, !(a in variables.supported[variables.systems[0][0]]))] :
          variables.allowed.transformList(i, allowed, allowed.filter(a, variables.systems[i].exists(os,
            !(a in variables.supported[os]) && (
              %allowed))))

        live: of these, the others: where the pod runs
          variables.allowed.transformList(i, allowed, variables.barred[i].size() == 0 ? allowed
            : allowed.filter(a, !(a in variables.barred[i])))

        lacking: the architectures of each term's nodes on which the pod does not run
          variables.systems.map(systems, variables.architectures.filter(a, systems.exists(os,
            a in variables.nodes[os] && !(a in variables.supported[os]))))

        reachable: the architectures that the pod can reach in the end
          variables.unconstrained ? variables.live[0]
          : variables.architectures.filter(a, variables.live.exists(live, a in live))
        """,
        allowed="a in variables.nodes[os]\n"
        "|| variables.asksWithIn[i] && !variables.systems[i].exists(other, a in variables.nodes[other])",
    )


def _by_system(architectures: str) -> str:
    return rows(
        (f"{text(os)}: {cel(architectures, os=text(os))}".replace("\n", "\n  ") for os in SYSTEMS), "{", "}"
    )
