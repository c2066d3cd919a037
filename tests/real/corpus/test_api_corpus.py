"""The API beside the command, over every file of the corpus: equal bytes, and an error where the command fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import archfit as api
from corpus_streams import each_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from corpus_streams import Stream
    from debian_registry import DebianRegistry
    from program import Ran


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api") / "lookups.sqlite"


@each_stream
def test_the_api_gives_the_bytes_of_the_command(
    stream: Stream, corpus_registry: DebianRegistry, archfit: Callable[..., Ran], cache: Path, tmp_path: Path
) -> None:
    text, _ = stream.pinned()
    words = corpus_registry.mirrors()
    report = tmp_path / "report.json"
    ran = archfit(text, f"--cache={cache}", f"--report={report}", *words)
    mirror = dict(word.split("=", 1) for word in words if word != "--mirror")
    options: api.Options = {"cache": cache, "mirror": mirror}
    rows = json.loads(report.read_text(encoding="utf-8"))["decisions"]
    if ran.status:
        with pytest.raises(api.ArchfitError) as caught:
            api.transform(text, **options)
        assert (ran.status, caught.value.exit_code) == (1, 1)
        assert [line for line in str(caught.value).splitlines() if line not in ran.stderr] == []
        return
    made = api.transform(text, **options)
    same = made.manifests == ran.stdout  # a difference of megabytes is no message
    assert same
    assert api.transform(text.decode(), **options).manifests.encode() == made.manifests
    assert [(one.outcome, one.reason) for one in made.decisions] == [
        (row["outcome"], row["reason"]) for row in rows
    ]
