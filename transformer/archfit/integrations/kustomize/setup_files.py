"""The files that make archfit a KRM function, as texts. Pure.

    kustomize   archfit.yaml        kind: ArchFit, with the annotation that says what to start
                kustomization       transformers: [archfit.yaml]
    kpt         archfit.yaml        kind: ArchFit, kept from the cluster by local-config; `stamp: true`
                Kptfile             pipeline.mutators: [{exec: archfit, configPath: archfit.yaml}]

Sources: kustomize, kyaml/fn/runtime/runtimeutil/functiontypes.go; kpt, api/kptfile/v1/types.go.
"""

from __future__ import annotations

from typing import Any

from archfit.options.file import API_VERSION, KIND

NAME = "archfit.yaml"
MARK = "# Written by `archfit setup {tool}`, once; it is yours now."
FUNCTION = "config.kubernetes.io/function"
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
TRANSFORMERS = ("transformers",)
MUTATORS = ("pipeline", "mutators")
MUTATOR = {"exec": "archfit", "configPath": NAME}


def kustomize_config(image: str) -> str:
    """The function's configuration. image: of a container that holds archfit, "" for the one on PATH."""
    if image:
        starts = f"      container:\n        image: {image}\n        network: true\n"
    else:
        starts = "      exec:\n        path: archfit\n"
    return _config("kustomize", f"    {FUNCTION}: |\n{starts}", "  clusterArchitectures: [amd64, arm64]\n")


def kpt_config() -> str:
    """The same for kpt, which finds its functions in the Kptfile, and writes what they return to the files."""
    return _config(
        "kpt",
        '    config.kubernetes.io/local-config: "true"\n',
        "  clusterArchitectures: [amd64, arm64]\n  stamp: true\n",
    )


def _config(tool: str, annotation: str, spec: str) -> str:
    head = f"apiVersion: {API_VERSION}\nkind: {KIND}\nmetadata:\n  name: archfit\n  annotations:\n"
    return f"{MARK.format(tool=tool)}\n{head}{annotation}spec:\n{spec}"


def is_function(value: Any) -> bool:
    """Whether an object is archfit's configuration as a function of kustomize."""
    return isinstance(value, dict) and value.get("kind") == KIND and bool(started_by(value))


def started_by(value: dict[str, Any]) -> str:
    """What the annotation says is to be started; "" without one."""
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
