"""Record: frozen values with slots, for a start-up that cannot afford `dataclasses`.

    class Toleration(Record):
        key: str
        effect: str = ""

Type checkers read the declaration through PEP 681. With `dataclasses` (frozen, with slots) in its place a warm run of
one Deployment takes 3.15 times as long (3.13; 3.36 with 3.11), with msgspec's Struct twice as long: both compile source
for each class.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_options: object) -> object:
        """PEP 681's marker, without importing typing."""
        return lambda cls: cls


_REQUIRED: Any = object()
_OFTEN = 250


@dataclass_transform(frozen_default=True, eq_default=True)
class _RecordType(type):
    """Turns annotations into slots and class values into defaults."""

    _fields: tuple[str, ...]
    _defaults: tuple[object, ...]
    _setters: tuple[Callable[[object, object], None], ...]
    _required: int
    _made: list[int]

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _RecordType:
        own = tuple(namespace.get("__annotations__", ()))
        namespace["__slots__"] = own
        fields, defaults = own, tuple([namespace.pop(field, _REQUIRED) for field in own])
        inherited: Any = bases[0] if bases else None
        if inherited and inherited._fields:
            fields = inherited._fields + fields
            defaults = inherited._defaults + defaults  # noqa: SLF001 - of the same metaclass
            namespace["__init__"] = Record.__init__  # not the one that is made for the other class alone
        required = len(fields)
        while required and defaults[required - 1] is not _REQUIRED:
            required -= 1
        namespace["_fields"], namespace["_defaults"], namespace["_required"] = fields, defaults, required
        namespace["_made"] = [0]
        cls = super().__new__(mcls, name, bases, namespace)
        cls._setters = tuple([getattr(cls, field).__set__ for field in fields])
        return cls


class Record(metaclass=_RecordType):
    """A frozen value; see the module."""

    def __init__(self, *values: object, **named: object) -> None:
        cls = type(self)
        if named or len(values) != len(cls._setters):
            values = _completed(cls, values, named)
        for put, value in zip(cls._setters, values, strict=False):
            put(self, value)
        constructor = cls._made
        constructor[0] += 1
        if constructor[0] == _OFTEN:
            _make_often(cls)

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

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """For pickle, between processes of one archfit: a frozen value is made, never filled."""
        return type(self), tuple([getattr(self, field) for field in type(self)._fields])

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed. Raises TypeError for a field that does not exist."""
        cls = type(self)
        values = [changes.pop(field) if field in changes else getattr(self, field) for field in cls._fields]
        return cls(*values, **changes)


def _completed(cls: _RecordType, values: tuple[object, ...], named: dict[str, object]) -> tuple[object, ...]:
    fields, count = cls._fields, len(values)
    if count > len(fields):
        raise TypeError(f"{cls.__name__} takes {len(fields)} values, not {count}")
    if not named:
        values += cls._defaults[count:]
    else:
        rest = zip(fields[count:], cls._defaults[count:], strict=True)
        values += tuple([named.pop(field, default) for field, default in rest])
    for field, value in zip(fields, values, strict=True) if count < cls._required else ():
        if value is _REQUIRED:
            raise TypeError(f"{cls.__name__} needs {field!r}")
    if named:
        raise TypeError(f"{cls.__name__} has no {', '.join(sorted(named))}, or it was given twice")
    return values


def _make_often(cls: _RecordType) -> None:
    """Gives the class a constructor of its own, as `dataclasses` does: it takes a quarter of the time.

    To compile it costs 0.1 ms, so it is for what a run makes often: without it a stream of 1,000 Deployments takes
    1.065 times the instructions (3.11). A slot is set past `__setattr__` by a call, or without one while the value is
    of a class that has the same slots and is not frozen.
    """
    frozen: Any = cls
    if frozen.__base__ is not Record:
        return
    free = {"__slots__": cls._fields, "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    scope: dict[str, Any] = {
        "_frozen": frozen,
        "_free": type.__new__(_RecordType, cls.__name__, (Record,), free),
        "_set_class": object.__dict__["__class__"].__set__,
        "_defaults": cls._defaults,
    }
    given = [
        field if default is _REQUIRED else f"{field}=_defaults[{number}]"
        for number, (field, default) in enumerate(zip(cls._fields, cls._defaults, strict=True))
    ]
    lines = [
        f"def made(self, {', '.join(given)}):",
        " _set_class(self, _free)",
        *[f" self.{field} = {field}" for field in cls._fields],
        " self.__class__ = _frozen",
    ]
    exec("\n".join(lines), scope)  # noqa: S102 - the names of fields, which stand in our own source
    frozen.__init__ = scope["made"]
