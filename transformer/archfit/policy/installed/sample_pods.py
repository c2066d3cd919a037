"""The pods that manifests would make, as a controller sends them to the API server, for a dry run.

    Pod                           itself                         generateName instead of its name, which may be taken
    Deployment, ReplicaSet, ..    spec.template
    DaemonSet                     spec.template                  with the DaemonSet as its controller
    CronJob                       spec.jobTemplate.spec.template
    any other kind                none: its operator makes the pods

What placement does not depend on and what a dry run could stumble over, or show, is left out: env, envFrom, command and
args of containers (they may hold secrets), their mounts (a StatefulSet's controller adds volumes), the service account,
the priority class, the status.

Source: kubernetes, pkg/controller/controller_utils.go (GetPodFromTemplate).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from archfit.base.record import Record
from archfit.base.results import Location, ObjectRef
from archfit.workloads.documents import Document
from archfit.yaml.values import mapping_of, plain

PREFIX = "archfit-check-"
_TEMPLATES = {
    ("", "Pod"): (),
    ("", "ReplicationController"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
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

    @property
    def namespace(self) -> str:
        """As the manifests give it; "" is the one of kubectl's context."""
        return self.ref.namespace


def sample_pods(documents: Iterable[Document]) -> list[SamplePod]:
    """A pod for each pod of the documents, in their order; each has a generateName of its own."""
    found: list[SamplePod] = []
    for document in documents:
        for pod in document.pods:
            way = _TEMPLATES.get((pod.group, pod.ref.kind))
            template = document.value
            for step in (*pod.root, *(way or ())):
                template = template[step]
            value = _pod(mapping_of(plain(template)), pod.ref, len(found)) if way is not None else None
            found.append(SamplePod(pod.ref, pod.location, value))
    return found


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
            spec[name] = [_container(one) for one in spec[name]]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _container(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: member for key, member in value.items() if key not in _NOT_IN_CONTAINERS}
