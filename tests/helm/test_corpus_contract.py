"""The contract on real charts: what Helm 3 printed, and what Helm 4 feeds a plugin (checks 1 to 3, 7, 12, 16, 18)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from corpus_streams import each_stream
from helming import separators, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpus_streams import Stream
    from debian_registry import DebianRegistry
    from running import Ran

# What two of the charts name does not exist, and what one demands no node offers; other suites say which.
LENIENT = ("--on-absent=leave", "--on-conflict=leave")
FILENAME = re.compile(rb"postrenderer\.helm\.sh/postrender-filename: '[^']+'").findall
ANCHORS = re.compile(rb"(?<=[ :])[&*][A-Za-z]+$", re.MULTILINE).findall


@each_stream
def test_checks_01_02_03_07_12_16_18_on_a_real_chart(
    stream: Stream, corpus_registry: DebianRegistry, archfit: Callable[..., Ran], judge: Any
) -> None:
    before, _ = stream.pinned()
    words = (*LENIENT, *corpus_registry.mirrors())
    after = archfit(before, *words).ok()
    assert sources(after) == sources(before)
    assert separators(after) == separators(before)
    assert FILENAME(after) == FILENAME(before)
    assert ANCHORS(after) == ANCHORS(before)
    reader = "helm4" if stream.name.startswith("helm4/") else "kubectl"
    old, new = judge.read(reader, before), judge.read(reader, after)
    assert [item and (item["kind"], item["metadata"]) for item in new] == [
        item and (item["kind"], item["metadata"]) for item in old
    ]
    assert archfit(after, *words).ok() == after
    assert archfit(after, *words, "--exclude=*").ok() == after
