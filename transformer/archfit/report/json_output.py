"""JSON for standard output and files: the one place where it is written.

The values of the YAML parser become numbers and booleans as Kubernetes reads them; characters that a terminal or a CI
system would act on are escaped (`printable.json_text`).
"""

from __future__ import annotations

import json

from archfit.printable import json_text
from archfit.results import ObjectRef
from archfit.source.values import plain
from archfit.typing_names import Any


def json_output(value: Any, indent: int | None = 2) -> bytes:
    """The value as one JSON document in UTF-8, with a line break at its end. indent: None for a single line."""
    return (json_text(json.dumps(value, indent=indent, default=plain, ensure_ascii=False)) + "\n").encode()


def object_value(ref: ObjectRef) -> dict[str, str]:
    """The identity of an object, as every report writes it."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
