"""JSON for standard output and files: the one place where it is written.

The values of the YAML parser become numbers and booleans as Kubernetes reads them; characters that a terminal or a CI
system would act on are escaped (`printable.json_text`).
"""

from __future__ import annotations

from archfit import c_json
from archfit.printable import json_text
from archfit.results import Location, ObjectRef
from archfit.typing_names import Any


def json_output(value: Any, indent: int | None = 2) -> bytes:
    """The value as one JSON document in UTF-8, with a line break at its end. indent: None for a single line."""
    return (json_text(c_json.dumps(value, indent=indent, default=_plain, ensure_ascii=False)) + "\n").encode()


def object_value(ref: ObjectRef) -> dict[str, str]:
    """The identity of an object, as every report writes it."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def location_value(location: Location) -> dict[str, Any]:
    """Where in the stream, as every report writes it."""
    return {
        "document": location.document,
        "line": location.line,
        **({"source": location.source} if location.source else {}),
    }


def _plain(value: Any) -> Any:
    from archfit.source.values import plain  # a report without decisions needs none of it

    return plain(value)
