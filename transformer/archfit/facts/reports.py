"""Reports of `archfit audit --format json`, as --merge, --compare and `archfit lock --from-audit` read them.

Only `schema` and `facts` are read: the other members follow from the facts. Reading is strict: an unknown field, a
missing one or a wrong type is an error that names the file and the path, since a report of another version may mean
something else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from archfit.base.errors import InvalidInput, InvalidReference, UsageError
from archfit.base.files import read_file
from archfit.base.printable import visible
from archfit.base.record_json import camel_case
from archfit.facts.facts import SCHEMA, AuditFacts
from archfit.facts.merge import sorted_facts
from archfit.images.platforms import parse_platform
from archfit.startup.record import Record

_WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def facts_of_report(file: str, flag: str) -> AuditFacts:
    """The facts of a report. flag: that named it, for messages. Raises UsageError and InvalidInput."""
    try:
        return from_json(read_file(file), file)
    except OSError as error:
        raise UsageError(
            f"{flag}: cannot read {file!r} ({error.strerror}): name a report of archfit audit --format json"
        ) from None


def from_json(data: bytes, file: str) -> AuditFacts:
    """The facts of a report. file: as the user named it. Raises InvalidInput."""
    again = "make it again with archfit audit --format json"
    try:
        document = json.loads(data)
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not UTF-8, so it is no report of archfit audit: {again}") from None
    except RecursionError:
        raise InvalidInput(f"{file} is nested too deeply to be a report of archfit audit: {again}") from None
    except ValueError as error:
        at = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidInput(f"{file} is not JSON, or ends before its end{at}: {again}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str) or not schema.startswith("archfit.dev/audit/"):
        raise InvalidInput(f"{file} is not a report of archfit audit: {again}")
    if schema != SCHEMA:
        raise InvalidInput(
            f"{file} has the schema {visible(schema)}, which another version of archfit wrote; this one reads "
            f"{SCHEMA}: {again}"
        )
    try:
        facts: Any = read_record(AuditFacts, document.get("facts"), "facts")
        for image in facts.images:
            for platform in image.platforms:
                parse_platform(platform)
    except (WrongRecord, InvalidReference) as wrong:
        raise InvalidInput(f"{file}: {wrong}; {again}") from None
    return sorted_facts(facts)


class WrongRecord(Exception):
    """What is wrong, with the path."""


@cache
def _readers(record: type[Record]) -> dict[str, tuple[str, Callable[[Any, str], Any]]]:
    hints = get_type_hints(record)
    return {camel_case(name): (name, _reader(hints[name])) for name in record._fields}


def read_record(record: type[Record], value: Any, at: str) -> Record:
    """The record that `base.record_json.record_value` made a value of. at: its path. Raises WrongRecord."""
    if not isinstance(value, dict):
        raise WrongRecord(f"{at} is missing or is no object")
    readers = _readers(record)
    unknown = next((key for key in value if key not in readers), None)
    if unknown is not None:
        raise WrongRecord(f"{at} has the unknown field {visible(unknown)!r}")
    fields = {}
    for key, (name, reader) in readers.items():
        if key not in value:
            raise WrongRecord(f"{at} lacks the field {key!r}")
        fields[name] = reader(value[key], f"{at}.{key}")
    return record(**fields)


def _reader(hint: Any) -> Callable[[Any, str], Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda value, at: _one_of(parts, value, at)
    if origin is tuple and parts[-1] is ...:
        reader = _reader(parts[0])
        return lambda value, at: tuple(
            reader(item, f"{at}[{number}]") for number, item in enumerate(_list(value, at))
        )
    if origin is tuple:
        members = [_reader(part) for part in parts]
        return lambda value, at: tuple(
            reader(item, f"{at}[{number}]")
            for number, (reader, item) in enumerate(zip(members, _list(value, at, len(members)), strict=True))
        )
    if isinstance(hint, type) and issubclass(hint, Record):
        return lambda value, at: read_record(hint, value, at)
    return lambda value, at: _scalar(hint, value, at)


def _scalar(wanted: type, value: Any, at: str) -> Any:
    if type(value) is not wanted or (isinstance(value, int) and value < 0):
        raise WrongRecord(f"{at} is not {_WORDS[wanted]}")
    return value


def _one_of(words: tuple[Any, ...], value: Any, at: str) -> Any:
    if value not in words or not isinstance(value, str):
        raise WrongRecord(f"{at} is none of {', '.join(map(repr, words))}")
    return value


def _list(value: Any, at: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise WrongRecord(f"{at} is not a list{'' if length is None else f' of {length}'}")
    return value
