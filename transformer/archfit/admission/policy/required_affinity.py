"""CEL: the required node affinity that a pod gets, by `placement.required_terms`.

written    for each term what is ANDed to it; for a pod without required terms, its one new term

one In or NotIn, or two of In for a term that asks for another operating system and must match no node
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.admission.policy.cel_text import Variable, text, variable
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH


def written_variables(options: Options) -> Iterator[Variable]:
    """Always (for `affinity: always` alone), another, written."""
    comment = "for each required term, or for the one to create, what it gets"
    if options.affinity == "never":
        yield variable("written", comment, "variables.terms.map(term, [])")
        return
    enough = "variables.barred[i].size() == 0 || !variables.hasTerms && variables.archPins.size() > 0"
    if options.affinity == "always":
        yield variable(
            "always",
            "the pod gets a term even where it runs everywhere",
            """
            !variables.hasTerms && variables.archPins.size() == 0
            && variables.restricted && !variables.toleratesVirtualNodes
            """,
        )
        enough = f"!variables.always && ({enough})"
    yield variable(
        "another",
        "an architecture that the pod cannot reach",
        "(variables.nodeArchitectures.filter(a, !(a in variables.reachable)) + ['none'])[0]",
    )
    yield variable(
        "written",
        comment,
        """
        variables.terms.transformList(i, term,
          %enough ? []
          // nodes without an arch label stay reachable
          : variables.toleratesVirtualNodes && variables.archPins.size() == 0
            && variables.archRequirements[i].all(e, e.operator in ['NotIn', 'DoesNotExist'])
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
        enough=enough,
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


def expression(operator: str, values: str) -> str:
    """A requirement on the architecture of nodes. values: a list in CEL."""
    return f"{{'key': dyn({text(ARCH)}), 'operator': dyn({text(operator)}), 'values': dyn({values})}}"
