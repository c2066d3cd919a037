"""`archfit patch [FILE|-].. [--format FORM]`: the decisions as patches, for places that can run nothing.

kustomize applies all forms but json, and fails where the base has moved:

    patches         for each object `test` of what was found, then `add`. JSON 6902 only: a strategic merge of one
                    toleration replaces the whole list, and one of a bare name can lose containers (seen with 5.8.1)
    replacements    for each object its name, copied over itself: kustomize passes a patch over whose target is gone,
                    but refuses a replacement whose source is. Flux has no place for them

The fields of a target are regular expressions, anchored at both ends; a namespace left out selects all of them, while
an object without one counts as `default` (kustomize api: types/selector.go, resid.EffectiveNamespace). Sveltos matches
what a ConfigMap holds by itself, without anchors and with an empty namespace (libsveltos v1.14.0, lib/patcher), and
takes each patch for a Go template (addon-controller 60c6358, controllers/handlers_utils.go).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.patch import Operation, Remove, pointer
from archfit.base.results import Message, ObjectRef, has_error
from archfit.cli.inputs.command_inputs import manifests_of, questions
from archfit.cli.inputs.manifests import Manifests
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.edit.object_patches import ObjectPatch, as_json, entries, problems, wrong_patches
from archfit.edit.render import Style, block, block_member, quoted
from archfit.explain.verbose import verbose_lines
from archfit.pipeline import decide
from archfit.placement.case import HELM_HOOK
from archfit.pod_stages import located
from archfit.reports.summary import lines
from archfit.run import Run
from archfit.startup.record import Record
from archfit.workloads.node_selectors import objects_beside
from archfit.yaml.values import mapping_of, text_of

_COMMAND = BY_NAME["patch"]
_STYLE = Style(indent=2, dash=2)
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
_PLAIN_POINTER = re.compile(r"(?:/[A-Za-z0-9._~-]+)+", re.ASCII).fullmatch


def patch(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr)
    form, settings = invocation.flags.format, invocation.settings
    # A stamp belongs to files that are edited in place; kustomize's own annotations would fail its tests.
    options = settings.options.replace(stamp=False)
    manifests = manifests_of(invocation, stdin, options)
    data, inventory = manifests.data, manifests.inventory
    working = Run(_COMMAND.program, settings.replace(options=options), environ, stderr, explain=verbose_lines)
    with closing(working):
        answers = working.answers([(data, manifests.pieces)], questions(manifests))
        edits = decide(inventory, answers, options)
        decisions = edits.decisions
        patches = entries(inventory.documents, decisions)
        messages = [*working.messages, *working.unmatched_filters(manifests.pods, inventory)]
        exact = located(data, inventory.documents, edits.messages)
        messages += manifests.in_order((*manifests.messages, *exact))
        if form != "json":
            messages += problems(patches)
        messages += wrong_patches(patches)
        twice = _hooks_that_stand_twice(manifests) if form == "flux-helmrelease" else ()
        if twice:
            message = (
                f"{', '.join(twice)}: a hook and a template of one name, which Flux from 2.9 on sends to kustomize "
                "together, and kustomize refuses: keep `postRenderStrategy: separate` beside the postRenderers"
            )
            messages.append(Message("warning", message))
        failed = has_error(messages)
        report = working.prepare_report(int(failed), messages, decisions, answers)
        why = working.explanations(data, inventory, decisions, answers)
    if failed:
        report.commit()
        working.write_messages([*why, *working.failure_lines(messages, decisions, answers)])
        return 1
    output = as_json(patches) if form == "json" else as_yaml(form, patches)
    if twice:
        output = output.replace(b"\nspec:\n", b"\nspec:\n  postRenderStrategy: separate\n", 1)
    report.commit_after(lambda: standard_streams.write(stdout, [output]))
    summary = working.summary(decisions, answers, inventory.untouched)
    working.write_messages([*lines(messages), *why, summary])
    return 0


def _hooks_that_stand_twice(manifests: Manifests) -> list[str]:
    """The objects of which a hook of Helm has the name of another object. Source: helm-controller, #1449, #1470."""
    objects: dict[str, list[bool]] = {}
    pieces = manifests.pieces if HELM_HOOK.encode() in manifests.data else ()
    for (group, kind), item in objects_beside(manifests.data, pieces, (b"kind",), ()):
        metadata = mapping_of(item.get("metadata"))
        parts = group, kind, text_of(metadata.get("namespace")), text_of(metadata.get("name"))
        is_hook = HELM_HOOK in mapping_of(metadata.get("annotations"))
        objects.setdefault("/".join(filter(None, parts)), []).append(is_hook)
    return sorted(name for name, hooks in objects.items() if len(hooks) > 1 and any(hooks))


class PatchForm(Record):
    """How the entries of kustomize's `patches` are wrapped.

    head: the lines above the list, whose dashes stand at `column`. guarded: the whole file is kustomize's, so that it
    can hold replacements. hooks: Helm's hooks are sure to be among the objects; where they are not, nothing fails for
    lack of them. anchored: the patterns of its targets need anchors of their own. template: the texts of its patches
    are Go templates.
    """

    about: str
    head: tuple[str, ...]
    column: int
    guarded: bool = False
    hooks: bool = False
    anchored: bool = False
    template: bool = False


FORMS = {
    "kustomize": PatchForm(
        "Written by `archfit patch`. Name its folder under `components:` of the outermost kustomization.",
        ("apiVersion: kustomize.config.k8s.io/v1alpha1", "kind: Component", "patches:"),
        2,
        guarded=True,
        hooks=True,
    ),
    "flux-helmrelease": PatchForm(
        "Written by `archfit patch`, for a HelmRelease.",
        ("spec:", "  postRenderers:", "    - kustomize:", "        patches:"),
        10,
    ),
    "flux-kustomization": PatchForm(
        "Written by `archfit patch`, for a Kustomization of Flux.", ("spec:", "  patches:"), 4
    ),
    "fleet": PatchForm(
        "Written by `archfit patch`. Name its folder in fleet.yaml, as in `kustomize: {dir: archfit}`.",
        ("apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "patches:"),
        2,
        guarded=True,
    ),
    "sveltos": PatchForm(
        "Written by `archfit patch`, for a ClusterProfile or Profile of Sveltos.",
        ("spec:", "  patches:"),
        4,
        anchored=True,
        template=True,
    ),
    "kubevela": PatchForm(
        "Written by `archfit patch`, for a component of KubeVela of type kustomize.",
        ("traits:", "  - type: kustomize-patch", "    properties:", "      patches:"),
        8,
    ),
}


def as_yaml(name: str, patches: Sequence[ObjectPatch]) -> bytes:
    """The patches in one of FORMS. patches: also of the objects that stay as they are; without `problems`."""
    form = FORMS[name]
    changing = [entry for entry in patches if entry.patch]
    shared = Counter(entry.ref.replace(namespace="") for entry in patches)
    lines = [f"# {form.about}", *form.head]
    if not changing:
        lines[-1] += " []"
    guards = []
    for entry in changing:
        alone = shared[entry.ref.replace(namespace="")] == 1
        namespace = entry.ref.namespace or ("" if alone else "default")
        target = _anchored if form.anchored else _pattern
        inside = [*block_member("target", target(entry.ref, namespace), 0, _STYLE), "patch: |-"]
        operations = _operations(entry.patch)
        if form.template:
            operations = [line.replace("{{", "{{`{{`}}") for line in operations]
        first, *rest = [" " * (form.column + 2) + line for line in (*inside, *operations)]
        lines += [" " * form.column + "- " + first.lstrip(), *rest]
        if form.guarded and (form.hooks or not entry.hook):
            guards.append(_guard(entry.ref, namespace))
    if guards:
        lines += [
            "# These change nothing, and fail where an object is gone.",
            *block({"replacements": guards}, 0, _STYLE),
        ]
    return "".join(line + "\n" for line in lines).encode()


def _guard(ref: ObjectRef, namespace: str) -> dict[str, Any]:
    return {
        "source": {**_target(ref, namespace), "fieldPath": "metadata.name"},
        "targets": [{"select": _pattern(ref, namespace), "fieldPaths": ["metadata.name"]}],
    }


def _target(ref: ObjectRef, namespace: str) -> dict[str, str]:
    group, _, version = ref.api_version.rpartition("/")
    fields = {"group": group, "version": version, "kind": ref.kind, "name": ref.name, "namespace": namespace}
    return {key: value for key, value in fields.items() if value}


def _pattern(ref: ObjectRef, namespace: str) -> dict[str, str]:
    return {key: _SPECIAL.sub(r"\\\g<0>", value) for key, value in _target(ref, namespace).items()}


def _anchored(ref: ObjectRef, namespace: str) -> dict[str, str]:
    """The same, for a reader that matches anywhere in a name, and for which no pattern means any group."""
    target = {"group": "", **_pattern(ref, namespace)}
    anchored = {key: f"^{value}$" for key, value in target.items()}
    if namespace and not ref.namespace:
        anchored["namespace"] = f"^({namespace})?$"
    return anchored


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
