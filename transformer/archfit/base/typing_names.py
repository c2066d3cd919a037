"""Names for annotations, without the modules that cost a warm run their time.

    those of `typing`             `object` at run time; `typing` costs 8 ms
    those of `collections.abc`    themselves; that module is in the package `collections`, which costs 1 ms

Annotations are never evaluated here (PEP 563), and type checkers read the names as those of the two modules. Modules
that a warm run never loads import both themselves.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any, BinaryIO, Literal, NoReturn, Protocol, Self, TextIO, TypeAlias, TypeVar

    K = TypeVar("K")
    T = TypeVar("T")
    V = TypeVar("V")
else:
    # `os` has loaded the module that `collections.abc` takes all of its names from.
    from _collections_abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    Any = BinaryIO = K = Literal = NoReturn = Protocol = Self = T = TextIO = TypeAlias = V = object

__all__ = [
    "Any",
    "BinaryIO",
    "Callable",
    "Collection",
    "Container",
    "Iterable",
    "Iterator",
    "K",
    "Literal",
    "Mapping",
    "NoReturn",
    "Protocol",
    "Self",
    "Sequence",
    "T",
    "TextIO",
    "TypeAlias",
    "V",
]
