"""Karpenter's NodePools: which architectures they may bring.

    NodePool        karpenter.sh/v1, v1beta1    spec.template.spec.requirements, taints; spec.weight, limits, replicas
    EC2NodeClass    karpenter.k8s.aws           status.amis[].requirements; spec.amiFamily, amiSelectorTerms[].alias
    AKSNodeClass    karpenter.azure.com         status.images[].requirements

An architecture is one that all of these allow:

    the known ones     amd64 and arm64, and what a requirement on kubernetes.io/arch names
    requirements       on kubernetes.io/arch; the labels of spec.template.metadata count as requirements
    instance types     names that tell: an `In` of instance types or families of EC2 and Azure, of makers of EC2's CPUs
    images             of the node class, as its status lists them

Karpenter sets no architecture of its own: it takes each instance type that meets the requirements, and only instance
types of amd64 and arm64 are known to its providers for AWS and Azure. Its nodes run Linux unless a requirement on
kubernetes.io/os or the family of images says Windows, which is amd64 alone on EC2.

    operator       a value v is allowed where
    In, NotIn      it is, is not among the values
    Exists         always
    DoesNotExist   never
    Gt, Lt         it is a whole number above, below the one that stands there; Gte, Lte: or equal

Sources: sigs.k8s.io/karpenter v1.14.0, pkg/scheduling/requirement.go (NewRequirement, Has),
pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go (labels are requirements), pkg/apis/v1/labels.go
(NormalizedLabels); karpenter-provider-aws v1.14.0, pkg/providers/instancetype/types.go (computeRequirements, getOS).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from archfit.cluster.nodes import ascii_text
from archfit.cluster.pools.pool import (
    LINUX,
    Pool,
    entries,
    group_of,
    mapping,
    name_of,
    sequence,
    taints_of,
)
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
    r"(?P<family>[a-z]+)(?P<generation>[0-9]+)(?P<letters>[a-z]*)(?:-(?P<kind>[a-z0-9]+))?(?:\.[a-z0-9-]+)?"
)
_EC2_KINDS = re.compile(r"flex|[0-9]+tb[0-9]*|b[0-9]+")
# NVIDIA's superchips hold Grace, an Arm CPU: p6e-gb200.36xlarge, Standard_ND128isr_NDR_GB200_v6.
_GRACE = re.compile(r"(?:^|_)G[BH][0-9]+(?:_|$)", re.IGNORECASE)
# Azure: a p behind the number of CPUs is Arm: Standard_D4ps_v6. Source: learn.microsoft.com, VM naming conventions
_AZURE = re.compile(r"Standard_[A-Z]+[0-9]+(?:-[0-9]+)?(?P<letters>[a-z]*)(?:_[A-Za-z0-9]+)*_v[0-9]+")
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
        """Whether a node may have this value."""
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
        match self.operator:
            case "Gt":
                return number + 1, float("inf")
            case "Gte":
                return number, float("inf")
            case "Lt":
                return float("-inf"), number - 1
        return float("-inf"), number


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
    )
    problem = _no_node(spec) or contradiction(requirements)
    if problem:
        return pool.replace(problem=problem)
    found, basis, problem = _architectures(requirements, node_class)
    return pool.replace(problem=problem) if problem else pool.replace(architectures=found, basis=basis)


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
    found = [
        (item.get("key"), str(item.get("operator")), item.get("values"))
        for item in sequence(template, "spec", "requirements")
    ]
    found += [(key, "In", [value]) for key, value in mapping(template, "metadata", "labels").items()]
    return sorted(
        (
            Requirement(
                _SPELLINGS.get(str(key), str(key)),
                operator,
                tuple(str(value) for value in values) if isinstance(values, list) else (),
            )
            for key, operator, values in found
        ),
        key=lambda one: one.key,
    )


def contradiction(requirements: Sequence[Requirement]) -> str:
    """Why no node can meet the requirements, which are sorted by key: a clause; "" where nothing speaks against one."""
    for key, group in groupby(requirements, key=lambda one: one.key):
        those = list(group)
        unknown = next((one for one in those if one.operator not in _OPERATORS), None)
        if unknown:
            return f"its requirement on {ascii_text(key)} has an operator that Karpenter does not know: {unknown}"
        listed = next((one for one in those if one.operator == "In"), None)
        if listed:
            possible = any(all(one.allows(value) for one in those) for value in listed.values)
        else:
            numbers = [one.bounds for one in those if one.operator in _OPERATORS[4:]]
            possible = not numbers or max(low for low, _ in numbers) <= min(high for _, high in numbers)
        if not possible:
            return (
                f"no node can meet its requirements on {ascii_text(key)}: "
                f"{' and '.join(dict.fromkeys(map(str, those)))}"
            )
    return ""


def _architectures(
    requirements: Sequence[Requirement], node_class: Mapping[str, Any]
) -> tuple[tuple[str, ...], str, str]:
    """The entries, what they rest on, and the problem where there are none."""
    of_key: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        of_key.setdefault(requirement.key, []).append(requirement)
    stated = of_key.get(_ARCH, [])
    named = {value for one in stated if one.operator == "In" for value in one.values}
    candidates = {*_KNOWN, *named}
    allowed = {value for value in candidates if all(one.allows(value) for one in stated)}
    evidence = [
        (basis, told)
        for basis, told in (
            ("its requirements", allowed if stated else None),
            ("its instance types", _told_by_types(of_key)),
            ("the images of its node class", _told_by_images(node_class)),
        )
        if told is not None
    ]
    possible = set.intersection(candidates, *(told for _basis, told in evidence))
    if not possible:
        parts = "; ".join(f"{basis} allow {' and '.join(sorted(told)) or 'none'}" for basis, told in evidence)
        return (), "", f"it allows no architecture: {ascii_text(parts)}"
    systems = _systems(of_key.get(_OS, []), node_class)
    result = entries(systems, possible)
    if not result:
        what = f"{' and '.join(sorted(systems)) or 'no operating system'} on {' and '.join(sorted(possible))}"
        return (), "", f"it brings no node that archfit knows: {ascii_text(what)}"
    narrowing = [basis for basis, told in evidence if not candidates <= told]
    return result, " and ".join(narrowing or [basis for basis, _told in evidence]) or "nothing narrows it", ""


def _told_by_types(of_key: Mapping[str, Sequence[Requirement]]) -> set[str] | None:
    """The architectures of the instance types that are named, None where no name tells one."""
    tables = (
        (_TYPE, _architecture_of_type),
        ("karpenter.k8s.aws/instance-family", _architecture_of_type),
        ("karpenter.k8s.aws/instance-cpu-manufacturer", _MAKERS.get),
        ("karpenter.azure.com/sku-name", _architecture_of_type),
    )
    told: set[str] | None = None
    for key, read in tables:
        those = of_key.get(key, [])
        for listed in those:
            if listed.operator != "In":
                continue
            left = [read(value) for value in listed.values if all(one.allows(value) for one in those)]
            if all(left):
                these = {one for one in left if one}
                told = these if told is None else told & these
    return told


def _architecture_of_type(name: str) -> str | None:
    """Of an instance type or family of EC2, or of a size of Azure; None where the name does not tell it."""
    azure = _AZURE.fullmatch(name)
    if azure:
        return "arm64" if "p" in azure["letters"] or _GRACE.search(name) else "amd64"
    ec2 = _EC2.fullmatch(name)
    if ec2 is None or ec2["family"] == "mac":
        return None
    kind = ec2["kind"] or ""
    if kind and not _EC2_KINDS.fullmatch(kind):
        return "arm64" if _GRACE.search(kind) else None
    return "arm64" if "g" in ec2["letters"] or (ec2["family"], ec2["generation"]) == ("a", "1") else "amd64"


def _class(reference: Mapping[str, Any], classes: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The node class that a nodeClassRef names, {} where it is not there. v1beta1 has apiVersion in place of group."""
    group = str(reference.get("group") or group_of(reference))
    wanted = group, reference.get("kind"), reference.get("name")
    return next(
        (
            one
            for one in classes
            if (group_of(one), one.get("kind"), mapping(one, "metadata").get("name")) == wanted
        ),
        {},
    )


def _told_by_images(node_class: Mapping[str, Any]) -> set[str] | None:
    """The architectures of its images: of Windows amd64, of others by the status; None where that has no word of it."""
    if _WINDOWS.fullmatch(_family(node_class)):
        return {"amd64"}
    images = sequence(node_class, "status", "amis") or sequence(node_class, "status", "images")
    told: set[str] = set()
    for image in images:
        values = [
            value
            for one in sequence(image, "requirements")
            if one.get("key") == _ARCH and one.get("operator") == "In" and isinstance(one.get("values"), list)
            for value in one["values"]
        ]
        if not values:
            return None
        told |= {str(value) for value in values}
    return told or None


def _systems(stated: Sequence[Requirement], node_class: Mapping[str, Any]) -> set[str]:
    """The operating systems of its nodes."""
    family = _family(node_class)
    if _WINDOWS.fullmatch(family):
        possible = {"windows"}
    elif family or not stated:
        possible = {LINUX}
    else:
        possible = {LINUX, "windows"}
    return {system for system in possible if all(one.allows(system) for one in stated)}


def _family(node_class: Mapping[str, Any]) -> str:
    """The family of images of an EC2NodeClass, as `al2023`; "" where its images are named one by one."""
    aliases = (
        str(term.get("alias") or "").partition("@")[0]
        for term in sequence(node_class, "spec", "amiSelectorTerms")
    )
    family = str(mapping(node_class, "spec").get("amiFamily") or "") or next(
        (alias for alias in aliases if alias), ""
    )
    return "" if family == "Custom" else family


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else None
