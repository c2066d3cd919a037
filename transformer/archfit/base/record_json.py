"""Records as JSON values: an object with all fields in camelCase; a tuple is a list."""

from __future__ import annotations

from functools import cache
from typing import Any

from archfit.startup.record import Record


def record_value(value: Any) -> Any:
    """Records as objects whose keys are their fields in camelCase, tuples as lists."""
    if isinstance(value, Record):
        return {camel_case(name): record_value(getattr(value, name)) for name in type(value)._fields}
    return [record_value(item) for item in value] if isinstance(value, tuple) else value


@cache
def camel_case(field: str) -> str:
    """`requested_cpu` as `requestedCpu`."""
    first, *others = field.split("_")
    return first + "".join(other.capitalize() for other in others)
