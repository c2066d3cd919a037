"""How an option of a type is written: as text (flag, variable), as data (file), and the JSON Schema of the data.

`none` alone stands for the empty list or mapping everywhere but in clusterArchitectures. Here is what types are made
of, and those without a noun of their own:

    duration    90s  15m  6h  7d  1h30m  500ms      0 needs no unit
"""

from __future__ import annotations

import os

from archfit.base.errors import Problem
from archfit.base.spelling import refused
from archfit.startup.record import Record
from archfit.yaml.data_form import boolean, items, members, of_text, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias, TypeVar

    T = TypeVar("T")

Schema: TypeAlias = "dict[str, Any]"

LIST = 'Sequence[str] | Literal["none"]'
FILE = "str | os.PathLike[str]"
TEXT: Schema = {"type": "string", "minLength": 1}


class OptionType(Record):
    """text: from the occurrences of a flag, at least one. data: from a file. schema: of the data.

    field: the type of the value, as `settings` writes it. written: the type of the data, as `api.options` writes it.
    """

    text: Callable[[Sequence[str]], object]
    data: Callable[[object], object]
    schema: Schema
    field: str
    written: str


def choice(*choices: str) -> OptionType:
    """One of some words."""

    def parse(word: str) -> str:
        if word not in choices:
            raise Problem(refused(word, choices))
        return word

    literal = "Literal[" + ", ".join(f'"{word}"' for word in choices) + "]"
    return single(parse, {"enum": list(choices)}, literal, literal)


def single(parse: Callable[[str], object], schema: Schema, field: str, written: str) -> OptionType:
    """One text; of several occurrences of a flag the last one counts."""
    return OptionType(lambda given: parse(given[-1]), of_text(parse), schema, field, written)


def list_of(data: Callable[[object], object], item: Schema, field: str, written: str = LIST) -> OptionType:
    """A list, of which each occurrence of a flag is an item."""
    schema = or_none({"type": "array", "items": item})
    return OptionType(lambda given: data(_occurrences(given)), data, schema, f"tuple[{field}, ...]", written)


def texts_of(parse: Callable[[str], object], item: Schema, example: str, field: str) -> OptionType:
    """A list of texts."""
    return list_of(lambda value: items(value, of_text(parse), example), item, field)


def mapping_of(
    pair: Callable[[str], T],
    member: Callable[[str, object], T],
    key: Callable[[T], str],
    example: str,
    schema: Schema,
    field: str,
    written: str,
) -> OptionType:
    """A mapping, of which each occurrence of a flag is a member.

    pair: from the text of an occurrence. member: from key and value of the data. key: two members of one are an error.
    """

    def text(given: Sequence[str]) -> tuple[T, ...]:
        return distinct(tuple(dict.fromkeys(map(pair, _occurrences(given)))), key)

    def data(value: object) -> tuple[T, ...]:
        return distinct(tuple(member(name, item) for name, item in members(value, example).items()), key)

    literal = f'Mapping[str, {written}] | Literal["none"]'
    return OptionType(text, data, or_none({"type": "object", **schema}), f"tuple[{field}, ...]", literal)


def pair_of(parse: Callable[[str, str], T], lacking: str) -> Callable[[str], T]:
    """What reads `KEY=VALUE`. lacking: the message where there is no equals sign."""

    def pair(text: str) -> T:
        key, equals, value = text.partition("=")
        if not equals:
            raise Problem(lacking)
        return parse(key.strip(), value.strip())

    return pair


def member_of(parse: Callable[[str, str], T], key: str, value: object) -> T:
    """The member of a mapping whose value is a text. Raises Problem, with its key."""
    return within(key, of_text(lambda text: parse(key, text)), value)


def distinct(rows: tuple[T, ...], key: Callable[[T], str]) -> tuple[T, ...]:
    """The rows, when no key is there twice. Raises Problem."""
    seen: set[str] = set()
    for row in rows:
        if key(row) in seen:
            raise Problem(f"{key(row)!r} is given twice: write it once")
        seen.add(key(row))
    return rows


def words(text: str, what: str) -> list[str]:
    """The parts of a list with commas, blanks around them dropped. Raises Problem when a part is empty."""
    parts = [part.strip() for part in text.split(",")]
    if "=" not in text and any(letter == ";" or letter.isspace() for letter in "".join(parts)):
        listed = ",".join(text.replace(",", " ").replace(";", " ").split())
        raise Problem(f"{text!r} is not a list: write {what} separated by commas, as {listed!r}")
    if not all(parts):
        raise Problem(f"{text!r} has an empty entry: write {what} separated by single commas")
    return parts


def closed(text: str) -> str:
    """A glob whose last `[` has an end: for each without, `fnmatch` reads to the end of the text. Raises Problem."""
    if text.rfind("[") > text.rfind("]"):
        raise Problem(f"{text!r} has a '[' that nothing closes: add ']', or write '?' for any one character")
    return text


def or_none(schema: Schema) -> Schema:
    """The schema of a list or mapping, for which `none` may stand."""
    return {"anyOf": [schema, {"const": "none"}]}


def _occurrences(given: Sequence[str]) -> list[str]:
    """Of a flag; `none` stands alone, for no one."""
    if list(given) == ["none"]:
        return []
    if "none" in given:
        raise Problem("'none' cannot stand beside other values: leave out either it or the others")
    return list(given)


def file_only(_given: Sequence[str]) -> object:
    """Refuses text: for kinds that are written as data only. Raises Problem."""
    raise Problem("is read from a configuration file only: write it under spec")


def _switch(word: str) -> bool:
    if word not in {"true", "false", "1", "0"}:
        raise Problem(f"{word!r} is not a boolean: write true or false")
    return word in {"true", "1"}


def file_path(text: str) -> str:
    """The path of a file. Raises Problem."""
    if not text:
        raise Problem("is empty: write a path")
    try:
        usable = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise Problem("is not a path: write one without NUL and half characters (surrogates)")
    return text


UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}

# `re` is loaded for what few options hold: loading it takes a tenth of a small run.
_DURATION = r"(?:[0-9]{1,9}(?:ms|s|m|h|d))+"
_DURATION_PART = r"([0-9]+)(ms|s|m|h|d)"


def duration(text: str) -> float:
    """Seconds. Raises Problem."""
    if text == "0":
        return 0.0
    number, unit = text[:-1], text[-1:]
    if unit in ("s", "m", "h", "d") and len(number) < 10 and number.isascii() and number.isdigit():
        return int(number) * UNITS[unit]
    import re

    if not re.fullmatch(_DURATION, text):
        spelled = re.fullmatch(r"([0-9]{1,9}) ?(?:([dhms])[a-z]*)?", text)
        example = f"{spelled[1]}{spelled[2] or 's'}" if spelled else "30s"
        raise Problem(f"{text!r} is not a duration: write {example!r}, or another with d, h, m, s or ms")
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(_DURATION_PART, text))


def whole_seconds(text: str) -> int:
    """A duration without a fraction of a second, in seconds. Raises Problem."""
    seconds = duration(text)
    if seconds != int(seconds):
        raise Problem(f"{text!r} is not a whole number of seconds: write '1s' or more")
    return int(seconds)


def deadline(text: str) -> float:
    """A duration above zero, in seconds; of centuries 31 years, as no lock waits for longer. Raises Problem."""
    seconds = duration(text)
    if not seconds:
        raise Problem(f"{text!r} leaves no time for lookups: write a duration such as '30s'")
    return min(seconds, 1e9)


_SECONDS = {"type": "string", "pattern": "^([0-9]+(ms|s|m|h|d))+$"}

SWITCH = OptionType(lambda given: _switch(given[-1]), boolean, {"type": "boolean"}, "bool", "bool")
PATH = single(file_path, TEXT, "str", FILE)
WHOLE_SECONDS = single(whole_seconds, {"anyOf": [_SECONDS, {"const": 0}]}, "int", "str | Literal[0]")
DEADLINE = single(deadline, _SECONDS, "float", "str")
