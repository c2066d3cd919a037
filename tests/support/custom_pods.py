"""Pods of custom resources for the oracle, which knows Kubernetes' own kinds: as Deployments and Jobs.

before, after = projected(judge.kubectl(before)), projected(judge.kubectl(after))
plain = undone(before, after, report)        `after` without what was done to custom resources
placed_as_read(judge, before)                what `customResources: read` makes of a stream, compared with `all`
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from archfit.base.results import Location
from archfit.workloads.builtin import WORKLOADS, UserRows, group_of
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod
from archfit.yaml.values import typed
from stream_edits import edited, placed, plain
from yaml_judge import Judge

_PATHS = {".".join(map(str, row.pod_spec)) for row in WORKLOADS.values()}
_IN_LISTS = re.compile(r"\A(items\[[0-9]+\]\.)+")
_AFFINITIES = ("nodeAffinity", "podAffinity", "podAntiAffinity")


def is_custom(api_version: str, kind: str) -> bool:
    return (group_of(api_version), kind) not in WORKLOADS


def projected(documents: Iterable[Any], own: UserRows | None = None) -> bytes:
    """One object for each pod of a custom resource: its placement and its images where Kubernetes has them.

    own: rows of `workloads:`, by kind. A machine of KubeVirt without an architecture gets the cluster's default from
    its operator, whatever its affinity says: no object can say where it goes, and there is none for it.
    """
    made: list[dict[str, Any]] = []
    for document in documents:
        for pod in find_pods(typed(document), Location(1, 1), (), own):
            if pod.placement_paths is not None and pod.placement_paths.chosen:
                continue
            if is_custom(pod.ref.api_version, pod.ref.kind) or len(pod.root) > 2:
                made.append(_plain(pod, f"pod-{len(made)}"))
    return b"".join(b"---\n" + json.dumps(one, default=plain).encode() + b"\n" for one in made)


def _plain(pod: Pod, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = {
        field: pod.spec[field] for field in ("nodeSelector", "affinity", "tolerations") if field in pod.spec
    }
    if pod.placement_paths is not None and pod.placement_paths.pins:
        spec = _unpinned(spec)
    if isinstance(spec.get("affinity"), dict):
        own = spec.pop("affinity")
        spec |= (
            {"affinity": kept} if (kept := {name: own[name] for name in _AFFINITIES if name in own}) else {}
        )
    images = [use.text or "unseen.example/image" for use in pod.images]
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    annotations = pod.metadata.get("annotations") or {}
    own = pod.object_metadata
    named = "name" if own.get("name") or not own.get("generateName") else "generateName"
    return {
        "apiVersion": "batch/v1" if pod.immutable else "apps/v1",
        "kind": "Job" if pod.immutable else "Deployment",
        "metadata": {named: name, "annotations": own.get("annotations") or {}},
        "spec": {
            "template": {"metadata": {"annotations": annotations}, "spec": {**spec, "containers": containers}}
        },
    }


def _unpinned(spec: dict[str, Any]) -> dict[str, Any]:
    """What a nodeSelector says of the architecture, as the affinity that the oracle expects."""
    selector = dict(spec.get("nodeSelector") or {})
    architecture = selector.pop("kubernetes.io/arch", None)
    if architecture is None:
        return spec
    term = {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": [architecture]}]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    made = {**spec, "nodeSelector": selector, "affinity": {"nodeAffinity": terms}}
    return {field: value for field, value in made.items() if value}


def undone(before: bytes, after: bytes, report: dict[str, Any]) -> bytes:
    """`after` with the edits in custom resources taken back, by the places that the report gives."""
    owners = sorted(
        (
            decision["line"],
            is_custom(decision["object"]["apiVersion"], decision["object"]["kind"])
            or _IN_LISTS.sub("", decision["path"]) not in _PATHS,
        )
        for decision in report["decisions"]
        if decision["outcome"] == "Change"
    )
    lines = [line for line, _ in owners]
    restored, shift = after, 0
    kept: list[tuple[int, int, bytes]] = []
    for edit in report["edits"]:
        at = edit["start"] - shift
        line = before.count(b"\n", 0, max(at - 1, 0)) + 1
        shift += edit["end"] - edit["start"] - len(edit["was"].encode())
        if owners[bisect_right(lines, line) - 1][1]:
            kept.append((edit["start"], edit["end"], edit["was"].encode()))
    for start, end, was in reversed(kept):
        restored = restored[:start] + was + restored[end:]
    return restored


def placed_as_read(judge: Judge, before: bytes) -> bytes:
    """What the default writes for rows that were not seen, after asserting that it is the affinity of `all` alone.

    Pods that only tainted nodes can run get the toleration of `all` too.
    """
    as_read = placed(judge, before, unseen="read")
    was, full, read = (
        [spec(one) for one in projected(judge.kubectl(data)).splitlines()[1::2]]
        for data in (before, edited(before).data, as_read)
    )
    # CloudNativePG has its tolerations in a mapping of that name.
    assert [one.get("affinity") or {} for one in read] == [one.get("affinity") or {} for one in full]
    decisions = edited(before, unseen="read").edits.decisions
    tainted = {decision.reachable for _, decision in decisions} == {("arm64",)}
    assert [one.get("tolerations") for one in read] == [
        one.get("tolerations") for one in (full if tainted else was)
    ]
    return as_read


def spec(line: bytes) -> dict[str, Any]:
    """The pod spec of a line of `projected`."""
    found: dict[str, Any] = json.loads(line)["spec"]["template"]["spec"]
    return found
