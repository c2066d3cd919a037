"""`archfit audit --live --logs`: the last lines of containers that end at once decide, and nothing of them is kept."""

import json
from typing import Any

import pytest
from tests.audit.cluster_objects import node, pod

from archfit.audit import inputs
from archfit.audit.command import audit as run
from archfit.cluster.cluster_error import ClusterError
from program import called

SECRET = "password=hush"
NODES = [node(name, name) for name in ("amd64", "arm64")]


def running(name: str, node: str, **state: Any) -> dict[str, Any]:
    """A pod on a node, and the state of its container."""
    states = [{"name": "app", "image": "x.io/a:1", **state}]
    return pod(name, image="x.io/a:1", node=node, status={"containerStatuses": states})


def looping(name: str) -> dict[str, Any]:
    times = {"startedAt": "2026-11-01T00:00:00Z", "finishedAt": "2026-11-01T00:00:01Z"}
    return running(
        name,
        "arm64",
        ready=False,
        restartCount=4,
        state={"waiting": {"reason": "CrashLoopBackOff"}},
        lastState={"terminated": {"exitCode": 1, "reason": "Error", **times}},
    )


class Cluster:
    """A connection to a cluster with these pods. log: of every container, or why it cannot be read."""

    def __init__(self, pods: list[dict[str, Any]], log: str | ClusterError) -> None:
        self.pods, self.log = pods, log
        self.logs: list[str] = []

    def get(self, path: str) -> Any:
        if path == "/apis":
            return {"groups": []}
        name = path.partition("?")[0].rpartition("/")[2]
        return {"items": {"pods": self.pods, "nodes": NODES}.get(name, [])}

    def text(self, path: str) -> str:
        self.logs.append(path)
        if isinstance(self.log, ClusterError):
            raise self.log
        return self.log

    def context(self) -> str:
        return "test"

    def close(self) -> None:
        pass


def audited(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[dict[str, Any], str]:
    """The report, and what is said."""
    monkeypatch.setattr(inputs, "connect", lambda *_, **__: cluster)
    flags = ["--live", "--format", "json", "--offline", "--image-platforms", "x.io/*=linux/amd64,linux/arm64"]
    ran = called(run, [*flags, *words])
    assert SECRET not in ran.ok().decode() + ran.stderr
    return json.loads(ran.stdout), ran.stderr


@pytest.mark.parametrize(
    ("log", "words", "states", "read"),
    [
        pytest.param(f"{SECRET}\nexec /app: exec format error\n", ["--logs"], ["fails", "yes"], 1, id="another-build"),
        pytest.param(f"{SECRET}\npanic\n", ["--logs"], ["yes", "yes"], 1, id="a-fault-of-its-own"),
        pytest.param("exec format error", [], ["unknown", "yes"], 0, id="nobody-asks"),
        pytest.param(ClusterError("forbidden", "forbidden"), ["--logs"], ["unknown", "yes"], 1, id="forbidden"),
        pytest.param(ClusterError("gone", "not-found"), ["--logs"], ["unknown", "yes"], 2, id="no-log"),
    ],
)  # fmt: skip
def test_a_log_decides_what_a_crash_loop_means(log, words, states, read, monkeypatch):
    cluster = Cluster(
        [running("a", "amd64", ready=True, state={"running": {}}), looping("b"), looping("c")], log
    )
    report, said = audited(cluster, monkeypatch, *words)
    (image,) = report["findings"]["images"]
    assert image["states"] == dict(zip(("arm64", "amd64"), states, strict=True))
    assert len(cluster.logs) in (read, 2 * read)
    assert all("/namespaces/shop/pods/" in path and "previous=true" in path for path in cluster.logs)
    assert ("It needs the right to get pods/log" in said) == (words != [] and "forbidden" in str(log))
