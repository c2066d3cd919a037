"""The shared corpus of real streams, and its judges: the scheduler's own code, and a check of the bytes.

    @each_stream
    def test_no_pod_can_reach_a_node_it_cannot_run_on(stream, corpus_registry, oracle, archfit):
        text, platforms = stream.pinned()
        placed = archfit(text, "--no-cache", *corpus_registry.mirrors()).ok()
        assert oracle(text, placed, platforms=platforms).violations == []

The fixtures `corpus`, `oracle`, `textcheck` and `corpus_registry` are in conftest.py.
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from registry import pinned

import machine

Platforms = Mapping[str, Sequence[str] | None]

FOLDERS = ("crd", "helm3", "helm4", "krm", "kubectl", "manifests")
_WINDOWS = re.compile(r"^SAFETY .* lacks (?P<platform>windows/\w+) but may run on ")
_VERDICT = re.compile(r"(?P<specs>\d+) pod specs?, (?P<violations>\d+) violations?")


class Stream(NamedTuple):
    """One file of the corpus; `name` is its path there, as in "helm3/redis.yaml"."""

    name: str
    path: Path
    platforms: Platforms

    def read(self) -> bytes:
        """The bytes as they are."""
        return self.path.read_bytes()

    def pinned(self) -> tuple[bytes, Platforms]:
        """Bytes and platforms, with the pins rewritten to digests that the test registries make."""
        return pinned(self.read(), self.platforms)


class Corpus:
    """The corpus: `streams` by name, and `platforms` of every image as it is written there.

    `platforms` holds the pins of both kinds: as written, and as `Stream.pinned` rewrites them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        written: dict[str, list[str] | None] = json.loads(
            (folder / "platforms.json").read_text(encoding="utf-8")
        )
        self.platforms: Platforms = {**written, **pinned(b"", written)[1]}
        paths = [path for part in FOLDERS for path in sorted((folder / part).iterdir())]
        self.streams = {
            str(path.relative_to(folder)): Stream(str(path.relative_to(folder)), path, written)
            for path in paths
        }


def each_stream(test: Callable[..., None]) -> Callable[..., None]:
    """Mark the test as `real` and run it once for each stream of the corpus, as its argument `stream`."""
    if (machine.SHARED / "corpus").is_dir():
        rows = [
            pytest.param(stream, id=name)
            for name, stream in Corpus(machine.SHARED / "corpus").streams.items()
        ]
    else:
        reason = f"{machine.SHARED / 'corpus'} is missing: set TEST_SHARED to the folder of shared test data"
        rows = [pytest.param(None, id="corpus", marks=pytest.mark.skip(reason=reason))]
    marked: Callable[..., None] = pytest.mark.real(pytest.mark.parametrize("stream", rows)(test))
    return marked


class Verdict(NamedTuple):
    """A line for each violation ("SAFETY doc 0 .."), the counts by name, the number of pod specs judged."""

    violations: list[str]
    counts: dict[str, int]
    pod_specs: int


class Oracle:
    """The placement oracle: the scheduler's own code over a stream before and after."""

    folder = machine.ROOT / "lab" / "oracle"

    def __init__(self, platforms: Platforms) -> None:
        self._binary = machine.go_build(self.folder, "oracle")
        self._platforms = platforms

    def __call__(
        self,
        before: bytes,
        after: bytes,
        *,
        platforms: Platforms | None = None,
        policy: Mapping[str, Any] | None = None,
        nodes: Path | None = None,
        archs: Sequence[str] = ("amd64", "arm64"),
        windows: Sequence[str] = (),
    ) -> Verdict:
        """Judge `after` by `before`.

        platforms: default: all of the corpus. policy: keys that replace those of the oracle's own
        policy.json. nodes: a JSON List of nodes, default the oracle's. windows: the cluster's entries for Windows
        nodes; the oracle tries Windows nodes of all archs, and those without an entry are not there. Raises
        AssertionError where the oracle cannot run.
        """
        chosen = {**json.loads((self.folder / "policy.json").read_text(encoding="utf-8")), **(policy or {})}
        with tempfile.TemporaryDirectory() as folder:
            files = {
                "before": before,
                "after": after,
                "platforms": json.dumps(dict(self._platforms if platforms is None else platforms)).encode(),
                "policy": json.dumps(chosen).encode(),
            }
            words: list[str | Path] = [
                "-nodes",
                nodes or self.folder / "nodes.json",
                "-archs",
                ",".join(archs),
            ]
            for name, content in files.items():
                (Path(folder) / name).write_bytes(content)
                words += [f"-{name}", Path(folder) / name]
            done = machine.run([self._binary, *words])
        lines = done.stdout.splitlines()
        summary = _VERDICT.fullmatch(lines[-1]) if lines else None
        if summary is None or done.returncode not in {0, 1}:
            raise AssertionError(f"the oracle could not run: {done.stdout[-500:]}{done.stderr[-500:]}")
        violations = [line.removeprefix("VIOLATION ") for line in lines if line.startswith("VIOLATION ")]
        if len(violations) != int(summary["violations"]):
            raise AssertionError(f"the oracle counts otherwise than it lists: {done.stdout[-2000:]}")
        counted = [word for line in lines if line.startswith("counts: ") for word in line.split()[1:]]
        counts = {name: int(number) for name, number in zip(counted[::2], counted[1::2], strict=True)}
        there = [
            line
            for line in violations
            if (lacks := _WINDOWS.search(line)) is None or lacks["platform"] in windows
        ]
        return Verdict(there, counts, int(summary["specs"]))


def textcheck(before: bytes, after: bytes) -> list[str]:
    """The faults that the byte-level judge finds, none where all is well."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "before", Path(folder) / "after"]
        for path, content in zip(paths, (before, after), strict=True):
            path.write_bytes(content)
        done = machine.run([sys.executable, Oracle.folder / "textcheck.py", *paths])
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout.splitlines() if done.returncode else []
