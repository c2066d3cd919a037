"""The part `karpenter`: the same workloads as written and as archfit leaves them; which nodes Karpenter makes for them.

    fixtures/whole/karpenter/workloads.yaml     what runs
                             POOLS.yaml         NodePools; `archfit setup cluster` makes archfit's file of them
    TURNS                                       pools, what becomes of the workloads, PREFERENCE_POLICY

Measured for each turn: nodes by architecture and their price in an hour, pods on an architecture that one of their
images lacks, pods without a node. The name of an image says what it is built for; archfit is told the same
(`recordings`). Wrong is a turn with archfit that has a pod on a wrong architecture, or one that waits for ever.
"""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import file_runs
import machine
from cluster_site import built_for
from operators import recordings
from operators.build import Failed
from whole.karpenter_site import PRICE, SYSTEM_NODE, KarpenterSite, Object, is_of_daemon_set

FOLDER = machine.ROOT / "fixtures" / "whole" / "karpenter"
WRITTEN, PLACED, PREFERRED = "as written", "with archfit", "with archfit and prefer"
_ARCH = "kubernetes.io/arch"


class Turn(NamedTuple):
    """pools: name of a file. workloads: WRITTEN, PLACED or PREFERRED. policy: PREFERENCE_POLICY of Karpenter."""

    pools: str
    workloads: str
    policy: str = "Respect"


TURNS = (
    *(Turn("one-pool", what) for what in (WRITTEN, PLACED, PREFERRED)),
    Turn("one-pool", PREFERRED, "Ignore"),
    *(Turn("tainted", what) for what in (WRITTEN, PLACED, PREFERRED)),
    Turn("tainted", PREFERRED, "Ignore"),
    *(Turn("arm-first", what) for what in (WRITTEN, PLACED)),
)


def run(folder: Path) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Every turn, one after the other, each with a control plane of its own. Raises Failed and AssertionError."""
    measured, wrong = [], []
    for number, turn in enumerate(TURNS):
        place = folder / str(number)
        place.mkdir()
        stream = workloads(turn)
        with KarpenterSite(place, _text(turn.pools), turn.policy) as site:
            site.create(stream)
            site.settle()
            found = judged(site.nodes(), site.pods())
        measured.append(
            {
                "pools": turn.pools,
                "workloads": turn.workloads,
                "policy": turn.policy,
                "stream": digest(stream),
                **found,
            }
        )
        if turn.workloads != WRITTEN:
            name = f"{turn.pools}, {turn.workloads}, {turn.policy}"
            wrong += [f"{name}: {pod} is on an architecture that its images lack" for pod in found["wrong"]]
            wrong += [f"{name}: {pod} has no node" for pod in found["pending"]]
    return {"turns": measured}, wrong


def workloads(turn: Turn) -> bytes:
    """The stream of a turn. Raises Failed where archfit refuses it."""
    written = (FOLDER / "workloads.yaml").read_bytes()
    if turn.workloads == WRITTEN:
        return written
    prefer = ("--prefer=arm64=1",) if turn.workloads == PREFERRED else ()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archfit.yaml"
        path.write_bytes(_configuration(turn.pools))
        answer = recordings.placed(written, f"--config={path}", *prefer)
    if answer.text is None:
        raise Failed("archfit", "\n".join(one["message"] for one in answer.report["results"]))
    return answer.text


def _configuration(pools: str) -> bytes:
    """What `archfit setup cluster` makes of the node and the pools. Raises Failed."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": SYSTEM_NODE, "labels": {_ARCH: "amd64", "kubernetes.io/os": "linux"}},
    }
    items = [node, *yaml.safe_load_all(_text(pools))]
    objects = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    ended = file_runs.run(("setup", "cluster", "-"), objects.encode())
    if ended.status:
        raise Failed("archfit setup cluster", ended.stderr)
    return ended.stdout


def judged(nodes: Sequence[Object], pods: Sequence[Object]) -> dict[str, Any]:
    """What came of a turn: nodes by architecture, dollars an hour, pods that are wrong, and that wait.

    DaemonSets: the architectures on whose nodes a pod of each runs, of those for which its images are built.
    """
    labels = {one["metadata"]["name"]: one["metadata"]["labels"] for one in nodes}
    by_architecture = Counter(found[_ARCH] for found in labels.values())
    placed = [(pod, labels.get(pod["spec"].get("nodeName", ""), {}).get(_ARCH, "")) for pod in pods]
    missing = []
    for name in sorted({_workload(pod) for pod in pods if is_of_daemon_set(pod)}):
        own = [(pod, at) for pod, at in placed if _workload(pod) == name]
        fitting = built_for(own[0][0]["spec"])
        nodes_of_it = sum(number for at, number in by_architecture.items() if at in fitting)
        there = sum(at in fitting for _pod, at in own)
        if there < nodes_of_it:
            missing.append(f"{name} on {nodes_of_it - there} of {nodes_of_it} nodes")
    movable = [(pod, at) for pod, at in placed if not is_of_daemon_set(pod)]
    return {
        "nodes": dict(sorted(by_architecture.items())),
        "dollars": round(sum(float(found[PRICE]) for found in labels.values()), 4),
        "pods": len(movable),
        "wrong": _named([pod for pod, at in placed if at and at not in built_for(pod["spec"])]),
        "pending": _named([pod for pod, at in movable if not at]),
        "missing": missing,
    }


def _named(pods: Sequence[Object]) -> list[str]:
    return [f"{name} ({number})" for name, number in sorted(Counter(map(_workload, pods)).items())]


def _workload(pod: Mapping[str, Any]) -> str:
    """The name of the workload, by the name of a container: they are alike in the fixture."""
    return str(pod["spec"]["containers"][0]["name"])


def digest(stream: bytes) -> str:
    """Of what archfit wrote: the figures hold as long as it writes the same."""
    return hashlib.sha256(stream).hexdigest()[:12]


def _text(name: str) -> str:
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
