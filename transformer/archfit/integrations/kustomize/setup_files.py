"""The files that make archfit a KRM function. Pure.

    kustomize   archfit.yaml        kind: ArchFit, with the annotation that says what to start
                kustomization       transformers: [archfit.yaml]
    kpt         archfit.yaml        kind: ArchFit, kept from the cluster by local-config; `stamp: true`
                Kptfile             pipeline.mutators: [{exec: archfit, configPath: archfit.yaml}]

Sources: kustomize, kyaml/fn/runtime/runtimeutil/functiontypes.go; kpt, api/kptfile/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from archfit.cli.setup.yaml_files import mapping, one_line, written
from archfit.options.config_file import API_VERSION, KIND

NAME = "archfit.yaml"
HEAD = "Written by `archfit setup {tool}`, once; it is yours now."
FUNCTION = "config.kubernetes.io/function"
TRANSFORMERS = ("transformers",)
MUTATORS = ("pipeline", "mutators")
MUTATOR = {"exec": "archfit", "configPath": NAME}


def kustomize_config(image: str, spec: Mapping[str, Any]) -> str:
    """The function's configuration. image: of a container that holds archfit, "" for the program on PATH."""
    container = mapping(container=mapping(image=image, network=True))
    start = container if image else mapping(exec=mapping(path="archfit"))
    return krm_config("kustomize", {FUNCTION: LiteralScalarString(written(start))}, spec)


def kpt_config(spec: Mapping[str, Any]) -> str:
    """The same for kpt, which finds its functions in the Kptfile, and writes what they return to the files."""
    local = {"config.kubernetes.io/local-config": DoubleQuotedScalarString("true")}
    return krm_config("kpt", local, {"stamp": True, **spec})


def krm_config(tool: str, annotations: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """An ArchFit object. annotations: how the tool starts it. spec: what it says beside the usual architectures."""
    data = mapping(
        apiVersion=API_VERSION,
        kind=KIND,
        metadata=mapping(name="archfit", annotations=mapping(**annotations)),
        spec=mapping(**{"clusterArchitectures": one_line(["amd64", "arm64"]), **spec}),
    )
    data.yaml_set_start_comment(HEAD.format(tool=tool))
    return written(data)


def kptfile(program: str) -> str:
    """The Kptfile of a package for --check. program: what the user's Kptfile starts."""
    return written(
        mapping(
            apiVersion="kpt.dev/v1",
            kind="Kptfile",
            metadata=mapping(name="check"),
            pipeline=mapping(mutators=[mapping(exec=program)]),
        )
    )


def is_function(value: Any) -> bool:
    """Whether an object is archfit's configuration as a function of kustomize."""
    return isinstance(value, dict) and value.get("kind") == KIND and bool(started_by(value))


def started_by(value: dict[str, Any]) -> str:
    """The annotation that says how the function is started; "" without one."""
    metadata = value.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict):
        return ""
    text = annotations.get(FUNCTION) or annotations.get("config.k8s.io/function")
    return text if isinstance(text, str) else ""


def is_mutator(value: Any) -> bool:
    """Whether an entry of a Kptfile's pipeline starts archfit."""
    if not isinstance(value, dict):
        return False
    words = str(value.get("exec") or "").split()
    image = str(value.get("image") or "")
    return bool(words and words[0].rpartition("/")[2] == "archfit") or "archfit" in image.rpartition("/")[2]
