"""Fields of decoded objects (JSON's own values) whose types nobody has checked: a wrong type counts as absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_NOTHING: dict[str, Any] = {}


def kept_labels(metadata: Mapping[str, Any], keys: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The labels and annotations of a pod that are named. keys: `label=KEY` or `annotation=KEY`."""
    found = []
    for key in keys:
        kind, _, name = key.partition("=")
        values = mapping(metadata.get(f"{kind}s"))
        if name in values:
            found.append((key, text(values[name])))
    return tuple(sorted(found))


def mapping(value: Any) -> Mapping[str, Any]:
    """The value, or an empty mapping in the place of anything else."""
    return value if isinstance(value, dict) else _NOTHING


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; nothing for anything else."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def text(value: Any) -> str:
    """The value, or "" in the place of anything but a string."""
    return value if isinstance(value, str) else ""


def number(value: Any, default: int) -> int:
    """The value, or the default in the place of anything but an int32 that is not negative."""
    return value if type(value) is int and 0 <= value < 2**31 else default


def tolerations(spec: Mapping[str, Any]) -> tuple[tuple[str, str, str, str], ...]:
    """(key, operator, value, effect) of a pod spec's, sorted, each once; see `audit_facts.WorkloadFacts`."""
    found = {
        (text(one.get("key")), text(one.get("operator")), text(one.get("value")), text(one.get("effect")))
        for one in mappings(spec.get("tolerations"))
        if one.get("tolerationSeconds") is None
    }
    return tuple(sorted(found))


def controller(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """(kind, name) of the owner that controls the object (metav1.GetControllerOf), ("", "") where none does."""
    for owner in mappings(metadata.get("ownerReferences")):
        if owner.get("controller") is True:
            return text(owner.get("kind")), text(owner.get("name"))
    return "", ""
