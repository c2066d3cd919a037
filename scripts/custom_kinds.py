"""The kinds of custom resources as a Markdown table: who makes their pods, with which version they were seen, and what
archfit writes by default. From `archfit/workloads/kinds`.

A line stands for the kinds of a group that are known alike; a kind of which some parts were seen and others not stands
in two lines, with its paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.base.patch import pattern_text
from archfit.options.settings import Workload
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.known_rows import operator_of

_HEAD = ("Operator", "API group: kinds", "Known", "Written")
_Cells = tuple[str, str]


def markdown_table() -> str:
    """The table, with a line ending after the last row; those that were seen come first."""
    groups: dict[tuple[str, str, _Cells], dict[str, list[str]]] = {}
    for (group, kind), rows in all_custom_rows().items():
        states: dict[_Cells, list[str]] = {}
        for row in _deciding(rows):
            states.setdefault(_state(row), []).append(pattern_text(row.pod_spec or row.objects))
        for state, paths in states.items():
            kinds = groups.setdefault((operator_of(group), group, state), {})
            kinds[kind] = sorted(set(paths)) if len(states) > 1 else []
    order = sorted(
        groups.items(), key=lambda item: (item[0][2][0] in {"", "read"}, item[0][0].lower(), item[0])
    )
    lines = ["| " + " | ".join(_HEAD) + " |", "|" + " --- |" * len(_HEAD)]
    for (operator, group, cells), kinds in order:
        named = ", ".join(_named(kind, paths) for kind, paths in sorted(kinds.items()))
        lines.append("| " + " | ".join((operator, f"`{group}`: {named}", *cells)) + " |")
    return "".join(line.replace("|  |", "| |") + "\n" for line in lines)


def _deciding(rows: Sequence[Workload]) -> Iterator[Workload]:
    """The rows that place pods; where there are none, one of those that say why."""
    placing = [row for row in rows if (row.pod_spec or row.objects) and not (row.reason or row.unplaced)]
    yield from placing or rows[:1]


def _state(row: Workload) -> _Cells:
    """The version that was seen with its date, or "read"; and what is written."""
    if row.unplaced or row.reason or not (row.pod_spec or row.objects):
        return "", "nothing"
    version, _, released = row.seen.rpartition(" of ")
    version = version.rpartition(" ")[2]
    known = f"{version}, {released}" if version else "read"
    fields = [
        name
        for name, path in (("affinity", row.affinity), ("tolerations", row.tolerations))
        if path is not None
    ]
    if row.needed_only or not row.seen:
        return known, "needed" if fields else "nothing"
    return known, "all" if len(fields) > 1 else ", ".join(fields) or "nothing"


def _named(kind: str, paths: Sequence[str]) -> str:
    return f"`{kind}`" + (f" ({', '.join(f'`{path}`' for path in paths)})" if paths else "")
