"""What the stand-in kubelet that runs pods (running_kubelet.py) gives a pod: volumes as folders, and variables.

    emptyDir                          a folder of the pod
    hostPath, persistentVolumeClaim   the folder of this machine; of a claim the hostPath of its volume
    configMap, secret, downwardAPI    a folder with a file for each key, with items, modes and fsGroup
    projected                         all of these, and tokens of the pod's service account that the API server signs

A claim, a ConfigMap or a Secret that is not there yet raises NotThere: the kubelet tries again. What the stand-in does
not know raises Unsupported. Source: k8s.io/api/core/v1 types.go, pkg/kubelet/kubelet_pods.go of Kubernetes.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Get = Callable[[str], Any]
Post = Callable[[str, Any], Any]

_KEY = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]").fullmatch
_VARIABLE = re.compile(r"\$(?:\$|\(([-._a-zA-Z][-._a-zA-Z0-9]*)\))")
_MODE = 0o644


class NotThere(Exception):
    """An object that a pod names is not there."""


class Unsupported(Exception):
    """The stand-in does not know this field."""


class PodInputs:
    """Of one pod. get: the object at a path of the API, None where there is none. post: creates and returns."""

    def __init__(self, pod: Mapping[str, Any], folder: Path, get: Get, post: Post) -> None:
        self._pod, self._folder, self._get, self._post = pod, folder, get, post
        self._namespace: str = pod["metadata"]["namespace"]

    def volumes(self) -> dict[str, Path]:
        """The folder or file of each volume."""
        return {one["name"]: self._volume(one) for one in self._pod["spec"].get("volumes", ())}

    def _volume(self, volume: Mapping[str, Any]) -> Path:
        name, (kind, source) = volume["name"], next(one for one in volume.items() if one[0] != "name")
        if kind == "hostPath":
            return Path(source["path"])
        if kind == "persistentVolumeClaim":
            return self._claimed(source["claimName"])
        folder: Path = self._folder / "volumes" / name
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "emptyDir":
            folder.chmod(0o777)
            return folder
        default = source.get("defaultMode", _MODE)
        sources = source["sources"] if kind == "projected" else [{kind: source}]
        for path, content, mode in (file for one in sources for file in self._files(one)):
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            self._owned(place, default if mode is None else mode)
        return folder

    def _claimed(self, name: str) -> Path:
        claim = self._named("persistentvolumeclaims", name)
        volume = self._get(f"/api/v1/persistentvolumes/{claim['spec'].get('volumeName', '')}")
        if not volume or "hostPath" not in volume["spec"]:
            raise NotThere(f"the claim {name} has no volume on this machine")
        return Path(volume["spec"]["hostPath"]["path"])

    def _owned(self, place: Path, mode: int) -> None:
        """As fsGroup has it; without root the user is the only one, and owns it."""
        place.chmod(mode)
        group = self._pod["spec"].get("securityContext", {}).get("fsGroup")
        if group is not None and os.geteuid() == 0:
            os.chown(place, 0, group)
            place.chmod(mode | 0o440)

    def _files(self, source: Mapping[str, Any]) -> Iterator[tuple[str, bytes, int | None]]:
        """(path in the volume, content, mode or None)."""
        ((kind, value),) = source.items()
        items = value.get("items")
        if kind == "serviceAccountToken":
            yield value["path"], self._token(value).encode(), None
        elif kind == "downwardAPI":
            for item in items or ():
                yield item["path"], self.field(item["fieldRef"]["fieldPath"]).encode(), item.get("mode")
        elif kind in {"configMap", "secret"}:
            name = value.get("name") or value.get("secretName")
            keys = self._data(kind, name, optional=value.get("optional", False))
            for key in keys if items is None else ():
                yield key, keys[key], None
            for item in items or ():
                if item["key"] not in keys:
                    raise NotThere(f"{kind} {name} has no key {item['key']}")
                yield item["path"], keys[item["key"]], item.get("mode")
        else:
            raise Unsupported(f"a volume {kind}")

    def _data(self, kind: str, name: str, *, optional: bool) -> dict[str, bytes]:
        resource = {"configMap": "configmaps", "secret": "secrets"}[kind]
        try:
            found = self._named(resource, name)
        except NotThere:
            if optional:
                return {}
            raise
        data, binary = found.get("data") or {}, found.get("binaryData") or {}
        encoded = data if kind == "secret" else binary
        plain = {} if kind == "secret" else {key: text.encode() for key, text in data.items()}
        return {**plain, **{key: base64.b64decode(text) for key, text in encoded.items()}}

    def _named(self, resource: str, name: str) -> Any:
        found = self._get(f"/api/v1/namespaces/{self._namespace}/{resource}/{name}")
        if found is None:
            raise NotThere(f"there is no {resource} {self._namespace}/{name}")
        return found

    def _token(self, source: Mapping[str, Any]) -> str:
        account = self._pod["spec"].get("serviceAccountName", "default")
        metadata = self._pod["metadata"]
        bound = {"kind": "Pod", "apiVersion": "v1", "name": metadata["name"], "uid": metadata["uid"]}
        spec = {"expirationSeconds": source.get("expirationSeconds", 3600), "boundObjectRef": bound}
        if "audience" in source:
            spec["audiences"] = [source["audience"]]
        path = f"/api/v1/namespaces/{self._namespace}/serviceaccounts/{account}/token"
        return str(self._post(path, {"spec": spec})["status"]["token"])

    def variables(self, entries: Sequence[Mapping[str, Any]], usual: Mapping[str, str]) -> dict[str, str]:
        """The environment of a container: what its image and the kubelet set, and `entries` (`env`)."""
        found = dict(usual)
        for entry in entries:
            source = entry.get("valueFrom")
            found[entry["name"]] = (
                expanded(entry.get("value", ""), found) if source is None else self._value(source)
            )
        return found

    def _value(self, source: Mapping[str, Any]) -> str:
        ((kind, value),) = source.items()
        if kind == "fieldRef":
            return self.field(value["fieldPath"])
        if kind in {"secretKeyRef", "configMapKeyRef"}:
            keys = self._data(
                kind.removesuffix("KeyRef"), value["name"], optional=value.get("optional", False)
            )
            return keys.get(value["key"], b"").decode()
        raise Unsupported(f"a variable from {kind}")

    def field(self, path: str) -> str:
        """The value of a fieldPath of the downward API. Raises Unsupported."""
        metadata, spec = self._pod["metadata"], self._pod["spec"]
        if match := _KEY(path):
            return str(metadata.get(match[1], {}).get(match[2], ""))
        known = {
            "metadata.name": metadata["name"],
            "metadata.namespace": self._namespace,
            "metadata.uid": metadata["uid"],
            "spec.nodeName": spec.get("nodeName", ""),
            "spec.serviceAccountName": spec.get("serviceAccountName", ""),
            "status.podIP": "127.0.0.1",
            "status.hostIP": "127.0.0.1",
        }
        if path not in known:
            raise Unsupported(f"the field {path}")
        return str(known[path])


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """`$(NAME)` with its value, or as it is where there is none; `$$` is one dollar (third_party/forked/golang)."""
    return _VARIABLE.sub(lambda match: "$" if match[0] == "$$" else variables.get(match[1], match[0]), text)
