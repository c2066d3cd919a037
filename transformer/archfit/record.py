"""Record: frozen values with slots, for a start-up that cannot afford `dataclasses`.

    class Toleration(Record):
        key: str
        effect: str = ""

declares two slots, a constructor (`Toleration("a")`, `Toleration(key="a", effect="b")`), equality, a hash, a
representation and `replace()`; nothing can be assigned afterwards. Type checkers read the same declaration
through PEP 681. Importing `dataclasses` costs 12 ms of a 40 ms run and 0.4 ms for each class (it compiles source);
this costs 20 microseconds for each class.
"""

from __future__ import annotations

from archfit.typing_names import Any, Callable, Self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import dataclass_transform
else:

    def dataclass_transform(**_options: object) -> object:
        """PEP 681's marker, without importing typing."""
        return lambda cls: cls


_REQUIRED = object()


@dataclass_transform(frozen_default=True, eq_default=True)
class _RecordType(type):
    """Turns annotations into slots and class values into defaults."""

    _fields: tuple[str, ...]
    _defaults: tuple[object, ...]
    _setters: tuple[Callable[[object, object], None], ...]
    _required: int

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RecordType:
        own = tuple(namespace.get("__annotations__", ()))
        namespace["__slots__"] = own
        fields, defaults = own, tuple([namespace.pop(field, _REQUIRED) for field in own])
        inherited: Any = bases[0] if bases else None
        if inherited and inherited._fields:
            fields = inherited._fields + fields
            defaults = inherited._defaults + defaults  # noqa: SLF001 - of the same metaclass
        required = len(fields)
        while required and defaults[required - 1] is not _REQUIRED:
            required -= 1
        namespace["_fields"], namespace["_defaults"], namespace["_required"] = fields, defaults, required
        cls = super().__new__(mcls, name, bases, namespace)
        cls._setters = tuple([getattr(cls, field).__set__ for field in fields])
        return cls


class Record(metaclass=_RecordType):
    """A frozen value; see the module."""

    def __init__(self, *values: object, **named: object) -> None:
        cls = type(self)
        if not named and len(values) >= cls._required:
            if len(values) < len(cls._setters):
                values += cls._defaults[len(values) :]
            if len(values) == len(cls._setters):
                for put, value in zip(cls._setters, values, strict=False):
                    put(self, value)
                return
        self._fill(values, named)

    def _fill(self, values: tuple[object, ...], named: dict[str, object]) -> None:
        cls = type(self)
        put = object.__setattr__
        fields = cls._fields
        if len(values) > len(fields):
            raise TypeError(f"{cls.__name__} takes {len(fields)} values, not {len(values)}")
        for field, value in zip(fields, values, strict=False):
            put(self, field, value)
        for index in range(len(values), len(fields)):
            field = fields[index]
            if field in named:
                put(self, field, named.pop(field))
            elif cls._defaults[index] is not _REQUIRED:
                put(self, field, cls._defaults[index])
            else:
                raise TypeError(f"{cls.__name__} needs {field!r}")
        if named:
            raise TypeError(f"{cls.__name__} has no {', '.join(sorted(named))}, or it was given twice")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be assigned")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in type(self)._fields)

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, field) for field in type(self)._fields)))

    def __repr__(self) -> str:
        inside = ", ".join(f"{field}={getattr(self, field)!r}" for field in type(self)._fields)
        return f"{type(self).__name__}({inside})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed. Raises TypeError for a field that does not exist."""
        fields = {field: getattr(self, field) for field in type(self)._fields}
        return type(self)(**{**fields, **changes})
