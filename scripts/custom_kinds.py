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

_HEAD = ("Operator", "API group: kinds", "Seen with", "Released", "Written by default", "Not written")
_Cells = tuple[str, str, str, str]


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
    order = sorted(groups.items(), key=lambda item: (not item[0][2][1], item[0][0].lower(), item[0]))
    lines = ["| " + " | ".join(_HEAD) + " |", "|" + " --- |" * len(_HEAD)]
    for (operator, group, cells), kinds in order:
        named = ", ".join(_named(kind, paths) for kind, paths in sorted(kinds.items()))
        lines.append("| " + " | ".join((operator, f"`{group}`: {named}", *cells)) + " |")
    return "".join(line.replace("|  |", "| |").replace("|  |", "| |") + "\n" for line in lines)


def _deciding(rows: Sequence[Workload]) -> Iterator[Workload]:
    """The rows that place pods; where there are none, one of those that say why."""
    placing = [row for row in rows if (row.pod_spec or row.objects) and not (row.reason or row.unplaced)]
    yield from placing or rows[:1]


def _state(row: Workload) -> _Cells:
    """Version, date, what is written and what is not."""
    version, _, released = row.seen.rpartition(" of ")
    version = version.rpartition(" ")[2]
    fields = [
        name
        for name, path in (("affinity", row.affinity), ("tolerations", row.tolerations))
        if path is not None
    ]
    if row.unplaced or row.reason or not (row.pod_spec or row.objects):
        return "", "", "nothing", "all"
    version = version or "read"
    if row.needed_only or not row.seen:
        rest = "other tolerations, preferences" if "tolerations" in fields else "preferences"
        return version, released, "what it cannot run without" if fields else "nothing", rest
    lacking = [name for name in ("affinity", "tolerations") if name not in fields]
    return version, released, ", ".join(fields) or "nothing", ", ".join(lacking)


def _named(kind: str, paths: Sequence[str]) -> str:
    return f"`{kind}`" + (f" ({', '.join(f'`{path}`' for path in paths)})" if paths else "")
