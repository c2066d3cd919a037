"""Facts as JSON, both ways: what `archfit audit --format json` holds under `facts`, for --merge and --compare.

    {"schema": "archfit.dev/audit/v1alpha2", "facts": {"snapshots": [..], "nodes": [..], "workloads": [..],
                                                       "builds": [..], "images": [..], "shards": [..]}, ..}

A record is an object with all fields of `audit_facts`, in camelCase; a tuple is a list. Members beside `schema` and
`facts` follow from the facts and are not read. Reading is strict: an unknown field, a missing one or a wrong type is an
error that names the file and the path, since a report of another version may mean something else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from archfit.cluster import audit_facts
from archfit.cluster.audit_facts import AuditFacts
from archfit.cluster.audit_merge import sorted_facts
from archfit.errors import InvalidInput
from archfit.printable import visible
from archfit.record import Record

SCHEMA = "archfit.dev/audit/v1alpha2"
_WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def facts_text(facts: AuditFacts) -> Iterator[str]:
    """The member `facts` as JSON text, in parts of one record, each on a line of its own; nothing else is held."""
    before = "{"
    for name in AuditFacts._fields:
        yield f"{before}\n{json.dumps(camel_case(name))}: ["
        first = True
        for one in getattr(facts, name):
            yield ("\n" if first else ",\n") + json.dumps(
                record_value(one), ensure_ascii=True, separators=(",", ":")
            )
            first = False
        before = "],"
    yield "]}"


def to_json(facts: AuditFacts) -> bytes:
    """A file that holds facts and nothing else. The same facts give the same bytes."""
    head = f'{{"schema": {json.dumps(SCHEMA)},\n"facts": '
    return "".join((head, *facts_text(facts), "}\n")).encode()


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
        found: Any = _record(AuditFacts, document.get("facts"), "facts")
    except _Wrong as wrong:
        raise InvalidInput(f"{file}: {wrong}; {again}") from None
    return sorted_facts(found)


class _Wrong(Exception):
    """What is wrong, with the path."""


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


@cache
def _readers(record: type[Record]) -> dict[str, tuple[str, Callable[[Any, str], Any]]]:
    """Of each member its field, and what reads it."""
    hints = get_type_hints(record, vars(audit_facts))
    return {camel_case(name): (name, _reader(hints[name])) for name in record._fields}


def _record(record: type[Record], value: Any, at: str) -> Record:
    if not isinstance(value, dict):
        raise _Wrong(f"{at} is missing or is no object")
    readers = _readers(record)
    unknown = next((key for key in value if key not in readers), None)
    if unknown is not None:
        raise _Wrong(f"{at} has the unknown field {visible(unknown)!r}")
    fields = {}
    for key, (name, read) in readers.items():
        if key not in value:
            raise _Wrong(f"{at} lacks the field {key!r}")
        fields[name] = read(value[key], f"{at}.{key}")
    return record(**fields)


def _reader(hint: Any) -> Callable[[Any, str], Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda value, at: _one_of(parts, value, at)
    if origin is tuple and parts[-1] is ...:
        item = _reader(parts[0])
        return lambda value, at: tuple(
            item(one, f"{at}[{number}]") for number, one in enumerate(_list(value, at))
        )
    if origin is tuple:
        items = [_reader(part) for part in parts]
        return lambda value, at: tuple(
            item(one, f"{at}[{number}]")
            for number, (item, one) in enumerate(zip(items, _list(value, at, len(items)), strict=True))
        )
    if isinstance(hint, type) and issubclass(hint, Record):
        return lambda value, at: _record(hint, value, at)
    return lambda value, at: _scalar(hint, value, at)


def _scalar(wanted: type, value: Any, at: str) -> Any:
    if type(value) is not wanted or (isinstance(value, int) and value < 0):
        raise _Wrong(f"{at} is not {_WORDS[wanted]}")
    return value


def _one_of(words: tuple[Any, ...], value: Any, at: str) -> Any:
    if value not in words or not isinstance(value, str):
        raise _Wrong(f"{at} is none of {', '.join(map(repr, words))}")
    return value


def _list(value: Any, at: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise _Wrong(f"{at} is not a list{'' if length is None else f' of {length}'}")
    return value
