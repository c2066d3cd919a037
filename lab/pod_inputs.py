"""What the stand-in kubelet that runs pods (running_kubelet.py) gives a pod: volumes as folders, and variables.

    emptyDir                  a folder of the pod
    persistentVolumeClaim     the folder of this machine that its volume names (hostPath)
    configMap, downwardAPI    a folder with a file for each key, or for each of the items; fsGroup may read them
    projected                 all of these, and tokens of the pod's service account that the API server signs

An object that is not there yet raises NotThere: the kubelet tries again. What the stand-in does not know raises
NotImplementedError. Source: k8s.io/api/core/v1 types.go, pkg/kubelet/kubelet_pods.go of Kubernetes.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Get = Callable[[str], Any]
Post = Callable[[str, Any], Any]

_KEY = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]").fullmatch
_VARIABLE = re.compile(r"\$(?:\$|\(([-._a-zA-Z][-._a-zA-Z0-9]*)\))")


class NotThere(Exception):
    """An object that a pod names is not there."""


class PodInputs:
    """Of one pod. get: the object at a path of the API, None where there is none. post: creates and returns."""

    def __init__(self, pod: Mapping[str, Any], folder: Path, get: Get, post: Post) -> None:
        self._pod, self._folder, self._get, self._post = pod, folder, get, post
        self._namespace: str = pod["metadata"]["namespace"]

    def volumes(self) -> dict[str, Path]:
        """The folder of each volume. Raises NotThere and NotImplementedError."""
        return {one["name"]: self._volume(one) for one in self._pod["spec"].get("volumes", ())}

    def _volume(self, volume: Mapping[str, Any]) -> Path:
        name, (kind, source) = volume["name"], next(one for one in volume.items() if one[0] != "name")
        if kind == "persistentVolumeClaim":
            claim = self._named("persistentvolumeclaims", source["claimName"])
            bound = self._get(f"/api/v1/persistentvolumes/{claim['spec'].get('volumeName', '')}")
            if not bound:
                raise NotThere(f"the claim {source['claimName']} has no volume")
            return Path(bound["spec"]["hostPath"]["path"])
        folder: Path = self._folder / "volumes" / name
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "emptyDir":
            folder.chmod(0o777)
            return folder
        sources = source["sources"] if kind == "projected" else [{kind: source}]
        group = self._pod["spec"].get("securityContext", {}).get("fsGroup")
        for path, content in (file for one in sources for file in self._files(one)):
            place = folder / path
            place.write_bytes(content)
            place.chmod(0o644)
            # Without root the user is the only one, and owns it.
            if group is not None and os.geteuid() == 0:
                os.chown(place, 0, group)
        return folder

    def _files(self, source: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
        """(path in the volume, content)."""
        ((kind, value),) = source.items()
        if kind == "serviceAccountToken":
            yield value["path"], self._token(value).encode()
        elif kind == "downwardAPI":
            for item in value["items"]:
                yield item["path"], self._field(item["fieldRef"]["fieldPath"]).encode()
        elif kind == "configMap":
            data = self._named("configmaps", value["name"])["data"]
            for item in value.get("items") or [{"key": key, "path": key} for key in data]:
                yield item["path"], data[item["key"]].encode()
        else:
            raise NotImplementedError(f"a volume {kind}")

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
        path = f"/api/v1/namespaces/{self._namespace}/serviceaccounts/{account}/token"
        return str(self._post(path, {"spec": spec})["status"]["token"])

    def variables(self, entries: Sequence[Mapping[str, Any]], usual: Mapping[str, str]) -> dict[str, str]:
        """The environment of a container: what its image and the kubelet set, and `entries` (`env`)."""
        found = dict(usual)
        for entry in entries:
            source = entry.get("valueFrom")
            found[entry["name"]] = (
                self._field(source["fieldRef"]["fieldPath"])
                if source
                else expanded(entry.get("value", ""), found)
            )
        return found

    def _field(self, path: str) -> str:
        """The value of a fieldPath of the downward API. Raises NotImplementedError."""
        metadata = self._pod["metadata"]
        if match := _KEY(path):
            return str(metadata.get(match[1], {}).get(match[2], ""))
        if path != "metadata.namespace":
            raise NotImplementedError(f"the field {path}")
        return self._namespace


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """`$(NAME)` with its value, or as it is where there is none; `$$` is one dollar (third_party/forked/golang)."""
    return _VARIABLE.sub(lambda match: "$" if match[0] == "$$" else variables.get(match[1], match[0]), text)
