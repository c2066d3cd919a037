"""A list as `kubectl get .. -A --show-managed-fields` prints it with `-o yaml` or `-o json`.

YAML    sigs.k8s.io/yaml: keys sorted, lists at the column of their key, lines of 80 columns, text with line breaks as
        literal blocks, double quotes where plain text would be another type
JSON    four blanks, keys sorted, <, > and & escaped, as Go does
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

_HTML = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}
# What YAML 1.1 reads as another type though PyYAML does not: base 60 is a number to Go's writer (isBase60Float).
_OTHER_TYPE = re.compile(
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z|[yYnN]\Z|~\Z|[-+]?[0-9.]+[eE][-+]?[0-9]+\Z"
)


class _Dumper(yaml.CSafeDumper):
    """Writes text as Go's yaml.v2 does."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    plain = dumper.resolve(yaml.ScalarNode, text, (True, False)) == "tag:yaml.org,2002:str"
    style = "|" if "\n" in text else None if plain and not _OTHER_TYPE.match(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def to_yaml(items: Iterable[dict[str, Any]]) -> bytes:
    """The List as YAML."""
    written: bytes = yaml.dump(_list(items), Dumper=_Dumper, allow_unicode=True, encoding="utf-8")
    return written


def to_json(items: Iterable[dict[str, Any]]) -> bytes:
    """The List as JSON."""
    return (
        json.dumps(_list(items), indent=4, sort_keys=True, ensure_ascii=False).translate(_HTML) + "\n"
    ).encode()


def _list(items: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": [*items], "kind": "List", "metadata": {"resourceVersion": ""}}
