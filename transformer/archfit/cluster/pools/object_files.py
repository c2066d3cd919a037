"""Objects in files of kubectl: JSON or YAML, lists or single objects, each object once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, BinaryIO

from archfit.base import standard_streams
from archfit.base.errors import InvalidInput, Problem
from archfit.cluster.configuration_file import read_input
from archfit.cluster.nodes import mapping, objects
from archfit.cluster.pools.pool import group_of, kind_of
from archfit.yaml.config_yaml import parse_config
from archfit.yaml.scan import whole
from archfit.yaml.stream import split


def objects_of(names: Sequence[str], stdin: BinaryIO, source: str) -> list[dict[str, Any]]:
    """The objects of files of kubectl, `-` for standard input; one that several files hold is taken once.

    source: the command to name in messages.

    Raises UsageError and InvalidInput.
    """
    standard_streams.check_named_once(names)
    values: list[dict[str, Any]] = []
    for name in names:
        place = f"{name}: " if len(names) > 1 and name != "-" else ""
        try:
            for value in _decoded(read_input(name, stdin, source), source):
                values += objects(value)
        except InvalidInput as error:
            raise InvalidInput(f"{place}{error.message}", line=error.line) from None
    by_identity: dict[object, dict[str, Any]] = {}
    for number, value in enumerate(values):
        metadata = mapping(value, "metadata")
        name = str(metadata.get("name") or number)
        identity = group_of(value), kind_of(value), str(metadata.get("namespace")), name
        by_identity.setdefault(identity, value)
    return list(by_identity.values())


def _decoded(content: bytes, source: str) -> list[object]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the input is not UTF-8: pass the output of kubectl unchanged") from None
    if not text.strip():
        raise InvalidInput(f"the input is empty: check what `{source}` prints")
    try:
        return [json.loads(text)]
    except RecursionError:
        raise InvalidInput(f"the input is nested too deeply: pass the output of `{source}`") from None
    except ValueError as error:
        if text.lstrip()[0] in "{[":
            raise InvalidInput(f"the input is not complete JSON: {error}") from None
    data = text.encode()
    documents = []
    for piece in split(data):
        try:
            documents.append(parse_config(whole(piece).text(data)).values)
        except Problem as problem:
            message = f"the input is neither JSON nor YAML as kubectl writes it: {problem.message}"
            raise InvalidInput(message, line=piece.line - 1 + problem.line) from None
    return documents
