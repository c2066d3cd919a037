"""`metadata.managedFields` as the API server writes them, out of an object's own fields.

    {"a": 1, "b": {"c": 2}}        f:a: {}        f:b: {".": {}, f:c: {}}
    items of a list with a key     k:{"name":"web"}: {".": {}, f:image: {}, ..}
    items of a set                 v:"foregroundDeletion": {}
    any other list, and selectors  atomic: {}

Which lists have keys is in the API types (`x-kubernetes-list-map-keys`); structs that are no pointers have no ".".
Source: KEP-555, sigs.k8s.io/structured-merge-diff (FieldsV1).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_LIST_KEYS = {
    "addresses": ("type",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "hostIPs": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "secrets": ("name",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
    "webhooks": ("name",),
}
_PORT_KEYS = {"containerPort": ("containerPort", "protocol"), "port": ("port", "protocol")}
_SETS = {"finalizers"}
_ATOMIC = {"selector", "nodeSelector", "labelSelector", "podSelector", "namespaceSelector", "matchLabels"}
_PLAIN_STRUCTS = {"metadata", "spec", "status", "template", "jobTemplate", "strategy", "updateStrategy"}


def fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """FieldsV1 of a manager that has written all of value."""
    return {f"f:{name}": _field(name, one) for name, one in value.items()}


def _field(name: str, value: Any) -> dict[str, Any]:
    if not value or name in _ATOMIC:
        return {}
    if isinstance(value, dict):
        return {**({} if name in _PLAIN_STRUCTS else {".": {}}), **fields(value)}
    if isinstance(value, list):
        if name in _SETS:
            return {f"v:{json.dumps(one)}": {} for one in value}
        keys = _keys_of(name, value[0])
        if keys and all(isinstance(one, dict) and set(keys) <= one.keys() for one in value):
            items = {
                "k:" + json.dumps({key: one[key] for key in keys}, separators=(",", ":")): {
                    ".": {},
                    **fields(one),
                }
                for one in value
            }
            return items if name == "containers" else {".": {}, **items}
    return {}


def _keys_of(name: str, first: Any) -> tuple[str, ...]:
    if name == "ports" and isinstance(first, dict):
        return next((keys for field, keys in _PORT_KEYS.items() if field in first), ())
    return _LIST_KEYS.get(name, ())


def entry(manager: str, version: str, value: Mapping[str, Any], time: str, part: str = "") -> dict[str, Any]:
    """What a manager has written with an update. part: the subresource, "" for the object itself."""
    return {
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields(value),
        "manager": manager,
        "operation": "Update",
        **({"subresource": part} if part else {}),
        "time": time,
    }
