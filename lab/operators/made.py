"""What an operator made, as a recording holds it: what places pods, and which images run.

    apiVersion: v1
    kind: Pod
    metadata: {name: web}            of its Deployment; names that differ from run to run end where they begin to differ
    spec: {containers: [{name, image}], affinity, tolerations, nodeSelector, topologySpreadConstraints, ..}

Equal objects are kept once, so that the number of replicas that stood at the end makes no difference. The pods of a
DaemonSet are left out: each is pinned to its node (KEP-548), and its template is there. A pod that a custom resource
pins to a node is kept, and what the node is stands beside its name.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from operators import recordings

Object = dict[str, Any]


# Where the objects of a kind are listed.
KINDS = {
    "Pod": "/api/v1/pods",
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "Job": "/apis/batch/v1/jobs",
    "CronJob": "/apis/batch/v1/cronjobs",
}
_FIELDS = (
    *("affinity", "nodeSelector", "nodeName", "tolerations", "topologySpreadConstraints"),
    *("runtimeClassName", "os"),
)
# The API server adds them to every pod (plugin DefaultTolerationSeconds).
_DEFAULT_TOLERATIONS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class Made:
    """Everything that was ever seen, by uid, and the names that are made of it."""

    def __init__(self, random: Iterable[str]) -> None:
        self._objects: dict[str, Object] = {}
        self._random = [re.compile(pattern) for pattern in random]

    def add(self, kind: str, value: Object) -> bool:
        """Whether the object, or its pod spec, is new."""
        uid = value["metadata"]["uid"]
        known = self._objects.get(uid)
        # The items of a list have neither.
        version = KINDS[kind].removeprefix("/api/").removeprefix("/apis/").rpartition("/")[0]
        made = self._objects[uid] = {**value, "apiVersion": version, "kind": kind}
        return known is None or recordings.pod_spec(known) != recordings.pod_spec(made)

    def of(self, namespace: str) -> list[Object]:
        """What was made for a namespace, in it or elsewhere with its name as a label, as the module says; sorted."""
        found = {}
        for value in self._objects.values():
            owner = self._owner(value)
            above = owner["kind"] if owner else ""
            if not _is_of(value["metadata"], namespace) or (value["kind"], above) in {
                ("Pod", "DaemonSet"),
                ("ReplicaSet", "Deployment"),
            }:
                continue
            plain = self._plain(value)
            found[value["kind"], plain["metadata"]["name"], yaml.safe_dump(plain)] = plain
        return [found[key] for key in sorted(found)]

    def _owner(self, value: Object) -> Object | None:
        references = value["metadata"].get("ownerReferences") or ()
        return next((self._objects[one["uid"]] for one in references if one["uid"] in self._objects), None)

    def _name(self, value: Object) -> str:
        owner = self._owner(value)
        if owner is not None:
            return self._name(owner)
        metadata = value["metadata"]
        return self._steady(metadata.get("generateName", "").rstrip("-") or metadata["name"])

    def _steady(self, text: str) -> str:
        for pattern in self._random:
            text = pattern.sub("", text)
        return text

    def _plain(self, value: Object) -> Object:
        made: Any = self._placement(recordings.pod_spec(value))
        for name in reversed(recordings.pod_path(value)):
            made = {name: made}
        return {
            "apiVersion": value["apiVersion"],
            "kind": value["kind"],
            "metadata": {"name": self._name(value)},
            **made,
        }

    def _placement(self, spec: Object) -> Object:
        tolerations = [
            one
            for one in spec.get("tolerations") or ()
            if one.get("key") not in _DEFAULT_TOLERATIONS or one.get("tolerationSeconds") != 300
        ]
        spec = {**spec, "tolerations": tolerations}
        made = {name: self._without_hashes(spec[name]) for name in _FIELDS if spec.get(name)}
        for term in recordings.pinning(made):
            node = term["matchFields"][0]["values"][0]
            architecture = {"key": "kubernetes.io/arch", "operator": "In", "values": [node.partition("-")[0]]}
            term["matchExpressions"] = [*term.get("matchExpressions", ()), architecture]
        for name in ("containers", "initContainers"):
            containers = [
                {key: one[key] for key in ("name", "image") if key in one} for one in spec.get(name, ())
            ]
            if containers:
                made[name] = containers
        volumes = [one for one in spec.get("volumes", ()) if "image" in one]
        if volumes:
            made["volumes"] = [{"name": one["name"], "image": one["image"]} for one in volumes]
        return made

    def _without_hashes(self, value: Any) -> Any:
        if isinstance(value, dict):
            if str(value.get("key", "")).endswith("hash") and "values" in value:
                return {**value, "values": ["HASH"]}
            return {
                key: "HASH" if key.endswith("hash") and isinstance(one, str) else self._without_hashes(one)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [self._without_hashes(one) for one in value]
        return self._steady(value) if isinstance(value, str) else value


def _is_of(metadata: Mapping[str, Any], namespace: str) -> bool:
    labels = metadata.get("labels") or {}
    return metadata.get("namespace") == namespace or namespace in labels.values()


def stream(objects: Iterable[Object]) -> bytes:
    return b"".join(b"---\n" + yaml.safe_dump(one, sort_keys=True, width=100).encode() for one in objects)
