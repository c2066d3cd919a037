"""The part of a Pod that a decision can read, so that the rest is neither converted nor compared.

    metadata               name, generateName, namespace, labels, annotations, ownerReferences;
                           of managedFields, whether archfit.dev/added came with the request
    spec.containers[],     name, image, imagePullPolicy
      initContainers[]
    spec.volumes[]         name and image of an image volume; {} for any other, so that indices stay
    spec.*                 everything else

Left out is what differs from one replica to the next and never counts: uid, creationTimestamp, managedFields, the
random name of the token's volume. So all replicas of a controller have the same extract. A test compares the decisions
for whole Pods with those for their extracts.

An update reads less:

    metadata               name, generateName, annotations, deletionTimestamp
    spec                   affinity, tolerations
"""

from __future__ import annotations

from typing import Any

from archfit.admission.added_record import REQUESTED, is_requested

_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences")
_OF_UPDATE = (
    ("metadata", ("name", "generateName", "annotations", "deletionTimestamp")),
    ("spec", ("affinity", "tolerations")),
)
_CONTAINER = ("name", "image", "imagePullPolicy")


def pod_extract(value: dict[str, Any]) -> dict[str, Any]:
    """The extract of a Pod that was decoded from JSON; parts of it are shared with `value`."""
    made = {"apiVersion": value.get("apiVersion"), "kind": value.get("kind")}
    metadata, spec = value.get("metadata"), value.get("spec")
    if isinstance(metadata, dict):
        requested = {"managedFields": [REQUESTED]} if is_requested(value) else {}
        made["metadata"] = {**{key: metadata[key] for key in _METADATA if key in metadata}, **requested}
    if isinstance(spec, dict):
        made["spec"] = spec = {**spec}
        spec.pop("ephemeralContainers", None)
        for field in ("containers", "initContainers"):
            if isinstance(spec.get(field), list):
                spec[field] = [_container(one) for one in spec[field]]
        if isinstance(spec.get("volumes"), list):
            spec["volumes"] = [_volume(one) for one in spec["volumes"]]
    return made


def update_extract(value: dict[str, Any]) -> dict[str, Any]:
    """What of a Pod an update reads; parts of it are shared with `value`."""
    return {
        part: {key: value[part][key] for key in keys if key in value[part]}
        for part, keys in _OF_UPDATE
        if isinstance(value.get(part), dict)
    }


def _container(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in _CONTAINER if key in value}


def _volume(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in ("name", "image") if key in value} if "image" in value else {}
