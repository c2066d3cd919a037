"""A configuration file with derived rows, for a person to read and check.

# example.com/Database, by the schema of v1
# Check: spec.exporter.image: no affinity or tolerations beside or above it; ..
- group: example.com
  kind: Database
  podSpec: spec.servers[*].pod
  within: spec.servers[*]
  images:
    - spec.image
  nodeSelector: none
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from archfit.cluster.crds.derive import Derived
from archfit.cluster.crds.row_text import entries
from archfit.options.file import API_VERSION, KIND

_WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z][-A-Za-z0-9_./+*\[\]]*").fullmatch
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"}
_HEAD = """\
Written by `archfit setup workloads` from CustomResourceDefinitions. A schema says where a field is, not what
the operator does with it: check each row against the operator's documentation, then use the file with --config
or ARCHFIT_CONFIG."""


def written(found: Sequence[Derived], known: Iterable[str]) -> str:
    """The whole file. known: kinds that were left out because archfit has rows for them, as `group/Kind`."""
    lines = [
        *(f"# {line}" for line in _HEAD.split("\n")),
        f"apiVersion: {API_VERSION}",
        f"kind: {KIND}",
        "spec:",
    ]
    lines.append("  workloads:" if any(one.rows for one in found) else "  workloads: []")
    for one in found:
        if one.rows or one.notes:
            lines += _kind(one)
    without = [_name(one) for one in found if not one.rows and not one.notes and one.version]
    lines += _listed("No pod, image or placement in the schema of:", without)
    lines += _listed(
        "archfit has rows of its own for these (--include-known writes them all the same):", known
    )
    lines += _listed("The schema says nothing at all (write a row by hand where a pod is in it) of:",
                     [_name(one) for one in found if not one.version])  # fmt: skip
    return "\n".join(lines) + "\n"


def _name(one: Derived) -> str:
    return f"{one.group}/{one.kind}"


def _kind(one: Derived) -> Iterator[str]:
    head = f"{_name(one)}, by the schema of {_shown(one.version)}"
    notes = [f"Check: {_shown(note)}" for note in one.notes]
    yield from _comment([head + ("" if one.rows else ": no row"), *notes], "    ")
    for row in one.rows:
        mark = "- "
        for key, value in entries(row):
            if isinstance(value, list):
                yield f"    {mark}{key}:"
                yield from (f"        - {_scalar(item)}" for item in value)
            else:
                yield f"    {mark}{key}: {'true' if value is True else _scalar(value)}"
            mark = "  "


def _listed(head: str, names: Iterable[str]) -> Iterator[str]:
    sorted_names = sorted(names)
    if sorted_names:
        yield from _comment([head], "")
        yield from (
            f"#   {line}" for line in wrap(", ".join(sorted_names), _WIDTH - 4, break_on_hyphens=False)
        )


def _comment(lines: Iterable[str], indent: str) -> Iterator[str]:
    for line in lines:
        for number, part in enumerate(_wrapped(line)):
            yield f"{indent}# {'  ' if number else ''}{part}"


def _wrapped(line: str) -> list[str]:
    """The line in parts; what stands in braces is to be pasted, and stays whole."""
    head, brace, row = line.partition(" {")
    wrapped = wrap(head, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [*wrapped, "{" + row] if brace else wrapped


def _shown(line: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in line)


def _scalar(value: object) -> str:
    """Text as YAML: plain where nobody can read it otherwise."""
    plain = str(value)
    return plain if _PLAIN(plain) and (plain.lower() not in _WORDS or plain == "none") else f"'{plain}'"
