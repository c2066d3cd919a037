"""The kinds of custom resources as a Markdown table: who makes their pods, with which version they were seen, and what
archfit writes by default. From `archfit/workloads/kinds`.

A line stands for the kinds of an operator that are known alike; a kind of which some parts were seen and others not
stands in two lines, with its paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from archfit.base.patch import pattern_text
from archfit.options.settings import Workload
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.known_rows import operator_of
from archfit.workloads.operator_hooks import hooks_of

_HEAD = ("Operator", "API group: kinds", "Written")


def markdown_table() -> str:
    """The table, with a line ending after the last row; those that were seen come first."""
    lines: dict[tuple[str, str], dict[str, dict[str, list[str]]]] = {}
    for (group, kind), rows in all_custom_rows().items():
        states: dict[str, list[str]] = {}
        for row in _deciding(rows):
            states.setdefault(_state(row), []).append(pattern_text(row.pod_spec or row.objects))
        for state, paths in states.items():
            kinds = lines.setdefault((operator_of(group), state), {}).setdefault(group, {})
            kinds[kind] = sorted(set(paths)) if len(states) > 1 else []
    cells = [
        _HEAD,
        ("---",) * len(_HEAD),
        *(
            (operator, "; ".join(_group(group, kinds) for group, kinds in sorted(groups.items())), state)
            for (operator, state), groups in sorted(
                lines.items(), key=lambda line: ("(" not in line[0][1], line[0][0].lower(), line[0])
            )
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _deciding(rows: Sequence[Workload]) -> Iterator[Workload]:
    """The rows that place pods; where there are none, one of those that say why."""
    placing = [row for row in rows if (row.pod_spec or row.objects) and not (row.reason or row.unplaced)]
    yield from placing or rows[:1]


def _state(row: Workload) -> str:
    """What is written, and the version that was seen with its date."""
    fields = [
        name
        for name, path in (("affinity", row.affinity), ("tolerations", row.tolerations))
        if path is not None
    ]
    if not fields or row.unplaced or row.reason or not (row.pod_spec or row.objects):
        return "nothing"
    if not row.seen:
        return "needed"
    version, _, released = row.seen.rpartition(" of ")
    written = "needed" if hooks_of(row).needed_only else "all" if len(fields) > 1 else fields[0]
    return f"{written} ({version.rpartition(' ')[2]}, {released})"


def _group(group: str, kinds: Mapping[str, Sequence[str]]) -> str:
    return f"`{group}`: " + ", ".join(_named(kind, paths) for kind, paths in sorted(kinds.items()))


def _named(kind: str, paths: Sequence[str]) -> str:
    return f"`{kind}`" + (f" ({', '.join(f'`{path}`' for path in paths)})" if paths else "")
