"""Plain values in the shape that a reader expects, with the path of what is wrong.

Values are dict, list, str, bool, int and None, as `config_yaml` reads them. The word `none` stands for the empty list
or mapping. A function raises Problem whose `path` leads to the part that is wrong.
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.base.spelling import expected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")


def string(value: object) -> str:
    """A scalar's text. Raises Problem for a boolean, which YAML made of a bare word, and for the rest."""
    if isinstance(value, bool):
        raise Problem(f"{str(value).lower()} is a boolean in YAML: write it in quotes if you mean the word")
    if isinstance(value, (str, int)):
        return str(value)
    raise Problem(
        "has no value: write one, or leave the key out" if value is None else "has to be a single text"
    )


def of_text(parse: Callable[[str], T]) -> Callable[[object], T]:
    """`parse`, which takes a text, for a plain value."""
    return lambda value: parse(string(value))


def boolean(value: object) -> bool:
    """A YAML boolean. Raises Problem."""
    if not isinstance(value, bool):
        shown = repr(value) if isinstance(value, (str, int)) else "this"
        raise Problem(f"{shown} is not a boolean: write true or false")
    return value


def within(step: str | int, parse: Callable[[object], T], value: object) -> T:
    """What `parse` makes of a part of a value; a Problem gets the step that leads there."""
    try:
        return parse(value)
    except Problem as problem:
        raise Problem(problem.message, (step, *problem.path)) from None


def items(value: object, parse: Callable[[object], T], example: str) -> tuple[T, ...]:
    """The items of a list, or of `none`, doubles dropped. Raises Problem."""
    rows = enumerate(as_list(value, example))
    return tuple(dict.fromkeys(within(index, parse, item) for index, item in rows))


def as_list(value: object, example: str) -> list[object]:
    """A list, or `none`. Raises Problem."""
    if value == "none":
        return []
    if not isinstance(value, list):
        shown = value if isinstance(value, str) and value.isprintable() and "," not in value else example
        raise Problem(f"has to be a list: write it as [{shown}]")
    return value


def members(value: object, example: str) -> dict[str, object]:
    """A mapping, or `none`. Raises Problem."""
    if value == "none":
        return {}
    if not isinstance(value, dict):
        raise Problem(f"has to be a mapping: write it as {{{example}}}")
    return value


def fields(
    value: object, known: Sequence[str], example: str, needed: Sequence[str] = ()
) -> dict[str, object]:
    """A mapping with none but the known keys, and all that are needed. Raises Problem."""
    given = members(value, example)
    for key in given:
        if key not in known:
            raise Problem(f"there is no key {key!r} here: {expected(key, known)}", (key,))
    for key in needed:
        if key not in given:
            raise Problem(f"has no {key}: write it as {{{example}}}")
    return given


def one_of(text: str, known: Sequence[str], wrong: str) -> str:
    """One of the known words. wrong: what another one is not. Raises Problem."""
    if text not in known:
        raise Problem(f"{text!r} {wrong}: {expected(text, known)}")
    return text


def word(given: dict[str, object], key: str, known: Sequence[str], wrong: str) -> str:
    """The word at a key, by default the first one that is known. wrong: see `one_of`. Raises Problem."""
    value = given.get(key, known[0])
    return within(key, of_text(lambda text: one_of(text, known, wrong)), value)
