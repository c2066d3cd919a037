"""What archfit's own rows read and the user's rows, which replace them, do not.

    built in    spec.kafka.template.pod     images spec.kafka.image, spec.kafka.brokerRackInitImage
    the user's  spec.kafka.template.pod     images spec.kafka.image
    warning     spec.kafka.brokerRackInitImage

A user may replace rows. A warning names what is not read any more, once for each kind in a stream.
"""

from __future__ import annotations

from archfit.base.patch import Path, pattern_text
from archfit.base.results import Result
from archfit.base.typing_names import Iterable, Iterator
from archfit.options.settings import Workload
from archfit.workloads.builtin import WORKLOADS, UserRows
from archfit.workloads.custom_rows import custom_rows


def incomplete(user_rows: UserRows, kinds: Iterable[tuple[str, str]]) -> Iterator[Result]:
    """A warning for each of the kinds whose rows in `user_rows` read less than archfit's.

    kinds: group and kind of what the stream holds; doubles count once.
    """
    for group, kind in dict.fromkeys(kinds):
        theirs = user_rows.get((group, kind))
        if not theirs:
            continue
        read = {path for row in theirs for path in (*_read(row), *(path for path, _ in row.never_run))}
        lost = [path for row in _built_in(group, kind) for path in _read(row) if path not in read]
        if lost:
            yield Result(
                "warning",
                f"workloads: the rows for {'/'.join(filter(None, (group, kind)))} replace archfit's own, which read "
                f"{', '.join(dict.fromkeys(map(pattern_text, lost)))} too: add it to your rows, or leave your rows out",
            )


def _built_in(group: str, kind: str) -> tuple[Workload, ...]:
    row = WORKLOADS.get((group, kind))
    if row is not None:
        return (row,)
    return custom_rows(group, kind)


def _read(row: Workload) -> Iterator[Path]:
    """Where a row looks for pods and images, and for what replaces their placement."""
    if row.reason or row.unplaced:
        return
    if row.pod_spec:
        yield row.pod_spec
    yield from (path for entry in row.images for path in entry)
    yield from row.also
    yield from row.replaced_by
