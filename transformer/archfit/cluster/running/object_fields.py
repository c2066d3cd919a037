"""Fields of decoded objects (JSON's own values) whose types nobody has checked: a wrong type counts as absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NOTHING: dict[str, Any] = {}


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


def controller(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """(kind, name) of the owner that controls the object (metav1.GetControllerOf), ("", "") where none does."""
    for owner in mappings(metadata.get("ownerReferences")):
        if owner.get("controller") is True:
            return text(owner.get("kind")), text(owner.get("name"))
    return "", ""
