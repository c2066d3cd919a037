"""The configuration file, in two parts, and its JSON Schema.

apiVersion: archfit.dev/v1alpha1
kind: ArchFit
metadata: {name: any}       # allowed, not read
spec:                       # placement: anyone may supply it
  clusterArchitectures: [amd64, arm64]
operator:                   # trust: only in a file that a flag or variable of the operator names
  cacheTtl: 1h
  enforced: [clusterArchitectures, onConflict]
"""

from __future__ import annotations

from operator import itemgetter
from os.path import dirname, join

from archfit.base.documentation import schema_id
from archfit.base.errors import Problem, UsageError
from archfit.base.patch import Path, dotted
from archfit.base.printable import visible
from archfit.base.spelling import expected
from archfit.options.settings import Given, Layer
from archfit.options.table import ANNOTATIONS, BY_KEY, OPERATOR, SPEC, TABLE, Option
from archfit.yaml import data_form
from archfit.yaml.config_yaml import ConfigYaml, parse_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from archfit.options.option_types import Schema

API_VERSION = "archfit.dev/v1alpha1"
KIND = "ArchFit"
_KEYS = {
    "spec": tuple(option.key for option in SPEC),
    "operator": (*(option.key for option in OPERATOR), "enforced"),
}
_ROOT = ("apiVersion", "kind", "metadata", *_KEYS)


def from_file(content: bytes, path: str, named_by: str = "--config") -> Layer:
    """The layer of a configuration file that the operator named, so that both parts count.

    path: as the operator wrote it, for messages. named_by: the flag or variable that did. Raises UsageError.
    """
    problems: list[Problem] = []
    lines: Mapping[Path, int] = {}
    try:
        document = parse_config(_text(content))
        lines = document.lines
        layer = _layer(document, path, f"file {path} ({named_by})", problems)
    except Problem as problem:
        problems.append(problem)
    located = sorted(
        ((problem.line or _line(lines, problem.path), problem) for problem in problems), key=itemgetter(0)
    )
    if located:
        raise UsageError(
            "\n".join(
                _sentence(f"{path} line {line}" if line else path, problem) for line, problem in located
            )
        )
    return layer


def from_values(values: object, source: str) -> Layer:
    """The layer of a configuration object that anyone may have supplied (a functionConfig, parameters).

    values: the whole object, plain. source: its name for messages. Raises UsageError: the part `operator` is
    refused.
    """
    problems: list[Problem] = []
    given: dict[str, Given] = {}
    try:
        parts = _object(values, problems)
        if "operator" in parts:
            problems.append(
                Problem("only the operator may set this: write it into the file of --config", ("operator",))
            )
        given = _given(parts, "spec", ConfigYaml(values, {}), source, problems)
    except Problem as problem:
        problems.append(problem)
    if problems:
        raise UsageError("\n".join(_sentence(source, problem) for problem in problems))
    return Layer(source, given)


def _sentence(where: str, problem: Problem) -> str:
    field = visible(dotted(problem.path))
    return f"{where}{', ' + field if field else ''}: {problem.message}"


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Problem("is not UTF-8: save it in that encoding", (), line) from None


def _layer(document: ConfigYaml, path: str, source: str, problems: list[Problem]) -> Layer:
    parts = _object(document.values, problems)
    given: dict[str, Given] = {}
    for part in ("spec", "operator"):
        given |= _given(parts, part, document, path, problems)
    lock = given.get("lockFile")
    if lock:  # the one path that can change the output; the working directory must not
        given["lockFile"] = lock.replace(value=join(dirname(path), str(lock.value)))
    operator = parts.get("operator")
    enforced: tuple[str, ...] = ()
    if isinstance(operator, dict) and "enforced" in operator:
        try:
            enforced = data_form.within("enforced", _enforced, operator["enforced"])
        except Problem as problem:
            problems.append(Problem(problem.message, ("operator", *problem.path)))
    return Layer(source, given, enforced)


def _object(values: object, problems: list[Problem]) -> dict[str, object]:
    """The object's parts, when it is one of ours; wrong keys join the problems. Raises Problem."""
    if not isinstance(values, dict) or not values:
        state = "is empty" if values is None or values == {} else "is not a configuration of archfit"
        raise Problem(f"{state}: begin it with apiVersion: {API_VERSION} and kind: {KIND}")
    for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if key not in values:
            raise Problem(f"has no {key}: add {key}: {wanted}")
        if values[key] != wanted:
            raise Problem(
                f"{data_form.within(key, data_form.string, values[key])!r} is not known: write {wanted}",
                (key,),
            )
    for key in values:
        part = next((part for part, known in _KEYS.items() if key in known), "")
        if part:
            problems.append(Problem(f"belongs under {part}: move it there", (key,)))
        elif key not in _ROOT:
            problems.append(Problem(f"there is no key {key!r} here: {expected(key, _ROOT)}", (key,)))
    return values


def _given(
    parts: dict[str, object], part: str, document: ConfigYaml, name: str, problems: list[Problem]
) -> dict[str, Given]:
    """The options of one part; what is wrong with them joins the problems."""
    values = parts.get(part)
    if values is None:
        return {}
    if not isinstance(values, dict):
        problems.append(Problem("has to be a mapping of options: write them as key: value", (part,)))
        return {}
    given = {}
    for key, value in values.items():
        option = BY_KEY.get(key)
        if key == "enforced" and part == "operator":
            continue
        if option is None or option.part != part:
            problems.append(Problem(_misplaced(key, part), (part, key)))
            continue
        line = _line(document.lines, (part, key))
        where = f"{name}{f' line {line}' if line else ''}, {part}.{key}"
        try:
            given[key] = Given(data_form.within(key, option.type.data, value), where)
        except Problem as problem:
            problems.append(Problem(problem.message, (part, *problem.path)))
    return given


def _misplaced(key: str, part: str) -> str:
    other = "operator" if part == "spec" else "spec"
    if key in _KEYS[other]:
        return f"belongs under {other}: move it there"
    return f"there is no option {key!r}: {expected(key, _KEYS[part])}"


def _enforced(value: object) -> tuple[str, ...]:
    def known(item: object) -> str:
        key = data_form.string(item)
        if key not in BY_KEY and key not in ANNOTATIONS:
            raise Problem(f"there is no option {key!r}: {expected(key, (*BY_KEY, *ANNOTATIONS))}")
        return key

    return data_form.items(value, known, "clusterArchitectures, onConflict")


def _line(lines: Mapping[Path, int], path: Path) -> int:
    """The line of the innermost part of the path whose line is known, 0 if none is."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 0)


SOURCE = "functionConfig"


def from_function_config(value: Any) -> Layer | None:
    """The layer of a KRM function's functionConfig: placement only, because anyone may have supplied it.

        absent, null, or the empty ConfigMap that kpt makes      None: nothing is given
        kind: ArchFit     spec: {onConflict: leave}              as in the configuration file
        kind: ConfigMap   data: {onConflict: leave}              strings, as the environment has them

    value: plain; its annotations belong to the orchestrator and are ignored. Raises UsageError.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise UsageError(f"{SOURCE}: has to be an object: write apiVersion: {API_VERSION} and kind: {KIND}")
    if value.get("kind") == "ConfigMap" and value.get("apiVersion") == "v1":
        return _from_data(value.get("data"))
    return from_values(value, SOURCE)


def _from_data(data: Any) -> Layer | None:
    if not data:
        return None
    if not isinstance(data, dict):
        raise UsageError(f"{SOURCE}, data: has to be a mapping of options: write them as key: value")
    keys = tuple(option.key for option in SPEC if not option.file_only)
    given = {}
    for key, text in data.items():
        where = visible(f"{SOURCE}, data.{key}")
        if key not in keys:
            raise UsageError(f"{where}: {_unknown(key, keys)}")
        if not isinstance(text, str):
            raise UsageError(f"{where}: has to be a string, as in every ConfigMap: put it in quotes")
        option = BY_KEY[key]
        given[key] = Given(option.parsed(option.divided(text), where), where)
    return Layer(SOURCE, given)


def _unknown(key: str, keys: tuple[str, ...]) -> str:
    option = BY_KEY.get(key)
    if option is not None and option.part == "operator":
        return "only the operator may set this, by a flag, a variable, or a file that one of them names"
    if option is not None:
        return f"does not fit into a ConfigMap: use apiVersion: {API_VERSION}, kind: {KIND}"
    return f"there is no option {key!r}: {expected(key, keys)}"


def schema() -> Schema:
    """The configuration file as JSON Schema, draft 2020-12."""
    operator = _properties(OPERATOR)
    operator["enforced"] = {
        "type": "array",
        "items": {
            "enum": [*(option.key for option in TABLE), *(key for key in ANNOTATIONS if key not in BY_KEY)]
        },
        "description": "Options that no flag, variable or application may change. imagePlatforms covers the annotation "
        "archfit.dev/image-platforms, too; skip covers archfit.dev/skip.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("archfit"),
        "title": "archfit configuration",
        "type": "object",
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "metadata": {"type": "object", "description": "Not read."},
            "spec": _part("Placement: anyone may supply it.", _properties(SPEC)),
            "operator": _part("Trust: counts only in a file that a flag or variable names.", operator),
        },
        "required": ["apiVersion", "kind"],
        "additionalProperties": False,
    }


def _properties(rows: Sequence[Option]) -> dict[str, Schema]:
    return {
        option.key: {
            **option.type.schema,
            "description": option.help,
            **({} if option.default is None else {"default": option.default}),
        }
        for option in rows
    }


def _part(description: str, properties: dict[str, Schema]) -> Schema:
    return {
        "type": ["object", "null"],
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }
