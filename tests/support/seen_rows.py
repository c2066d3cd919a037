"""The rows of custom resources as if operators had been recorded with others of them, or with none."""

from collections.abc import Mapping
from functools import cache

from archfit.base.patch import pattern_text
from archfit.options.settings import Workload
from archfit.workloads.custom_rows import groups, kinds_file


def rows_as_seen(seen: Mapping[tuple[str, str, str], str]) -> dict[tuple[str, str], tuple[Workload, ...]]:
    """All rows, for `custom_rows._ROWS`. seen: by group, kind and path what was seen; all others are `read`."""
    return {
        key: tuple(
            row.replace(seen=seen.get((*key, pattern_text(row.pod_spec or row.objects)), "")) for row in rows
        )
        for key, rows in _rows().items()
    }


@cache
def _rows() -> dict[tuple[str, str], tuple[Workload, ...]]:
    return {
        (group, kind): kinds_file(group).rows(kind) for group in groups() for kind in kinds_file(group).kinds
    }
