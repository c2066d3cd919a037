"""Objects in files of kubectl: JSON or YAML, lists or single objects, each object once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, BinaryIO

from archfit.base import standard_streams
from archfit.base.errors import InvalidInput
from archfit.cluster.configuration_file import read_input
from archfit.cluster.list_stream import items
from archfit.cluster.nodes import mapping
from archfit.cluster.pools.pool import group_of, kind_of
from archfit.workloads.pod_specs import typed_item


def objects_of(names: Sequence[str], stdin: BinaryIO, source: str) -> list[dict[str, Any]]:
    """The objects of files of kubectl, `-` for standard input; one that several files hold is taken once.

    source: the command to name in messages.

    Raises UsageError and InvalidInput.
    """
    standard_streams.check_named_once(names)
    values: list[dict[str, Any]] = []
    for name in names:
        content = BytesIO(read_input(name, stdin, source))
        for value, _ in items(content, "" if name == "-" else name, podless=True):
            values += _opened(value)
    if not values:
        raise InvalidInput(f"the input holds no object: check what `{source}` prints")
    by_identity: dict[object, dict[str, Any]] = {}
    for number, value in enumerate(values):
        metadata = mapping(value, "metadata")
        name = str(metadata.get("name") or number)
        identity = group_of(value), kind_of(value), str(metadata.get("namespace")), name
        by_identity.setdefault(identity, value)
    return list(by_identity.values())


def _opened(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list, and the object itself for any other; what is no mapping is one without a kind."""
    members = value.get("items") if isinstance(value, dict) and kind_of(value).endswith("List") else None
    if isinstance(members, list):
        for member in members:
            yield from _opened(typed_item(member, value))
    else:
        yield value if isinstance(value, dict) else {}
