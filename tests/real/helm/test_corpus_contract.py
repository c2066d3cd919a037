"""The contract on real charts: what Helm 3 printed, and what Helm 4 feeds a plugin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from helm_runs import separators, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpus_streams import Corpus
    from debian_registry import DebianRegistry
    from program import Ran

# What two of the charts name does not exist, and what one demands no node offers; other suites say which.
LENIENT = ("--on-absent=leave", "--on-conflict=leave")
FILENAME = re.compile(rb"postrenderer\.helm\.sh/postrender-filename: '[^']+'").findall
ANCHORS = re.compile(rb"(?<=[ :])[&*][A-Za-z]+$", re.MULTILINE).findall


@pytest.mark.parametrize(("folder", "reader"), [("helm3", "kubectl"), ("helm4", "helm4")])
def test_on_real_charts(
    folder: str,
    reader: str,
    corpus: Corpus,
    corpus_registry: DebianRegistry,
    archfit: Callable[..., Ran],
    judge: Any,
) -> None:
    words = (*LENIENT, *corpus_registry.mirrors())
    streams = [stream for name, stream in corpus.streams.items() if name.startswith(f"{folder}/")]
    changed = []
    for stream in streams:
        before, _ = stream.pinned()
        after = archfit(before, *words).ok()
        for what in (sources, separators, FILENAME, ANCHORS):
            assert what(after) == what(before), stream.name
        new, old = (
            [item and (item["kind"], item["metadata"]) for item in judge.read(reader, text)]
            for text in (after, before)
        )
        assert new == old, stream.name
        if after != before:
            changed.append(stream.name)
            assert archfit(after, *words).ok() == after, stream.name
    assert len(streams) > 15
    assert len(changed) > 10
