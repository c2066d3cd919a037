"""Members of a pod spec in the shape that Kubernetes gives them, or an error that names the field.

Source: core/v1 types; Kubernetes' decoder reads null as the zero value everywhere.
"""

from __future__ import annotations

from archfit.base.errors import ArchfitError
from archfit.base.patch import Path
from archfit.yaml.values import Typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class MalformedField(ArchfitError):
    """A member does not have the shape that Kubernetes gives it. `path` is from the object's root."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


def mapping(holder: dict[str, Any], key: str, at: Path) -> dict[str, Any] | None:
    """The mapping `holder[key]`; `at` is the path of `holder`. Raises MalformedField."""
    value = holder.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise _unlike("a mapping", value, (*at, key))


def sequence(holder: dict[str, Any], key: str, at: Path) -> Sequence[Any]:
    """The list `holder[key]`; `at` is the path of `holder`. Raises MalformedField."""
    value = holder.get(key)
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    raise _unlike("a list", value, (*at, key))


def items(holder: dict[str, Any], key: str, at: Path) -> list[dict[str, Any]]:
    """The list of mappings `holder[key]`; a null item is an empty mapping. Raises MalformedField."""
    mappings = []
    for index, item in enumerate(sequence(holder, key, at)):
        if item is not None and not isinstance(item, dict):
            raise _unlike("a mapping", item, (*at, key, index))
        mappings.append(item or {})
    return mappings


def string(holder: dict[str, Any], key: str, at: Path) -> str:
    """The string `holder[key]`; `at` is the path of `holder`. Raises MalformedField."""
    value = holder.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise _unlike("a string", value, (*at, key))


def strings(holder: dict[str, Any], key: str, at: Path) -> tuple[str, ...]:
    """The list of strings `holder[key]`; a null item is "". Raises MalformedField."""
    values = sequence(holder, key, at)
    for index, item in enumerate(values):
        if item is not None and not isinstance(item, str):
            raise _unlike("a string", item, (*at, key, index))
    return tuple(item or "" for item in values)


def _unlike(wanted: str, value: object, path: Path) -> MalformedField:
    if isinstance(value, Typed):
        kind = {"bool": "a boolean", "int": "a number", "float": "a number"}[value.kind]
        hint = f'; put it in quotes: "{value.text}"' if wanted == "a string" else ""
        return MalformedField(path, f"has to be {wanted}, but {value.text} is {kind}{hint}")
    shape = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a string"
    return MalformedField(path, f"has to be {wanted}, but it is {shape}; write it as the Kubernetes API does")
