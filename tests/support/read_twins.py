"""The twin for `customResources: read` of each stream that a test edits with `all`.

with twins(monkeypatch): edited(stream)     a test says what `all` writes
    └─ afterwards, with read, where no row was seen: what each pod requires is that of all, and what it tolerates is
       that of the stream
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

import stream_edits
from archfit import pipeline
from archfit.options.settings import STATED, Options
from archfit.pipeline import StreamEdits
from archfit.workloads import custom_rows
from seen_rows import rows_as_seen
from stream_edits import NOTHING_WANTED, Output, edited, plain

# Longer ones are about limits.
_LONGEST = 8_000
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Placement(NamedTuple):
    """What a pod says of its nodes. requires: its affinity less what it prefers. own: its row is none of archfit's."""

    requires: dict[str, Any]
    tolerates: list[Any]
    own: bool


@contextmanager
def twins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Judges the twins at its end. Raises AssertionError."""
    streams: dict[tuple[bytes, Options], None] = {}
    transform = pipeline.transform

    def recorded(data: bytes, pieces: Any, options: Options, lookup: Any) -> StreamEdits:
        made = transform(data, pieces, options, lookup)
        counts = options.custom_resources == "all" and options.affinity != "always" and len(data) < _LONGEST
        if counts and not made.failed():
            streams[data, options] = None
        return made

    monkeypatch.setattr(stream_edits, "transform", recorded)
    yield
    monkeypatch.setattr(stream_edits, "transform", transform)
    monkeypatch.setattr(custom_rows, "_ROWS", rows_as_seen({}))
    for data, options in streams:
        output = edited(data, options.replace(custom_resources="read"), unseen="read")
        before, read = _placements(output), _written(output.data, options)
        whole = _written(edited(data, options).data, options)
        # Tolerations in two templates of a FlinkDeployment end the reading of its pods.
        expected = {key: whole.get(key, one) for key, one in before.items()}
        tainted = {name for rule in options.tolerate for name in rule.architectures}
        pods = ((pod, decision.reachable) for pod, decision in output.edits.decisions)
        needy = {
            (pod.location.document, pod.path) for pod, reachable in pods if tainted.issuperset(reachable)
        }
        assert read == {
            key: one if one.own or key in needy else one._replace(tolerates=before[key].tolerates)
            for key, one in expected.items()
        }, data.decode()


def _written(data: bytes, options: Options) -> dict[tuple[int, Any], Placement]:
    """What stands in a stream that archfit wrote."""
    return _placements(edited(data, NOTHING_WANTED.replace(workloads=options.workloads, on_conflict="leave")))


def _placements(output: Output) -> dict[tuple[int, Any], Placement]:
    """Each pod of the input by its document and path."""
    return {
        (pod.location.document, pod.path): Placement(
            _required(plain(pod.spec.get("affinity"))),
            plain(pod.spec.get("tolerations")) or [],
            pod.row is None or pod.row.seen == STATED,
        )
        for pod, _ in output.edits.decisions
    }


def _required(affinity: Any) -> dict[str, Any]:
    """An affinity without what it prefers and without empty parts."""
    kinds = affinity.items() if isinstance(affinity, dict) else ()
    found = {
        kind: {name: value for name, value in terms.items() if name != _PREFERRED}
        for kind, terms in kinds
        if isinstance(terms, dict)
    }
    return {kind: terms for kind, terms in found.items() if terms}
