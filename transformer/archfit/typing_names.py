"""Names of `typing` for annotations: `object` at run time, so that a warm run does not load `typing`.

Annotations are never evaluated here (PEP 563), and type checkers read the names as those of `typing`. Modules that
a warm run never loads import `typing` itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Literal, NoReturn, Protocol, Self, TextIO, TypeAlias, TypeVar

    T = TypeVar("T")
else:
    Any = BinaryIO = Literal = NoReturn = Protocol = Self = T = TextIO = TypeAlias = object

__all__ = ["Any", "BinaryIO", "Literal", "NoReturn", "Protocol", "Self", "T", "TextIO", "TypeAlias"]
