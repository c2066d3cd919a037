"""Karpenter's NodePools: which architectures they may bring.

An architecture is one that all of these allow:

    the known ones     amd64 and arm64, and what a requirement on kubernetes.io/arch names
    requirements       on kubernetes.io/arch; the labels of spec.template.metadata count as requirements
    instance types     names that tell: an `In` of instance types or families of EC2 and Azure, of makers of EC2's CPUs
    images             of the node class, as its status lists them

Karpenter sets no architecture of its own: it takes each instance type that meets the requirements. Its nodes run Linux
unless a requirement on kubernetes.io/os or the family of images says Windows, which is amd64 alone on EC2.

Sources: sigs.k8s.io/karpenter v1.14.0, pkg/scheduling/requirement.go (NewRequirement, Has),
pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go (labels are requirements), pkg/apis/v1/labels.go
(NormalizedLabels); karpenter-provider-aws v1.14.0, pkg/providers/instancetype/types.go (computeRequirements, getOS).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from archfit.cluster.nodes import ascii_text, mapping, sequence, taints_of
from archfit.cluster.pools.node_groups import FAMILIES
from archfit.cluster.pools.pool import LINUX, Pool, entries, group_of, name_of
from archfit.cluster.quantity import nano
from archfit.startup.record import Record

GROUP = "karpenter.sh"
KIND = "NodePool"
CLASSES = {("karpenter.k8s.aws", "EC2NodeClass"), ("karpenter.azure.com", "AKSNodeClass")}

_ARCH = "kubernetes.io/arch"
_OS = "kubernetes.io/os"
_TYPE = "node.kubernetes.io/instance-type"
_SPELLINGS = {
    "beta.kubernetes.io/arch": _ARCH,
    "beta.kubernetes.io/os": _OS,
    "beta.kubernetes.io/instance-type": _TYPE,
}
_KNOWN = ("amd64", "arm64")
_LIMITS = {"cpu": "CPU", "memory": "memory", "nodes": "nodes"}
# EC2: the letters behind the generation say what the CPU is, and g is Graviton: m7g, c6gn, x2gd, but not g5 or p4d.
# Source: docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
_EC2 = re.compile(
    r"(?:u-)?(?P<family>[a-z]+)(?P<generation>[0-9]+)(?P<letters>[a-z]*)(?:-(?P<kind>[a-z0-9]+))?(?:\.[a-z0-9-]+)?"
)
_EC2_KINDS = re.compile(r"flex|[0-9]+tb[0-9]*|b[0-9]+")
# NVIDIA's superchips hold Grace, an Arm CPU: p6e-gb200.36xlarge, u-p6e-gb200x72, Standard_ND128isr_NDR_GB200_v6.
_GRACE = re.compile(r"(?:^|_)G[BH][0-9]+(?:_|x[0-9]+|$)", re.IGNORECASE)
# Azure: a p behind the number of CPUs is Arm: Standard_D4ps_v6. Source: learn.microsoft.com, VM naming conventions
_AZURE = re.compile(r"Standard_[A-Z]+[0-9]+(?:-[0-9]+)?(?P<letters>[a-z]*)(?:_[A-Za-z0-9]+)*_v[0-9]+")
_EC2_LABELS = ("karpenter.k8s.aws", "eks.amazonaws.com")
"""Groups of labels of its instance types, by Karpenter and by EKS Auto Mode."""
_MAKERS = {"aws": "arm64", "intel": "amd64", "amd": "amd64"}
_WINDOWS = re.compile(r"windows[0-9]*", re.IGNORECASE)


class Requirement(Record):
    """One of a NodePool's requirements. key: in the spelling that counts."""

    key: str
    operator: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return ascii_text(f"{self.operator} [{', '.join(self.values)}]" if self.values else self.operator)

    def allows(self, value: str) -> bool:
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return True
            case "DoesNotExist":
                return False
        low, high = self.bounds
        number = _integer(value)
        return number is not None and low <= number <= high

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest number that Gt, Gte, Lt or Lte allow; the smallest is larger for no number."""
        number = _integer(self.values[0]) if self.values else None
        if number is None:
            return 1, 0
        endless = float("inf")
        above = {"Gt": (number + 1, endless), "Gte": (number, endless), "Lt": (-endless, number - 1)}
        return above.get(self.operator, (-endless, number))


_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")


def is_node_pool(value: Mapping[str, Any]) -> bool:
    """Whether an object is one of Karpenter's; other projects have NodePools too."""
    return value.get("kind") == KIND and group_of(value) == GROUP


def node_pool(value: Mapping[str, Any], classes: Iterable[Mapping[str, Any]] = ()) -> Pool:
    """What a NodePool may bring. classes: node classes, among which its own may be."""
    spec = mapping(value, "spec")
    template = mapping(spec, "template")
    requirements = _requirements(template)
    node_class = _class(mapping(template, "spec", "nodeClassRef"), classes)
    limits = mapping(spec, "limits")
    pool = Pool(
        KIND,
        name_of(value),
        taints=taints_of(sequence(template, "spec", "taints")),
        weight=_integer(str(spec.get("weight"))) or 0,
        limits=tuple(
            (word, str(limits[key])) for key, word in _LIMITS.items() if limits.get(key) not in (None, "")
        ),
        scales=spec.get("replicas") is None,
        labels=(
            *((requirement.key, requirement.operator, requirement.values) for requirement in requirements),
            ("karpenter.sh/nodepool", "In", (name_of(value),)),
        ),
        closed=True,
    )
    problem = _no_node(spec) or contradiction(requirements)
    return pool.replace(problem=problem) if problem else _judged(pool, requirements, node_class)


def _no_node(spec: Mapping[str, Any]) -> str:
    """Why Karpenter makes no node of the pool, whatever it requires."""
    if _integer(str(spec.get("replicas"))) == 0:
        return "it has 0 replicas, so it brings no node"
    limits = mapping(spec, "limits")
    for key in _LIMITS:  # each node counts against these; a limit of GPUs keeps off nodes with GPUs alone
        amount = limits.get(key)
        try:
            if amount is not None and nano(amount) == 0:
                return f"its limit of {key} is 0, so it brings no node"
        except ValueError:
            return f"its limit of {key} is {ascii_text(str(amount))!r}, which is no quantity"
    return ""


def _requirements(template: Mapping[str, Any]) -> list[Requirement]:
    labels = mapping(template, "metadata", "labels")
    stated = [
        *sequence(template, "spec", "requirements"),
        *({"key": key, "operator": "In", "values": [value]} for key, value in labels.items()),
    ]
    requirements = []
    for item in stated:
        key, values = str(item.get("key")), item.get("values")
        texts = tuple(map(str, values)) if isinstance(values, list) else ()
        requirements.append(Requirement(_SPELLINGS.get(key, key), str(item.get("operator")), texts))
    return sorted(requirements, key=lambda requirement: requirement.key)


def _met(value: str, requirements: Iterable[Requirement]) -> bool:
    return all(requirement.allows(value) for requirement in requirements)


def contradiction(requirements: Sequence[Requirement]) -> str:
    """Why no node can meet the requirements, which are sorted by key: a clause; "" where nothing speaks against one."""
    for key, group in groupby(requirements, key=lambda requirement: requirement.key):
        those = list(group)
        unknown = [requirement for requirement in those if requirement.operator not in _OPERATORS]
        if unknown:
            return f"its requirement on {ascii_text(key)} has an operator that Karpenter does not know: {unknown[0]}"
        listed = [requirement for requirement in those if requirement.operator == "In"]
        if listed:
            possible = any(_met(value, those) for value in listed[0].values)
        else:
            numbers = [requirement.bounds for requirement in those if requirement.operator in _OPERATORS[4:]]
            possible = not numbers or max(low for low, _ in numbers) <= min(high for _, high in numbers)
        if not possible:
            return (
                f"no node can meet its requirements on {ascii_text(key)}: "
                f"{' and '.join(dict.fromkeys(map(str, those)))}"
            )
    return ""


def _judged(pool: Pool, requirements: Sequence[Requirement], node_class: Mapping[str, Any]) -> Pool:
    """The pool with its architectures and what they rest on, or with its problem where there are none."""
    of_key: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        of_key.setdefault(requirement.key, []).append(requirement)
    stated = of_key.get(_ARCH, [])
    candidates = {*_KNOWN, *(value for item in stated if item.operator == "In" for value in item.values)}
    evidence: dict[str, set[str] | None] = {
        "its requirements": {value for value in candidates if _met(value, stated)} if stated else None,
        "its instance types": _of_types(of_key),
        "the images of its node class": _of_images(node_class),
    }
    allowed = {basis: some for basis, some in evidence.items() if some is not None}
    possible = set.intersection(candidates, *allowed.values())
    if not possible:
        parts = [f"{basis} allow {' and '.join(sorted(some)) or 'none'}" for basis, some in allowed.items()]
        return pool.replace(problem=f"it allows no architecture: {ascii_text('; '.join(parts))}")
    systems = _systems(of_key.get(_OS, []), node_class)
    architectures = entries(systems, possible)
    if not architectures:
        what = f"{' and '.join(sorted(systems)) or 'no operating system'} on {' and '.join(sorted(possible))}"
        return pool.replace(problem=f"it brings no node that archfit knows: {ascii_text(what)}")
    narrowing = [basis for basis, some in allowed.items() if not candidates <= some]
    basis = " and ".join(narrowing or allowed) or "nothing narrows it"
    return pool.replace(architectures=architectures, basis=basis)


def _of_types(of_key: Mapping[str, Sequence[Requirement]]) -> set[str] | None:
    """The architectures of the instance types that are named, None where no name tells one."""
    tables: tuple[tuple[str, Callable[[str], str | None]], ...] = (
        (_TYPE, _architecture_of_type),
        *((f"{group}/instance-family", _architecture_of_type) for group in _EC2_LABELS),
        *((f"{group}/instance-cpu-manufacturer", _MAKERS.get) for group in _EC2_LABELS),
        ("karpenter.k8s.gcp/instance-family", _architecture_of_family),
        ("karpenter.azure.com/sku-name", _architecture_of_type),
    )
    possible: set[str] | None = None
    for key, read in tables:
        those = of_key.get(key, [])
        for listed in those:
            if listed.operator != "In":
                continue
            read_values = [read(value) for value in listed.values if _met(value, those)]
            if all(read_values):
                these = {architecture for architecture in read_values if architecture}
                possible = these if possible is None else possible & these
    return possible


def _architecture_of_type(name: str) -> str | None:
    """Of an instance type or family of EC2, or of a size of Azure, or of a machine type of Compute Engine.

    None where the name does not tell it.
    """
    azure = _AZURE.fullmatch(name)
    if azure:
        return "arm64" if "p" in azure["letters"] or _GRACE.search(name) else "amd64"
    ec2 = _EC2.fullmatch(name)
    if ec2 is None or ec2["family"] == "mac":
        return _architecture_of_family(name)
    kind = ec2["kind"] or ""
    if kind and not _EC2_KINDS.fullmatch(kind):
        return "arm64" if _GRACE.search(kind) else _architecture_of_family(name)
    return "arm64" if "g" in ec2["letters"] or (ec2["family"], ec2["generation"]) == ("a", "1") else "amd64"


def _architecture_of_family(name: str) -> str | None:
    """Of a machine type of Compute Engine, or of its family."""
    return FAMILIES.get(name.partition("-")[0])


def _class(reference: Mapping[str, Any], classes: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The node class that a nodeClassRef names, {} where it is not there. v1beta1 has apiVersion in place of group."""
    group = str(reference.get("group") or group_of(reference))
    wanted = group, reference.get("kind"), reference.get("name")
    for value in classes:
        if (group_of(value), value.get("kind"), mapping(value, "metadata").get("name")) == wanted:
            return value
    return {}


def _of_images(node_class: Mapping[str, Any]) -> set[str] | None:
    """The architectures of its images: of Windows amd64, of others by the status; None where that has no word of it."""
    if _WINDOWS.fullmatch(_family(node_class)):
        return {"amd64"}
    images = sequence(node_class, "status", "amis") or sequence(node_class, "status", "images")
    architectures: set[str] = set()
    for image in images:
        stated = [
            item["values"]
            for item in sequence(image, "requirements")
            if item.get("key") == _ARCH
            and item.get("operator") == "In"
            and isinstance(item.get("values"), list)
        ]
        if not any(stated):
            return None
        architectures.update(str(value) for values in stated for value in values)
    return architectures or None


def _systems(stated: Sequence[Requirement], node_class: Mapping[str, Any]) -> set[str]:
    family = _family(node_class)
    if _WINDOWS.fullmatch(family):
        possible = {"windows"}
    elif family or not stated:
        possible = {LINUX}
    else:
        possible = {LINUX, "windows"}
    return {system for system in possible if _met(system, stated)}


def _family(node_class: Mapping[str, Any]) -> str:
    """The family of images of an EC2NodeClass, as `al2023`; "" where its images are named one by one."""
    terms = sequence(node_class, "spec", "amiSelectorTerms")
    aliases = [str(term.get("alias") or "").partition("@")[0] for term in terms]
    family = str(mapping(node_class, "spec").get("amiFamily") or "") or next(filter(None, aliases), "")
    return "" if family == "Custom" else family


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else None
