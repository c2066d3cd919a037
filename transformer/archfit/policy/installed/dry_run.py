"""What the API server makes of pods: `kubectl create --dry-run=server -o json`, a hundred in a call.

Each pod goes twice, as it is and with archfit.dev/skip: "true". The second is what every other admission plugin and
webhook makes of it: default tolerations, those of its RuntimeClass, injected sidecars.

    plain      the cluster's answer, or None
    skipped    the same without archfit
    refused    kubectl's words, where one of the two was not admitted
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from archfit.base.record import Record
from archfit.cluster.cluster_error import ClusterError, reason_of_words
from archfit.cluster.kubectl import Kubectl
from archfit.placement.annotations import PREFIX as ANNOTATION
from archfit.policy.installed.sample_pods import PREFIX, SamplePod

SKIP = f"{ANNOTATION}skip"
_AT_ONCE = 100
# A controller drops fields that Kubernetes does not know; kubectl would refuse all pods of a call for one.
_CREATE = ("create", "--dry-run=server", "--validate=false", "-o", "json", "-f", "-")
_NUMBER = re.compile(rf"{PREFIX}(?:skipped-)?(\d+)-")
_NO_COMPLAINT = ("Warning:", "WARNING:")
_LONGEST = 2000
_NOT_CONNECTED = ("unauthorized", "unreachable", "timeout")


class Admitted(Record):
    """The answers about one pod; see the module."""

    plain: dict[str, Any] | None
    skipped: dict[str, Any] | None
    refused: str = ""


def admitted(kubectl: Kubectl, pods: Sequence[SamplePod]) -> list[Admitted]:
    """For each pod that has a value what the API server makes of it. Raises ClusterError."""
    values = [pod.value for pod in pods if pod.value is not None]
    plain: dict[str, dict[str, Any]] = {}
    complaints: dict[str, str] = {}
    both = [one for value in values for one in (value, _skipped(value))]
    for start in range(0, len(both), _AT_ONCE):
        answers, refused = _created(kubectl, both[start : start + _AT_ONCE])
        plain |= answers
        complaints = {**refused, **complaints}
    found = []
    for value in values:
        name = value["metadata"]["generateName"]
        matched = _NUMBER.match(name)
        number = matched[1] if matched else ""
        refused_with = complaints.get(number, complaints.get("", "the API server did not return it"))
        one, other = plain.get(name), plain.get(_skipped_name(name))
        found.append(Admitted(one, other, "" if one and other else refused_with))
    return found


def _created(
    kubectl: Kubectl, values: Sequence[dict[str, Any]]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The answers by generateName, and the complaints by the pod's number, "" where none is named."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": values})
    ran = kubectl.run(*_CREATE, given=text.encode())
    reason = reason_of_words(ran.complaint)
    answers = {
        pod["metadata"].get("generateName", ""): pod
        for pod in _objects(ran.output.decode(errors="replace"))
        if pod.get("kind") == "Pod"
    }
    if ran.status and not answers and reason in _NOT_CONNECTED:
        raise ClusterError(f"kubectl create failed: {ran.complaint.strip()}", reason)
    complaints: dict[str, str] = {}
    for line in ran.complaint.splitlines():
        if line.strip() and not line.startswith(_NO_COMPLAINT):
            matched = _NUMBER.search(line)
            number = matched[1] if matched else ""
            known = complaints.get(number)
            complaints[number] = f"{known}; {line.strip()}" if known else line.strip()
    return answers, {number: text[:_LONGEST] for number, text in complaints.items()}


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects that kubectl printed, one after the other or in a List."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            raise ClusterError("kubectl create gave no JSON: is the kubectl on PATH the real one?") from None
        if isinstance(value, dict):
            yield from value["items"] if isinstance(value.get("items"), list) else [value]


def _skipped(value: dict[str, Any]) -> dict[str, Any]:
    metadata = value["metadata"]
    return {
        **value,
        "metadata": {
            **metadata,
            "generateName": _skipped_name(metadata["generateName"]),
            "annotations": {**metadata.get("annotations", {}), SKIP: "true"},
        },
    }


def _skipped_name(name: str) -> str:
    return name.replace(PREFIX, f"{PREFIX}skipped-", 1)
