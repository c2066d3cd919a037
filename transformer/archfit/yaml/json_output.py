"""JSON for standard output and files: the one place where it is written.

The values of the YAML parser become numbers and booleans as Kubernetes reads them; characters that a terminal or a CI
system would act on are escaped (`printable.json_text`).
"""

from __future__ import annotations

from archfit import __version__
from archfit.base.printable import json_text
from archfit.base.results import Location, ObjectRef
from archfit.startup import c_json
from archfit.yaml.values import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_PART = 1 << 18
_ITEMS = 100
_VERSIONS = {"audit": "v1alpha2", "check": "v1alpha2"}
"""Of the shapes that changed since they were first written."""


def shape(name: str) -> str:
    """What `schema` says in a document of archfit's own. name: of its schema, as `archfit schema` takes it."""
    return f"archfit.dev/{name}/{_VERSIONS.get(name, 'v1alpha1')}"


def document_head(name: str) -> dict[str, str]:
    """The members with which every JSON document of archfit's own begins. name: of its schema."""
    return {"schema": shape(name), "archfit": __version__}


def json_output(value: Any, indent: int | None = 2) -> bytes:
    """The value as one JSON document in UTF-8, with a line break at its end. indent: None for a single line."""
    return (json_text(c_json.dumps(value, indent=indent, default=plain, ensure_ascii=False)) + "\n").encode()


def json_parts(members: Iterable[tuple[str, Any]]) -> Iterator[bytes]:
    """The same for the object with these members on a single line, in parts of about 256 KiB.

    A member that is an iterator becomes a list and is taken item by item, so that nobody holds all of it.
    """
    texts: list[str] = []
    length = 0
    for text in _texts(members):
        texts.append(text)
        length += len(text)
        if length >= _PART:
            yield json_text("".join(texts)).encode()
            texts, length = [], 0
    yield (json_text("".join(texts)) + "\n").encode()


def _texts(members: Iterable[tuple[str, Any]]) -> Iterator[str]:
    yield "{"
    before = ""
    for name, value in members:
        yield f"{before}{_line(name)}: "
        before = ", "
        if hasattr(value, "__next__"):
            yield "["
            between = ""
            while items := [item for _, item in zip(range(_ITEMS), value, strict=False)]:
                yield f"{between}{_line(items)[1:-1]}"
                between = ", "
            yield "]"
        else:
            yield _line(value)
    yield "}"


def _line(value: Any) -> str:
    return c_json.dumps(value, default=plain, ensure_ascii=False)


def object_value(ref: ObjectRef) -> dict[str, str]:
    """The identity of an object, as every report writes it."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def location_value(location: Location) -> dict[str, Any]:
    """Where in the stream, as every report writes it."""
    where = location.where
    return {"document": location.document, "line": location.line, **({"source": where} if where else {})}
