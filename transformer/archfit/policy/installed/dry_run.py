"""What the API server makes of pods: `kubectl create --dry-run=server -o json`, a hundred in a call.

Each pod goes twice, as it is and with archfit.dev/skip: "true". The second is what every other admission plugin and
webhook makes of it: default tolerations, those of its RuntimeClass, injected sidecars.

The pods are those that manifests would make, as a controller sends them to the API server. What placement does not
depend on and what a dry run could stumble over, or show, is left out: env, envFrom, command and args of containers
(they may hold secrets), their mounts (a StatefulSet's controller adds volumes), the service account, the priority
class, the status. Source: kubernetes, pkg/controller/controller_utils.go (GetPodFromTemplate).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from archfit.base.results import Location, ObjectRef
from archfit.cluster.cluster_error import ClusterError, reason_of_words
from archfit.cluster.kubectl import Kubectl
from archfit.placement.annotations import PREFIX as ANNOTATION
from archfit.startup.record import Record
from archfit.workloads.builtin import ROWS
from archfit.workloads.documents import Document
from archfit.yaml.values import mapping_of, plain

PREFIX = "archfit-check-"
SKIP = f"{ANNOTATION}skip"
_AT_ONCE = 100
# A controller drops fields that Kubernetes does not know; kubectl would refuse all pods of a call for one.
_CREATE = ("create", "--dry-run=server", "--validate=false", "-o", "json", "-f", "-")
_NUMBER = re.compile(rf"{PREFIX}(?:skipped-)?(\d+)-")
_LEFT_ALONE = re.compile(rf"archfit leaves pod {PREFIX}(\d+)-\S+ alone \((.+?)\):")
_NO_COMPLAINT = ("Warning:", "WARNING:")
_LONGEST = 2000
_NOT_CONNECTED = ("unauthorized", "unreachable", "timeout")
# Where kinds that make pods have their template; `extensions` is served no more, and a PodTemplate makes none.
_TEMPLATES = {
    (row.group, row.kind): row.pod_spec[:-1]
    for row in ROWS
    if row.group != "extensions" and row.kind != "PodTemplate"
}
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # it repeats the whole object
_CONTAINERS = ("containers", "initContainers")
_NOT_IN_CONTAINERS = {"env", "envFrom", "command", "args", "volumeMounts", "volumeDevices"}
_NOT_IN_SPEC = {
    "serviceAccount",
    "serviceAccountName",
    "priorityClassName",
    "priority",
    "ephemeralContainers",
}


class SamplePod(Record):
    """A pod to send. value: None where its kind makes none that is known. ref, location: of the object."""

    ref: ObjectRef
    location: Location
    value: dict[str, Any] | None


def sample_pods(documents: Iterable[Document]) -> list[SamplePod]:
    """A pod for each pod of the documents, in their order; each has a generateName of its own."""
    pods: list[SamplePod] = []
    for document in documents:
        for pod in document.pods:
            way = _TEMPLATES.get((pod.group, pod.ref.kind))
            template = document.value
            for step in (*pod.root, *(way or ())):
                template = template[step]
            value = _pod(mapping_of(plain(template)), pod.ref, len(pods)) if way is not None else None
            pods.append(SamplePod(pod.ref, pod.location, value))
    return pods


def _pod(template: dict[str, Any], ref: ObjectRef, number: int) -> dict[str, Any]:
    own = mapping_of(template.get("metadata"))
    metadata: dict[str, Any] = {"generateName": f"{PREFIX}{number}-"}
    metadata |= {"namespace": ref.namespace} if ref.namespace else {}
    annotations = {
        key: value for key, value in mapping_of(own.get("annotations")).items() if key != _LAST_APPLIED
    }
    metadata |= {"labels": own["labels"]} if own.get("labels") else {}
    metadata |= {"annotations": annotations} if annotations else {}
    if ref.kind == "DaemonSet":
        metadata["ownerReferences"] = [
            {
                "apiVersion": ref.api_version,
                "kind": ref.kind,
                "name": ref.name or "archfit-check",
                "uid": "00000000-0000-0000-0000-000000000000",
                "controller": True,
            }
        ]
    spec = {key: value for key, value in mapping_of(template.get("spec")).items() if key not in _NOT_IN_SPEC}
    spec["automountServiceAccountToken"] = False
    for name in _CONTAINERS:
        if isinstance(spec.get(name), list):
            spec[name] = [_container(container) for container in spec[name]]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _container(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: member for key, member in value.items() if key not in _NOT_IN_CONTAINERS}


class Admitted(Record):
    """The answers about one pod. skipped: without archfit. refused: kubectl's words, where one of the two was not
    admitted. left_alone: why the policy does not decide for it, as the companion warns.
    """

    plain: dict[str, Any] | None
    skipped: dict[str, Any] | None
    refused: str = ""
    left_alone: str = ""


def admitted(kubectl: Kubectl, pods: Sequence[SamplePod]) -> list[Admitted]:
    """For each pod that has a value what the API server makes of it. Raises ClusterError."""
    values = [pod.value for pod in pods if pod.value is not None]
    plain: dict[str, dict[str, Any]] = {}
    complaints: dict[str, str] = {}
    reasons: dict[str, str] = {}
    both = [sent for value in values for sent in (value, _skipped(value))]
    for start in range(0, len(both), _AT_ONCE):
        created, refused, left_alone = _created(kubectl, both[start : start + _AT_ONCE])
        plain |= created
        reasons |= left_alone
        complaints = {**refused, **complaints}
    answers = []
    for value in values:
        name = value["metadata"]["generateName"]
        why = complaints.get(_number(name), complaints.get("", "the API server did not return it"))
        own, skipped = plain.get(name), plain.get(_skipped_name(name))
        reason = reasons.get(_number(name), "")
        answers.append(Admitted(own, skipped, "" if own and skipped else why, reason))
    return answers


def _created(
    kubectl: Kubectl, values: Sequence[dict[str, Any]]
) -> tuple[dict[str, dict[str, Any]], dict[str, str], dict[str, str]]:
    """The answers by generateName; by the pod's number the complaints, "" where none is named, and why the policy does
    not decide.
    """
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": values})
    ran = kubectl.run(*_CREATE, given=text.encode())
    reason = reason_of_words(ran.complaint)
    answers = {
        pod["metadata"].get("generateName", ""): pod for pod in _objects(ran.text) if pod.get("kind") == "Pod"
    }
    if ran.status and not answers and reason in _NOT_CONNECTED:
        raise ClusterError(f"kubectl create failed ({ran.complaint.strip()})", reason)
    complaints: dict[str, str] = {}
    for line in ran.complaint.splitlines():
        if line.strip() and not line.startswith(_NO_COMPLAINT):
            number = _number(line)
            known = complaints.get(number)
            complaints[number] = f"{known}; {line.strip()}" if known else line.strip()
    complaints = {number: text[:_LONGEST] for number, text in complaints.items()}
    return answers, complaints, dict(_LEFT_ALONE.findall(ran.complaint))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            raise ClusterError("kubectl create gave no JSON: is the kubectl on PATH the real one?") from None
        if isinstance(value, dict):
            yield from value["items"] if isinstance(value.get("items"), list) else [value]


def _number(text: str) -> str:
    """The number of the pod that a text names first, "" where it names none."""
    match = _NUMBER.search(text)
    return match[1] if match else ""


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
