"""Kubernetes objects as YAML for people: keys in their order, long texts as blocks, so that a diff shows lines.

    a text with line breaks        a literal block       |-
    a long line with blanks,       a folded block        >-
    or one with quotes
    any other text                 as it is, quoted where YAML 1.1 or 1.2 would read no string

Source: the folded and literal styles of YAML 1.1, as PyYAML writes them and Kubernetes reads them (sigs.k8s.io/yaml).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from archfit.base.printable import visible

_WIDTH = 116
# Booleans and numbers for Kubernetes, which PyYAML writes as they are: y, 1e3.
_WORDS = frozenset("yYnN")
_NUMBERS = frozenset("+-.0123456789")
# Ends of lines for YAML 1.1, which other styles fold; only double quotes escape them.
_BREAKS = frozenset("\x85\u2028\u2029")


class _Dumper(yaml.SafeDumper):
    """Never writes an anchor: two equal parts are written twice."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if not _BREAKS.isdisjoint(value):
        style = '"'
    elif "\n" in value:
        style = "|"
    elif (len(value) > _WIDTH or "'" in value) and " " in value and value == " ".join(value.split()):
        style = ">"
    elif value in _WORDS or value[:1] in _NUMBERS:
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def objects_yaml(objects: Sequence[Mapping[str, Any]], head: Sequence[str]) -> bytes:
    """A stream of documents. head: lines of the comment above them."""
    comment = "".join(f"# {visible(line)}".rstrip() + "\n" for line in head)
    documents = [
        yaml.dump(dict(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
        for value in objects
    ]
    return (comment + "---\n" + "---\n".join(documents)).encode()
