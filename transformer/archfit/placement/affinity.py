"""Node affinity as the scheduler reads it: what each required term asks of a node's architecture and OS.

    required affinity       terms, ORed; missing: one term without conditions; empty: matches nothing
    term                    matchExpressions and matchFields, ANDed; with neither, `{}`, it matches nothing
    nodeSelector            ANDed to each term
    In, NotIn               the label's value is, or is not, among the values (at least one)
    Exists, DoesNotExist    the label is there, or not (no values)
    Gt, Lt                  the label's value as a decimal number against one number
    anything else           matches nothing; the API server refuses it

A node of architecture `a` carries `kubernetes.io/arch` and `beta.kubernetes.io/arch`, both with value `a`,
since the kubelet writes both. All other keys and matchFields are taken as satisfiable. A term's OS is what
`kubernetes.io/os` or its beta label leave possible in nodeSelector, then in the term, then `spec.os.name`,
else linux.

Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity; apimachinery labels.Requirement.Matches.
"""

from __future__ import annotations

from archfit.placement.shape import items, mapping, string, strings
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from archfit.patch import Path
    from archfit.workloads.pods import Pod

    Requirement: TypeAlias = tuple[str, tuple[str, ...]]  # operator, values

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ARCH = "kubernetes.io/arch"
ARCH_LABELS = frozenset((ARCH, "beta.kubernetes.io/arch"))
OS_LABELS = frozenset(("kubernetes.io/os", "beta.kubernetes.io/os"))
_SYSTEMS = ("linux", "windows")


class Demand(Record):
    """What one required term, with the nodeSelector, asks of a node.

    index: the term's place in nodeSelectorTerms, None for the term that stands for none.
    os: the operating system whose images count.
    requirements: on the node's architecture, each (operator, values); all have to hold.
    closed: it matches nothing, as `{}` does, and what asks for two operating systems at once.
    """

    index: int | None
    os: str = "linux"
    requirements: tuple[Requirement, ...] = ()
    closed: bool = False


_FREE = (Demand(None),)


def demands(pod: Pod) -> tuple[Demand, ...]:
    """One Demand for each required term; one with index None without a required set. Raises Malformed."""
    spec = pod.spec
    if spec.get("affinity") is None and spec.get("nodeSelector") is None and spec.get("os") is None:
        return _FREE
    at = pod.path
    pins = tuple(("In", (value,)) for value in arch_pins(pod))
    selected = tuple(("In", (value,)) for value in _selected(pod, OS_LABELS))
    system = mapping(spec, "os", at)
    default = string(system, "name", (*at, "os")) if system else ""
    terms, path = required_terms(pod)
    if terms is None:
        return (_demand(None, _system(selected, default), pins),)
    found = []
    for index, term in enumerate(terms):
        arch, systems = _requirements(term, (*path, index))
        empty = not term.get("matchExpressions") and not term.get("matchFields")
        os = None if empty else _system((*selected, *systems), default)
        found.append(_demand(index, os, (*pins, *arch)))
    return tuple(found)


def _demand(index: int | None, os: str | None, requirements: tuple[Requirement, ...]) -> Demand:
    return Demand(index, os or "linux", requirements, closed=os is None)


def arch_pins(pod: Pod) -> tuple[str, ...]:
    """The architectures that nodeSelector names, by either label. Raises Malformed."""
    return _selected(pod, ARCH_LABELS)


def required_terms(pod: Pod) -> tuple[list[dict[str, Any]] | None, Path]:
    """The required terms (None where there is no required set; null terms as {}), the path of their list.

    Raises Malformed.
    """
    path = pod.at("affinity")[:-1]
    holder = pod.spec
    for key in ("affinity", "nodeAffinity", REQUIRED):
        below = mapping(holder, key, path)
        path = pod.at(key) if key == "affinity" else (*path, key)
        if below is None:
            return None, path
        holder = below
    return items(holder, "nodeSelectorTerms", path), (*path, "nodeSelectorTerms")


def states_preference(pod: Pod) -> bool:
    """Whether a preferred term of the pod speaks of the architecture. Raises Malformed."""
    path = (*pod.at("affinity"), "nodeAffinity")
    affinity = mapping(pod.spec, "affinity", path[:-2])
    node = mapping(affinity, "nodeAffinity", path[:-1]) if affinity else None
    if not node:
        return False
    for index, term in enumerate(items(node, PREFERRED, path)):
        at = (*path, PREFERRED, index)
        arch, _ = _requirements(mapping(term, "preference", at) or {}, (*at, "preference"))
        if arch:
            return True
    return False


def allowed(demand: Demand, cluster: frozenset[str]) -> frozenset[str]:
    """A(t): the architectures of `cluster`, and those that the pod names, for which the demand can hold."""
    if demand.closed:
        return frozenset()
    if not demand.requirements:
        return cluster
    named = {value for _, values in demand.requirements for value in values}
    return frozenset(
        architecture
        for architecture in cluster | named
        if all(matches(operator, values, architecture) for operator, values in demand.requirements)
    )


def matches(operator: str, values: tuple[str, ...], label: str) -> bool:
    """Whether a label that is there and has this value meets the requirement; see the module."""
    if operator == "In":
        return label in values
    if operator == "NotIn":
        return bool(values) and label not in values
    if operator == "Exists":
        return not values
    if operator in ("Gt", "Lt") and len(values) == 1:
        have, want = _number(label), _number(values[0])
        if have is None or want is None:
            return False
        return have > want if operator == "Gt" else have < want
    return False


def _requirements(term: dict[str, Any], at: Path) -> tuple[list[Requirement], list[Requirement]]:
    """The term's expressions on the architecture and on the OS. Raises Malformed."""
    arch: list[Requirement] = []
    systems: list[Requirement] = []
    items(term, "matchFields", at)
    for index, expression in enumerate(items(term, "matchExpressions", at)):
        path = (*at, "matchExpressions", index)
        key = string(expression, "key", path)
        if key in ARCH_LABELS or key in OS_LABELS:
            found = (string(expression, "operator", path), strings(expression, "values", path))
            (arch if key in ARCH_LABELS else systems).append(found)
    return arch, systems


def _selected(pod: Pod, labels: frozenset[str]) -> tuple[str, ...]:
    at = pod.at("nodeSelector")
    selector = mapping(pod.spec, "nodeSelector", at[:-1])
    if not selector:
        return ()
    return tuple(dict.fromkeys(string(selector, key, at) for key in selector if key in labels))


def _system(requirements: tuple[Requirement, ...], default: str) -> str | None:
    """The OS that the requirements leave, `default` or the first where several are left; None for a contradiction."""
    named = [value for operator, values in requirements if operator == "In" for value in values]
    for system in (default or "linux", *_SYSTEMS, *named):
        if all(matches(operator, values, system) for operator, values in requirements):
            return system
    return None if named else default or "linux"


def _number(text: str) -> int | None:
    """strconv.ParseInt(text, 10, 64), None where that is an error."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    if len(digits) > 19:
        return None
    number = -int(digits) if text[0] == "-" else int(digits)
    return number if -(2**63) <= number < 2**63 else None
