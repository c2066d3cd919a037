"""Argo CD's installations other than plain manifests: the files of `archfit setup argocd --form helm-values|operator`.

    DIR/sidecar/values.yaml            helm-values    values of the chart argo-cd (argo-helm)
    DIR/sidecar/argocd.yaml            operator       an ArgoCD resource (argocd-operator), and
    DIR/sidecar/configmap.yaml                        the ConfigMap that its sidecar mounts
    DIR/build-options/..               the same for archfit as a function in repo-server
    DIR/application.yaml, DIR/archfit-function.yaml   to copy

The parts are those of the Kustomize components. Without a file of the user's they go into files/FORM/WAY.yaml; with
one, into that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import LiteralScalarString

from archfit.errors import ArchfitError
from archfit.integrations.argocd.install_merge import Merge, NoPlace, Parts, Places, without_comments
from archfit.integrations.yaml_files import mapping, parsed, shipped, written
from archfit.record import Record

WAYS = ("sidecar", "build-options")
FOLDER = "/archfit-tools/archfit"
_NEVER_WRAP = 4096
# A key, and the dash of the first item below it.
_DASHES = re.compile(r"^( *)[^\s#-][^\n]*:(?: *| +#[^\n]*)\n(?: *(?:#[^\n]*)?\n)*( *)- ", re.MULTILINE)
_INDENTS = re.compile(r"^( +)[^\s#-]", re.MULTILINE)
_SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
_WITH_COMMENTS = ("containers", "init_containers", "volumes", "mounts", "env", "others")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class InstallForm(Record):
    """A form. file: its name in the folder of a way. kind: of the resource, "" where the file is no resource."""

    name: str
    file: str
    kind: str
    places: Places


HELM_VALUES = InstallForm(
    "helm-values",
    "values.yaml",
    "",
    Places(
        containers=("repoServer", "extraContainers"),
        init_containers=("repoServer", "initContainers"),
        volumes=("repoServer", "volumes"),
        mounts=("repoServer", "volumeMounts"),
        env=("repoServer", "env"),
        options=("configs", "cm"),
        more_env=(("global", "env"),),
    ),
)
OPERATOR = InstallForm(
    "operator",
    "argocd.yaml",
    "ArgoCD",
    Places(
        containers=("spec", "repo", "sidecarContainers"),
        init_containers=("spec", "repo", "initContainers"),
        volumes=("spec", "repo", "volumes"),
        mounts=("spec", "repo", "volumeMounts"),
        env=("spec", "repo", "env"),
        options=("spec", "extraConfig"),
        option_field=("spec", "kustomizeBuildOptions"),
    ),
)
FORMS = {form.name: form for form in (HELM_VALUES, OPERATOR)}


class Made(Record):
    """What became of one way's file. text: "" where a conflict prevents it. added: paths, kept: sentences."""

    text: str
    added: tuple[str, ...]
    kept: tuple[str, ...]
    conflicts: tuple[str, ...]


def parts(form: InstallForm, way: str, manifests: Mapping[str, str], *, image_given: bool) -> Parts:
    """What a way adds in a form. manifests: the files of the form `manifests`, by path."""
    spec = parsed(manifests[f"{way}/repo-server.yaml"])["spec"]["template"]["spec"]
    if way == "sidecar":
        [container] = spec["containers"]
        volumes = list(spec["volumes"])
        if form is HELM_VALUES:
            return _chart_sidecar(container, volumes, manifests, image_given=image_given)
        # OpenShift gives each namespace its own user, and the image names user 999.
        del container["securityContext"]["runAsUser"]
        return Parts(containers=(container,), volumes=tuple(volumes), image_given=image_given)
    [copying], [server] = spec["initContainers"], spec["containers"]
    path, *env = server["env"]
    if form is OPERATOR:
        del copying["securityContext"]["runAsUser"]
    return Parts(
        init_containers=(copying,),
        volumes=tuple(spec["volumes"]),
        mounts=tuple(server["volumeMounts"]),
        env=tuple(env),
        path=FOLDER,
        default_path=path["value"].partition(":")[2],
        options=True,
        image_given=image_given,
        others=(
            ((("extraObjects",), [_config_map("archfit-function", manifests, "build-options")]),)
            if form is HELM_VALUES
            else ()
        ),
    )


def _chart_sidecar(
    container: Any, volumes: list[Any], manifests: Mapping[str, str], *, image_given: bool
) -> Parts:
    """The chart writes plugin.yaml itself, into the ConfigMap argocd-cmp-cm, and restarts the pods when it changes."""
    for mount in container["volumeMounts"]:
        if mount["mountPath"] == "/etc/archfit":
            mount["name"] = "archfit-configuration"
    for volume in volumes:
        if volume["name"] == "archfit-plugin":
            volume["configMap"] = mapping(
                name="argocd-cmp-cm", items=[mapping(key="archfit.yaml", path="plugin.yaml")]
            )
    volumes.append(mapping(name="archfit-configuration", configMap=mapping(name="archfit")))
    plugin = parsed(manifests["sidecar/plugin.yaml"])["spec"]
    return Parts(
        containers=(container,),
        volumes=tuple(volumes),
        image_given=image_given,
        others=(
            (("configs", "cmp", "create"), True),
            (("configs", "cmp", "plugins", "archfit"), plugin),
            (("extraObjects",), [_config_map("archfit", manifests, "sidecar")]),
        ),
    )


def _config_map(name: str, manifests: Mapping[str, str], way: str, *files: str) -> CommentedMap:
    names = files or ("archfit.yaml",)
    return mapping(
        apiVersion="v1",
        kind="ConfigMap",
        metadata=mapping(name=name),
        data=mapping(**{one: LiteralScalarString(manifests[f"{way}/{one}"]) for one in names}),
    )


def make(
    form: InstallForm,
    way: str,
    manifests: Mapping[str, str],
    user: str | None,
    *,
    image_given: bool,
    force: bool,
) -> Made:
    """One way's file. user: the text of the user's file, None for none. Raises ArchfitError."""
    needed = parts(form, way, manifests, image_given=image_given)
    if user is None:
        return Made(_new(form, way, needed), (), (), ())
    data, dump = read(user, form)
    _without_server_fields(data)
    # A comment keeps the column that it has in archfit's own file.
    needed = needed.replace(**{name: without_comments(getattr(needed, name)) for name in _WITH_COMMENTS})
    try:
        merge = Merge(data, form.places, needed, force=force)
    except NoPlace as error:
        raise ArchfitError(f"the file of --merge cannot be used: {error}. Correct it") from None
    if form is HELM_VALUES and way == "build-options" and _is_off(data):
        merge.conflicts.append(
            "configs.cm.create is false, so the chart writes no argocd-cm: add the options to yours"
        )
    text = "" if merge.conflicts else dump(data)
    return Made(text, tuple(merge.added), tuple(merge.kept), tuple(merge.conflicts))


def _new(form: InstallForm, way: str, needed: Parts) -> str:
    """The file where the user has none: a head of comments, and for a resource its first lines."""
    head = shipped(__package__, f"{form.name}/{way}.yaml")
    data = parsed(head)
    head = head if data is None else ""
    data = CommentedMap() if data is None else data
    Merge(data, form.places, needed)
    lines = (head + written(data)).splitlines(keepends=True)
    column = 0
    for number in reversed(range(len(lines))):
        text = lines[number].lstrip(" ")
        if text.startswith("#"):
            lines[number] = " " * column + text
        else:
            column = len(lines[number]) - len(text)
    return "".join(lines)


def _is_off(data: Any) -> bool:
    settings = (data.get("configs") or {}).get("cm") or {}
    return settings.get("create") is False


def operator_config_map(way: str, manifests: Mapping[str, str]) -> dict[str, str]:
    """The ConfigMap that an ArgoCD resource mounts, by the path of its file."""
    name, *files = (
        ("archfit-plugin", "plugin.yaml", "archfit.yaml")
        if way == "sidecar"
        else ("archfit-function", "archfit.yaml")
    )
    data = _config_map(name, manifests, way, *files)
    data["metadata"]["namespace"] = "argocd"
    data["metadata"].yaml_add_eol_comment("the namespace of the ArgoCD resource", "namespace")
    return {f"{way}/configmap.yaml": written(data)}


def read(text: str, form: InstallForm) -> tuple[Any, Callable[[Any], str]]:
    """(the user's data, what writes it with the user's indents). Raises ArchfitError."""
    try:
        data = parsed(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it holds several documents"
        raise ArchfitError(f"the file of --merge{line} cannot be read: {problem}") from None
    data = CommentedMap() if data is None else data
    step = min((len(blanks) for blanks in _INDENTS.findall(text)), default=2)
    dashes = _DASHES.search(text)
    dash = max(len(dashes[2]) - len(dashes[1]), 0) if dashes else step
    if form.kind:
        data = _resource(data, form.kind)
    elif not isinstance(data, dict):
        raise ArchfitError("the file of --merge is not a values file: it is not a mapping")

    def dump(data: Any) -> str:
        yaml = YAML()
        yaml.indent(mapping=step, sequence=2 + dash, offset=dash)
        yaml.width = _NEVER_WRAP
        yaml.preserve_quotes = True
        out = StringIO()
        yaml.dump(data, out)
        return out.getvalue()

    return data, dump


def _resource(data: Any, kind: str) -> Any:
    found = data.get("items") if isinstance(data, dict) and data.get("kind") == "List" else [data]
    ours = [one for one in found or [] if isinstance(one, dict) and one.get("kind") == kind]
    if len(ours) != 1:
        raise ArchfitError(
            f"the file of --merge holds {len(ours)} resources of kind {kind}: give it one, as "
            f"kubectl get {kind.lower()} NAME -n NAMESPACE -o yaml | archfit setup argocd --form operator --merge -"
        )
    return ours[0]


def _without_server_fields(data: Any) -> None:
    """What the API server wrote into an object of `kubectl get`."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict) or "uid" not in metadata:
        return
    data.pop("status", None)
    for key in _SERVER_FIELDS:
        metadata.pop(key, None)
    notes = metadata.get("annotations")
    if isinstance(notes, dict):
        notes.pop(_APPLIED, None)
        if not notes:
            del metadata["annotations"]
