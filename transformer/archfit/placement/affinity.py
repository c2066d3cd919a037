"""Node affinity as the scheduler reads it: what each required term asks of a node's architecture and OS.

Required terms are ORed; no set is one term without conditions, an empty one matches nothing, and so does the term `{}`.
nodeSelector is ANDed to each, that of the pod's RuntimeClass too, which admission merges into it. A node carries
`kubernetes.io/arch` and `beta.kubernetes.io/arch`, both written by the kubelet. All other keys and matchFields are
taken as satisfiable. A term is open to those of linux and windows that the OS labels leave possible. Its systems, whose
images count, are `spec.os.name` where that is one of them, all of them where the labels say something, else linux.

Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity; apimachinery labels.Requirement.Matches.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.options.settings import PREFERRED, REQUIRED
from archfit.placement.fields import items, mapping, string, strings
from archfit.startup.record import Record
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

Requirement: TypeAlias = tuple[str, tuple[str, ...]]  # operator, values
Expression: TypeAlias = tuple[str, str, tuple[str, ...]]  # key, operator, values

ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
ARCH_LABELS = frozenset((ARCH, "beta.kubernetes.io/arch"))
OS_LABELS = frozenset((OS, "beta.kubernetes.io/os"))
_SYSTEMS = ("linux", "windows")
_LINUX = ("linux",)


class Demand(Record):
    """What one required term, with the nodeSelector, asks of a node.

    index: the term's place in nodeSelectorTerms, None for the term that stands for none.
    systems: the operating systems whose images count, at least one.
    requirements: on the node's architecture, each (operator, values); all have to hold.
    closed: it matches nothing, as `{}` does, and what asks for two operating systems at once.
    open_to: of linux and windows, the systems of the nodes that the labels let through. stated: `spec.os.name`.
    """

    index: int | None
    systems: tuple[str, ...] = _LINUX
    requirements: tuple[Requirement, ...] = ()
    closed: bool = False
    open_to: tuple[str, ...] = _SYSTEMS
    stated: str = ""

    @property
    def asks_for_label(self) -> bool:
        """Whether a node without an arch label cannot meet it."""
        return any(operator not in ("NotIn", "DoesNotExist") for operator, _ in self.requirements)


_FREE = (Demand(None),)


def demands(pod: Pod) -> tuple[Demand, ...]:
    """One Demand for each required term; one with index None without a required set. Raises Malformed."""
    spec = pod.spec
    if (
        spec.get("affinity") is None
        and spec.get("nodeSelector") is None
        and spec.get("os") is None
        and pod.runtime_class is None
    ):
        return _FREE
    at = pod.path
    pins = tuple(("In", (value,)) for value in (*arch_pins(pod), *runtime_pins(pod)))
    selected = tuple(
        ("In", (value,)) for value in (*_selected(pod, OS_LABELS), *_of_runtime_class(pod, OS_LABELS))
    )
    system = mapping(spec, "os", at)
    default = string(system, "name", (*at, "os")) if system else ""
    terms, path = existing_terms(pod)
    if terms is None:
        return (_demand(None, selected, default, pins),)
    by_term = []
    for index, term in enumerate(terms):
        arch, systems = _requirements(term, (*path, index))
        demand = _demand(index, (*selected, *systems), default, (*pins, *arch))
        empty = not term.get("matchExpressions") and not term.get("matchFields")
        by_term.append(demand.replace(systems=_LINUX, closed=True) if empty else demand)
    return tuple(by_term)


def _demand(
    index: int | None, on_system: tuple[Requirement, ...], stated: str, requirements: tuple[Requirement, ...]
) -> Demand:
    left = meeting(on_system, (stated or "linux", *_SYSTEMS))
    open_to = tuple(name for name in _SYSTEMS if name in left)
    systems = _systems(on_system, stated, left)
    return Demand(index, systems or _LINUX, requirements, not systems, open_to, stated)


def with_part(demand: Demand, path: Path, term: Any) -> Demand:
    """The demand with the expressions of one more term. Raises Malformed."""
    if not isinstance(term, dict):
        return demand
    arch, _ = _requirements(term, path)
    return demand.replace(requirements=(*demand.requirements, *arch)) if arch else demand


def arch_pins(pod: Pod) -> tuple[str, ...]:
    """The architectures that nodeSelector names, by either label. Raises Malformed."""
    return _selected(pod, ARCH_LABELS)


def runtime_pins(pod: Pod) -> tuple[str, ...]:
    """The architectures that the nodeSelector of the pod's RuntimeClass names."""
    return _of_runtime_class(pod, ARCH_LABELS)


def existing_terms(pod: Pod) -> tuple[list[dict[str, Any]] | None, Path]:
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
    """The architectures of `cluster`, and those that the pod names, for which the demand can hold."""
    if demand.closed:
        return frozenset()
    if not demand.requirements:
        return cluster
    return frozenset(meeting(demand.requirements, cluster))


def meeting(requirements: Iterable[Requirement], labels: Iterable[str]) -> set[str]:
    """Those of the labels, and of the values that are named, which meet all requirements.

    Each step costs no more than its own values: there may be any number of both.
    """
    left = set(labels).union(*[values for _, values in requirements])
    bounds: list[Requirement] = []
    for operator, values in requirements:
        if operator == "In":
            left.intersection_update(values)
        elif operator == "NotIn" and values:
            left.difference_update(values)
        elif operator in ("Gt", "Lt") and len(values) == 1:
            bounds.append((operator, values))
        elif operator != "Exists" or values:
            return set()
    return _within(bounds, left) if bounds else left


def meets(requirements: Iterable[Requirement], label: str) -> bool:
    """Whether a label that is there and has this value meets all requirements."""
    return label in meeting(requirements, (label,))


def _within(bounds: Sequence[Requirement], labels: set[str]) -> set[str]:
    """Those labels that meet all of Gt and Lt: numbers between the tightest bounds."""
    numbers = [(operator, _number(values[0])) for operator, values in bounds]
    above = [number for operator, number in numbers if operator == "Gt" and number is not None]
    below = [number for operator, number in numbers if operator == "Lt" and number is not None]
    if len(above) + len(below) < len(bounds):
        return set()
    low, high = max(above, default=-(2**63) - 1), min(below, default=2**63)
    numbered = ((label, _number(label)) for label in labels)
    return {label for label, number in numbered if number is not None and low < number < high}


def _requirements(term: dict[str, Any], at: Path) -> tuple[list[Requirement], list[Requirement]]:
    """The term's expressions on the architecture and on the OS. Raises Malformed."""
    arch: list[Requirement] = []
    systems: list[Requirement] = []
    items(term, "matchFields", at)
    for index, expression in enumerate(items(term, "matchExpressions", at)):
        path = (*at, "matchExpressions", index)
        key = string(expression, "key", path)
        if key in ARCH_LABELS or key in OS_LABELS:
            requirement = (string(expression, "operator", path), strings(expression, "values", path))
            (arch if key in ARCH_LABELS else systems).append(requirement)
    return arch, systems


def _selected(pod: Pod, labels: frozenset[str]) -> tuple[str, ...]:
    at = pod.at("nodeSelector")
    selector = mapping(pod.spec, "nodeSelector", at[:-1])
    if not selector:
        return ()
    return tuple(dict.fromkeys(string(selector, key, at) for key in selector if key in labels))


def _of_runtime_class(pod: Pod, labels: frozenset[str]) -> tuple[str, ...]:
    if pod.runtime_class is None:
        return ()
    return tuple(value for key, value in pod.runtime_class.node_selector if key in labels)


def _systems(requirements: tuple[Requirement, ...], default: str, left: set[str]) -> tuple[str, ...]:
    """The systems whose images count. left: by the requirements; () for a contradiction."""
    named = [value for operator, values in requirements if operator == "In" for value in values]
    if not left:
        return () if named else (default or "linux",)
    if not requirements or default in left:
        return (default or "linux",)
    return tuple(name for name in _SYSTEMS if name in left) or (next(name for name in named if name in left),)


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
