"""An audit in parts, whoever starts them: one snapshot, N shards in processes of their own, one merged report."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from registry import Registry
from tests.audit.cluster_objects import as_json, bare_pod

from program import PROGRAM

Step = Callable[..., subprocess.CompletedProcess[bytes]]

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
IMAGES = {f"quay.io/team/app{n}:1": BOTH if n % 3 else AMD for n in range(12)}
SHARDS = 5


def command(name: str, index: int = 0, shards: int = SHARDS) -> tuple[str, ...]:
    """The command of a step, as the Jobs of the chart have it (tests/real/helm/test_chart_audit.py)."""
    steps = {
        "snapshot": "--live --offline --no-cache --format json -o /audit/snapshot.json",
        "shard": f"/audit/snapshot.json --shard {index} --shards {shards} --format json -o /audit/shard-{index}.json",
        "merge": "--format json -o /audit/report.json --merge "
        + " ".join(f"/audit/shard-{number}.json" for number in range(shards)),
        "report": "--merge /audit/report.json",
    }
    return ("archfit", "audit", *steps[name].split())


@pytest.fixture
def registry():
    with Registry(IMAGES) as served:
        yield served


@pytest.fixture
def step(tmp_path, registry):
    """Runs a command with the volume in tmp_path; the snapshot comes from a list, not from --live."""
    pods = [bare_pod(f"p{n}", image, f"{n + 1}00m") for n, image in enumerate(IMAGES)]
    (tmp_path / "cluster.json").write_bytes(as_json(*pods))
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}

    def run(words: tuple[str, ...], *more: str, index: str = "", check: bool = True) -> Any:
        argv = [str(PROGRAM), *(word.replace("/audit", str(tmp_path)) for word in words[1:])]
        argv = [str(tmp_path / "cluster.json") if word == "--live" else word for word in argv]
        if "--merge" not in argv:
            argv += registry.mirrors()
        done = subprocess.run(
            [*argv, *more], env={**environ, "JOB_COMPLETION_INDEX": index}, capture_output=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done

    return run


def report(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_shards_of_one_snapshot_and_their_merge_equal_the_whole(step, registry, tmp_path):
    step(command("snapshot"))
    assert registry.asked == []
    whole = step(("archfit", "audit", "/audit/snapshot.json", "--format", "json", "--no-cache"))
    for index in range(SHARDS):
        step(command("shard", index), "--no-cache")
    step(command("merge"))
    merged, wanted = report(tmp_path / "report.json"), json.loads(whole.stdout)
    assert json.dumps(merged["findings"]) == json.dumps(wanted["findings"])
    (snapshot,) = wanted["facts"]["snapshots"]
    shards = [{"snapshot": snapshot["id"], "index": index, "number": SHARDS} for index in range(SHARDS)]
    assert merged["facts"] == {**wanted["facts"], "shards": shards}
    assert b"12 images" in step(command("report")).stderr


@pytest.mark.parametrize("cache", [(), ("--no-cache",)], ids=["with the cache", "without"])
def test_a_shard_that_runs_again_writes_the_same_bytes(step, tmp_path, cache):
    step(command("snapshot"))
    first = tmp_path / "shard-2.json"
    step(command("shard", 2), *cache)
    before = first.read_bytes()
    first.unlink()
    step(command("shard", 2), *cache)
    assert first.read_bytes() == before


def test_a_report_is_audited_again_and_asks_anew(step, registry, tmp_path):
    step(command("snapshot"))
    again = ("archfit", "audit", "/audit/snapshot.json", "--format", "json", "--no-cache")
    (tmp_path / "first.json").write_bytes(step(again).stdout)
    registry.put("quay.io/team/app0:1", BOTH)
    later = json.loads(step(("archfit", "audit", "/audit/first.json", *again[3:])).stdout)
    found = {one["reference"]: one["architectures"] for one in later["facts"]["images"]}
    assert found["quay.io/team/app0:1"] == ["amd64", "arm64"]
    assert later["facts"]["workloads"] == report(tmp_path / "first.json")["facts"]["workloads"]


def test_a_snapshot_that_cannot_be_read_fails_a_shard(step, tmp_path):
    (tmp_path / "snapshot.json").write_text(
        '{"schema": "archfit.dev/audit/v9", "facts": {}}', encoding="utf-8"
    )
    done = step(command("shard", 0, 2), check=False)
    assert done.returncode == 1
    assert b"archfit.dev/audit/v9" in done.stderr
    assert not (tmp_path / "shard-0.json").exists()
