"""What of a Pod the request states, by `metadata.managedFields`, and who applies it. Pure.

The API server makes them of the request, before admission, and does not add to them what admission changes
(k8s.io/apiserver, pkg/endpoints/handlers, create.go and patch.go). So they tell what somebody wrote from what the API
server's own plugins, other webhooks and an earlier pass of archfit added.

    {"operation": "Apply", "fieldsV1": {"f:spec": {"f:tolerations": {}}}}

A Pod that somebody applies has no controller, and an entry of the operation Apply (server-side apply: kubectl, Helm 4,
Flux, Argo CD) or an annotation of MARKS. Its lists of tolerations, required and preferred terms are atomic: the next
apply writes the user's whole list, without what archfit added to it, and the API server refuses that for a Pod that
exists. So a list that it states is not extended; what it does not state, a later apply leaves alone.

A Pod that comes with a record (`added_record`) was rendered with one, is a copy of another, or somebody made it up. It
gets the node affinity that it needs, and nothing else: nobody could tell afterwards what to take back.

Source: k8s.io/api/core/v1, types.go (listType, structType); kubernetes, pkg/apis/core/validation, ValidatePodUpdate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from archfit.options.settings import AFFINITY, NODE_AFFINITY, PREFERRED, REQUIRED, TOLERATIONS
from archfit.placement.annotations import STAMP
from archfit.workloads.pod_specs import controller_of
from archfit.yaml.values import mapping_of

Field: TypeAlias = tuple[str, ...]

RECORD: Field = ("f:metadata", "f:annotations", f"f:{STAMP}")
STATES_TOLERATIONS: Field = ("f:spec", f"f:{TOLERATIONS}")
_NODE_AFFINITY: Field = ("f:spec", f"f:{AFFINITY}", f"f:{NODE_AFFINITY}")
STATES_TERMS: Field = (*_NODE_AFFINITY, f"f:{REQUIRED}")
STATES_PREFERENCES: Field = (*_NODE_AFFINITY, f"f:{PREFERRED}")
LISTS = (STATES_TOLERATIONS, STATES_TERMS, STATES_PREFERENCES)
APPLY = "Apply"
MARKS = ("kubectl.kubernetes.io/last-applied-configuration", "meta.helm.sh/release-name")
"""Of kubectl apply and Argo CD, and of Helm."""


def is_requested(value: Mapping[str, Any]) -> bool:
    """Whether the Pod has a record that came with the request, or nothing says that it did not."""
    if STAMP not in mapping_of(mapping_of(value.get("metadata")).get("annotations")):
        return False
    entries = _entries(value)
    return not entries or _is_stated(entries, RECORD)


def stated_lists(value: Mapping[str, Any]) -> frozenset[Field]:
    """Those of LISTS that are not extended: see the module."""
    kept = [STATES_TOLERATIONS, STATES_PREFERENCES] if is_requested(value) else []
    if _is_applied(value):
        entries = _entries(value)
        kept += [field for field in LISTS if _is_stated(entries, field)]
    return frozenset(kept)


def request_extract(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One entry of managedFields that says the same to the functions above; [] where nothing of them counts."""
    entries = _entries(value)
    recorded = STAMP in mapping_of(mapping_of(value.get("metadata")).get("annotations"))
    if not entries or not (recorded or _is_applied(value)):
        return []
    fields: dict[str, Any] = {}
    for path in (RECORD, *LISTS):
        if _is_stated(entries, path):
            inner = fields
            for name in path:
                inner = inner.setdefault(name, {})
    operation = {"operation": APPLY} if any(_applies(entry) for entry in entries) else {}
    return [{**operation, "fieldsV1": fields}]


def _entries(value: Mapping[str, Any]) -> Sequence[Any]:
    listed = mapping_of(value.get("metadata")).get("managedFields")
    return listed if isinstance(listed, list) else []


def _is_applied(value: Mapping[str, Any]) -> bool:
    metadata = mapping_of(value.get("metadata"))
    if "ownerReferences" in metadata and controller_of(metadata):
        return False
    annotations = mapping_of(metadata.get("annotations"))
    return any(mark in annotations for mark in MARKS) or any(map(_applies, _entries(value)))


def _applies(entry: Any) -> bool:
    return bool(mapping_of(entry).get("operation") == APPLY)


def _is_stated(entries: Sequence[Any], path: Field) -> bool:
    for entry in entries:
        fields = mapping_of(entry).get("fieldsV1")
        for name in path:
            if not isinstance(fields, dict) or name not in fields:
                break
            fields = fields[name]
        else:
            return True
    return False
