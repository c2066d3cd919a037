"""The base of the records of a compiled wheel, in the place of `archfit.record`, whose metaclass mypyc cannot compile.

`native_classes` writes the constructor and the names of the fields into each record. The build puts this module into
the wheel as `archfit.native_record`; it is nowhere else.
"""

from __future__ import annotations

from archfit.typing_names import Any, Self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar, Final  # noqa: TC004 - the next line is the other half
# What the compiled modules import for their annotations alone; `typing` costs 8 ms.
globals().update(ClassVar=object, Final=object)


class Record:
    """A frozen value: its fields are Final, so they have no setter."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in self._fields)

    def __hash__(self) -> int:
        return hash((type(self), *[getattr(self, field) for field in self._fields]))

    def __repr__(self) -> str:
        inside = ", ".join([f"{field}={getattr(self, field)!r}" for field in self._fields])
        return f"{type(self).__name__}({inside})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed. Raises TypeError for a field that does not exist."""
        fields = {field: getattr(self, field) for field in self._fields}
        fields.update(changes)
        return type(self)(**fields)


def interpreted(cls: Any) -> Any:
    """The class as it is; mypyc leaves classes with decorators to the interpreter."""
    return cls


__all__ = ["Any", "ClassVar", "Final", "Record", "interpreted"]
