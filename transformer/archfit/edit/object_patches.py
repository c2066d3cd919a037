"""The decisions as JSON 6902 patches (RFC 6902), one for each object.

A `test` of a missing member is written with the value null, which the library of kustomize and of the API server takes
(evanphx/json-patch); RFC 6902 has no other word for it. Before they are printed, python-jsonpatch has to make of each
object what archfit's own `patch.apply` makes. It fails at a `test` of a missing member; those `apply` judges alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import jsonpatch

from archfit.base.patch import Operation, PatchConflict, Path, Test, apply, to_json
from archfit.base.results import Decision, Location, Message, ObjectRef
from archfit.placement.case import HELM_HOOK
from archfit.startup.record import Record
from archfit.workloads.documents import Document
from archfit.workloads.pod_specs import reference_of
from archfit.workloads.pods import Pod
from archfit.yaml.json_output import document_head, json_output, object_value
from archfit.yaml.values import mapping_of, plain, text_of


class ObjectPatch(Record):
    """One object that a patch is for.

    ref: its name is "" where the object only has a generateName. hook: Helm runs it apart. patch: from the object's
    own root. value: the object as it was decoded.
    """

    ref: ObjectRef
    location: Location
    hook: bool
    patch: tuple[Operation, ...]
    value: dict[str, Any]


def entries(documents: Iterable[Document], decisions: Iterable[tuple[Pod, Decision]]) -> list[ObjectPatch]:
    """One entry for each object of a stream, in order; its patch is empty where nothing changes.

    documents: those of the stream. An object inside of another is part of it, but the items of a list are objects of
    their own, as kustomize reads them.
    """
    values = {id(pod): document.value for document in documents for pod in document.pods}
    by_object: dict[tuple[Location, Path], ObjectPatch] = {}
    for pod, decision in decisions:
        root, value = _outermost(values[id(pod)], pod.path)
        patch = tuple(step.replace(path=step.path[len(root) :]) for step in decision.patch)
        key = pod.location, root
        before = by_object.get(key)
        if before:
            by_object[key] = before.replace(patch=(*before.patch, *patch))
            continue
        metadata = mapping_of(value.get("metadata"))
        ref = pod.ref if pod.root == root else reference_of(value)
        notes = metadata.get("annotations")
        hook = isinstance(notes, dict) and HELM_HOOK in notes
        by_object[key] = ObjectPatch(
            ref.replace(name=text_of(metadata.get("name"))), pod.location, hook, patch, value
        )
    return list(by_object.values())


def problems(patched: Sequence[ObjectPatch]) -> list[Message]:
    """Errors for objects that no target of kustomize can select alone."""
    refs = Counter(_identity(entry.ref) for entry in patched)
    messages = []
    for entry in patched:
        if not entry.patch:
            continue
        if not entry.ref.name:
            why = (
                "it has no name, so that no target can select it, and kustomize refuses it: give it a name, leave it "
                "alone (--exclude), or use --format json"
            )
        elif refs[_identity(entry.ref)] > 1:
            why = "the input holds it more than once, which kustomize refuses: remove all but one, or use --format json"
        else:
            continue
        messages.append(Message("error", why, entry.ref, location=entry.location))
    return messages


def as_json(patched: Iterable[ObjectPatch]) -> bytes:
    """The patches as a JSON document: of each the object, where it stands, and its RFC 6902 patch."""
    value = [
        {
            "object": {key: part for key, part in object_value(entry.ref).items() if part},
            **({"file": entry.location.file} if entry.location.file else {}),
            "document": entry.location.document,
            "line": entry.location.line,
            **({"source": entry.location.source} if entry.location.source else {}),
            "patch": to_json(entry.patch),
        }
        for entry in patched
        if entry.patch
    ]
    return json_output({**document_head("patch"), "patches": value})


def _outermost(value: Any, path: Path) -> tuple[Path, dict[str, Any]]:
    """(path, value) of the object in a document that path leads through: the document itself, or an item of lists."""
    depth = 0
    while text_of(value.get("kind")).endswith("List") and path[depth] == "items":
        value = value["items"][path[depth + 1]]
        depth += 2
    return path[:depth], value


def _identity(ref: ObjectRef) -> ObjectRef:
    return ref.replace(namespace=ref.namespace or "default")


def wrong_patches(patched: Iterable[ObjectPatch]) -> list[Message]:
    """Errors for patches that the two read differently, or that cannot be applied. Each is a bug of archfit's."""
    messages = []
    for entry in patched:
        why = difference(entry.value, entry.patch) if entry.patch else ""
        if why:
            message = f"the patch is wrong: {why}. archfit itself failed: please report this, if you can with the input"
            messages.append(Message("error", message, entry.ref, location=entry.location))
    return messages


def difference(value: Any, patch: Iterable[Operation]) -> str:
    """What python-jsonpatch makes differently of a value as the parser gives it, "" if nothing."""
    patch = tuple(patch)
    steps = [step for step in patch if not (isinstance(step, Test) and step.value is None)]
    try:
        ours = apply(value, patch)
        theirs = jsonpatch.apply_patch(plain(value), plain(to_json(steps)))
    except (PatchConflict, jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        return f"it cannot be applied ({type(error).__name__})"
    return "" if _text(plain(ours)) == _text(theirs) else "python-jsonpatch makes another object of it"


def _text(value: Any) -> str:
    """JSON tells 1 from true and from 1.0, and takes one NaN for another."""
    return json.dumps(value, sort_keys=True)
