"""The decisions as JSON 6902 patches, in the forms of tools that can run nothing.

    form                  where it goes                                              holds
    json                  `kubectl patch --type json`, a program                     [{object, patch}]
    kustomize             a folder of its own, named under `components:`             kind: Component, patches:
    flux-helmrelease      HelmRelease (helm.toolkit.fluxcd.io)                       spec.postRenderers
    flux-kustomization    Kustomization (kustomize.toolkit.fluxcd.io)                spec.patches
    fleet                 the folder that `kustomize.dir` of fleet.yaml names        kind: Kustomization, patches:

Every form but json is read by kustomize, and fails where the base has moved:

    patches         for each object `test` of what was found, then `add`. JSON 6902 only: a strategic merge of one
                    toleration replaces the whole list, and one of a bare name can lose containers (seen with 5.8.1)
    replacements    for each object its name, copied over itself: kustomize passes a patch over whose target is gone,
                    but refuses a replacement whose source is. Flux has no place for them

The fields of a target are regular expressions, anchored at both ends; a namespace left out selects all of them, while
an object without one counts as `default` (kustomize api: types/selector.go, resid.EffectiveNamespace). A `test` of a
missing member is written with the value null, which the library of kustomize and of the API server takes
(evanphx/json-patch); RFC 6902 has no other word for it.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from archfit.edit.render import Style, block, block_member
from archfit.edit.scalar import quoted
from archfit.outcome import Result
from archfit.patch import Remove, pointer, to_json
from archfit.record import Record
from archfit.source.values import Typed, text_of
from archfit.workloads.find import reference_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from archfit.outcome import Decision, ObjectRef, Place
    from archfit.patch import Operation, Path
    from archfit.workloads.inventory import Document
    from archfit.workloads.pods import Pod

_HELM_HOOK = "helm.sh/hook"
_STYLE = Style(indent=2, dash=2)
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
_PLAIN_POINTER = re.compile(r"(?:/[A-Za-z0-9._~-]+)+", re.ASCII).fullmatch


class Form(Record):
    """How the entries of kustomize's `patches` are wrapped.

    about: comment lines. head: the lines above the list, whose dashes stand at `column`. guarded: the whole file is
    kustomize's, so that it can hold replacements. hooks: Helm's hooks are sure to be among the objects; where they are
    not, nothing fails for lack of them.
    """

    about: str
    head: tuple[str, ...]
    column: int
    guarded: bool = False
    hooks: bool = False


FORMS = {
    "kustomize": Form(
        "Written by `archfit patch`. Name its folder under `components:` of the outermost kustomization.",
        ("apiVersion: kustomize.config.k8s.io/v1alpha1", "kind: Component", "patches:"),
        2,
        guarded=True,
        hooks=True,
    ),
    "flux-helmrelease": Form(
        "Written by `archfit patch`, for a HelmRelease.",
        ("spec:", "  postRenderers:", "    - kustomize:", "        patches:"),
        10,
    ),
    "flux-kustomization": Form(
        "Written by `archfit patch`, for a Kustomization of Flux.", ("spec:", "  patches:"), 4
    ),
    "fleet": Form(
        "Written by `archfit patch`. Name its folder in fleet.yaml, as in `kustomize: {dir: archfit}`.",
        ("apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "patches:"),
        2,
        guarded=True,
    ),
}


class Entry(Record):
    """One object that a patch is for.

    ref: its name is "" where the object only has a generateName. hook: Helm runs it apart. patch: from the object's
    own root.
    """

    ref: ObjectRef
    place: Place
    file: str
    hook: bool
    patch: tuple[Operation, ...]


def entries(
    documents: Iterable[Document], decisions: Iterable[tuple[Pod, Decision]], file: str = ""
) -> list[Entry]:
    """One entry for each object of a stream, in order; its patch is empty where nothing changes.

    documents: those of the stream. An object inside of another is part of it, but the items of a list are objects of
    their own, as kustomize reads them.
    """
    values = {id(pod): document.value for document in documents for pod in document.pods}
    found: dict[tuple[int, int, Path], Entry] = {}
    for pod, decision in decisions:
        root, value = _outermost(values[id(pod)], pod.path)
        patch = tuple(step.replace(path=step.path[len(root) :]) for step in decision.patch)
        key = pod.place.document, pod.place.line, root
        before = found.get(key)
        if before:
            found[key] = before.replace(patch=(*before.patch, *patch))
            continue
        metadata = value.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        ref = pod.ref if pod.root == root else reference_of(value)
        notes = metadata.get("annotations")
        hook = isinstance(notes, dict) and _HELM_HOOK in notes
        found[key] = Entry(ref.replace(name=text_of(metadata.get("name"))), pod.place, file, hook, patch)
    return list(found.values())


def problems(found: Sequence[Entry]) -> list[Result]:
    """Errors for objects that no target of kustomize can select alone."""
    refs = Counter(_identity(entry.ref) for entry in found)
    results = []
    for entry in found:
        if not entry.patch:
            continue
        if not entry.ref.name:
            why = (
                "it has no name, so that no target can select it, and kustomize refuses it: give it a name, leave it "
                "alone (--exclude), or use --format json"
            )
        elif refs[_identity(entry.ref)] > 1:
            why = (
                "it stands more than once in the input, which kustomize refuses: remove all but one, "
                "or use --format json"
            )
        else:
            continue
        source = ", ".join(part for part in (entry.file, entry.place.source) if part)
        results.append(Result("error", why, entry.ref, place=entry.place.replace(source=source)))
    return results


def as_json(found: Iterable[Entry]) -> str:
    """The patches as a JSON list: object, where it stands, and its RFC 6902 patch."""
    told = [
        {
            "object": _object(entry.ref),
            **({"file": entry.file} if entry.file else {}),
            "document": entry.place.document,
            "line": entry.place.line,
            **({"source": entry.place.source} if entry.place.source else {}),
            "patch": _decoded(to_json(entry.patch)),
        }
        for entry in found
        if entry.patch
    ]
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def as_yaml(name: str, found: Sequence[Entry]) -> str:
    """The patches in one of FORMS. `found` also holds the objects that stay as they are, and has no `problems`."""
    form = FORMS[name]
    changing = [entry for entry in found if entry.patch]
    shared = Counter(entry.ref.replace(namespace="") for entry in found)
    namespaces = [
        entry.ref.namespace or ("default" if shared[entry.ref.replace(namespace="")] > 1 else "")
        for entry in changing
    ]
    lines = [f"# {form.about}", *form.head]
    if not changing:
        lines[-1] += " []"
    for entry, namespace in zip(changing, namespaces, strict=True):
        target = _target(entry.ref, namespace, pattern=True)
        inside = [*block_member("target", target, 0, _STYLE), "patch: |-", *_operations(entry.patch)]
        first, *rest = _indented(inside, form.column + 2)
        lines += [" " * form.column + "- " + first.lstrip(), *rest]
    guards = [
        _guard(entry.ref, namespace)
        for entry, namespace in zip(changing, namespaces, strict=True)
        if form.guarded and (form.hooks or not entry.hook)
    ]
    if guards:
        lines += [
            "# These change nothing, and fail where an object is gone.",
            *block({"replacements": guards}, 0, _STYLE),
        ]
    return "".join(line + "\n" for line in lines)


def _outermost(value: Any, path: Path) -> tuple[Path, dict[str, Any]]:
    """(path, value) of the object in a document that path leads through: the document itself, or an item of lists."""
    depth = 0
    while text_of(value.get("kind")).endswith("List") and path[depth] == "items":
        value = value["items"][path[depth + 1]]
        depth += 2
    return path[:depth], value


def _identity(ref: ObjectRef) -> ObjectRef:
    """What kustomize tells objects apart by."""
    return ref.replace(namespace=ref.namespace or "default")


def _object(ref: ObjectRef) -> dict[str, str]:
    told = {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {key: value for key, value in told.items() if value}


def _guard(ref: ObjectRef, namespace: str) -> dict[str, Any]:
    """A replacement that writes the object's name over itself."""
    return {
        "source": {**_target(ref, namespace), "fieldPath": "metadata.name"},
        "targets": [
            {"select": _target(ref, namespace, pattern=True), "fieldPaths": ["metadata.name"]},
        ],
    }


def _target(ref: ObjectRef, namespace: str, *, pattern: bool = False) -> dict[str, str]:
    group, _, version = ref.api_version.rpartition("/")
    fields = {"group": group, "version": version, "kind": ref.kind, "name": ref.name, "namespace": namespace}
    return {key: _pattern(value) if pattern else value for key, value in fields.items() if value}


def _pattern(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _operations(patch: Iterable[Operation]) -> list[str]:
    lines = []
    for step in patch:
        path = pointer(step.path)
        lines += [
            f"  - op: {type(step).__name__.lower()}",
            f"    path: {path if _PLAIN_POINTER(path) else quoted(path)}",
            *(() if isinstance(step, Remove) else block_member("value", step.value, 4, _STYLE)),
        ]
    return lines


def _indented(lines: Iterable[str], column: int) -> list[str]:
    return [" " * column + line for line in lines]


def _decoded(value: Any) -> Any:
    """The value as JSON has it; numbers as Kubernetes reads them."""
    if isinstance(value, dict):
        return {key: _decoded(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, Typed):
        return _number(value)
    return value


def _number(value: Typed) -> bool | int | float:
    text = value.text.replace("_", "").lower()
    if value.kind == "bool":
        return text == "true"
    if value.kind == "float":
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits.isdecimal() and digits[0] == "0"
    number = int(digits, 8) if octal else int(digits, 0)
    return -number if text[0] == "-" else number
