"""Documents that are not Kubernetes objects, or not YAML, and the remedy for each.

Kustomizations inside of a list are files of a package that a KRM function is given, and pass. The text itself is never
quoted: it may be part of a Secret.
"""

from __future__ import annotations

import re

from archfit.base.patch import Path
from archfit.base.results import Severity
from archfit.workloads.builtin import LISTS, group_of
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

KUSTOMIZE_GROUP = "kustomize.config.k8s.io"
_KUSTOMIZE_KINDS = ("Kustomization", "Component")
_LIST_DEPTH = 16
_KUSTOMIZATION = frozenset(
    ("resources", "bases", "components", "patches", "patchesStrategicMerge", "helmCharts")
)

CHART = "this is the source of a Helm chart. Render it first: helm template CHART | archfit"
KUSTOMIZATION = (
    "this is a kustomization: it names files and is not an object of a cluster. Build it first: "
    "kustomize build FOLDER | archfit"
)
OTHER_COMMAND = "Is it an error message of the command before the pipe? Run that command alone"
NO_OBJECT = "Is it the values of a chart, or a file of another tool? Name rendered manifests"


def non_objects(value: Any, path: Path = (), *, item: bool = False) -> Iterator[tuple[Path, Severity, str]]:
    """(path, severity, message) of each document, or item of lists in it, that is no object and not null.

    item: it is an item of a list itself.
    """
    if value is None:
        return
    if isinstance(value, list):
        yield path, "error", "this is a list, not a Kubernetes object. Put each object behind a line '---'"
        return
    if not isinstance(value, dict):
        yield path, "error", f"this is text, not a Kubernetes object. {OTHER_COMMAND}"
        return
    problem = _mapping(value, item=item or bool(path))
    if problem is not None:
        yield path, *problem
    elif _is_list(value) and len(path) < 2 * _LIST_DEPTH:
        for number, inner in enumerate(value["items"]):
            yield from non_objects(inner, (*path, "items", number))


def _is_list(value: dict[str, Any]) -> bool:
    """Whether its items say their own kind; those of a PodList need not."""
    group, kind = group_of(text_of(value.get("apiVersion"))), text_of(value.get("kind"))
    return (
        (group, kind) in LISTS and kind in ("List", "ResourceList") and isinstance(value.get("items"), list)
    )


def _mapping(value: dict[str, Any], *, item: bool) -> tuple[Severity, str] | None:
    kind, api_version = text_of(value.get("kind")), text_of(value.get("apiVersion"))
    if not item:
        named = group_of(api_version) == KUSTOMIZE_GROUP and kind in _KUSTOMIZE_KINDS
        fields = (value.get(key) for key in _KUSTOMIZATION if not kind and not api_version)
        if named or any(isinstance(field, list) for field in fields):
            return "error", KUSTOMIZATION
        if not kind and api_version in ("v1", "v2") and value.get("name") and value.get("version"):
            return "error", CHART
    if value.get("kind") or value.get("apiVersion"):
        if not isinstance(value.get("items"), (list, type(None))):
            return (
                "error",
                "its items are no list: kubectl takes every object with items for a list, so it refuses this one",
            )
        return None
    if any(isinstance(member, (dict, list)) for member in value.values()):
        return "warning", f"passed through: it has neither apiVersion nor kind. {NO_OBJECT}"
    return "error", f"this is not a Kubernetes object: it has neither apiVersion nor kind. {OTHER_COMMAND}"


_CONFLICT = re.compile(rb"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE).search
_BEGINS_ACTION = (
    rb"[.$]|(?:block|define|else|end|fail|if|include|lookup|range|required|template|toYaml|tpl|with)\b"
)
# `{{ .Values.a }}`, `{{- if ..`: actions of Go templates; `{{inputs.parameters.a}}` is Argo's.
_ACTION = re.compile(rb"\{\{-?[ \t]*(?:" + _BEGINS_ACTION + rb")").search

# `Error: INSTALLATION FAILED: ..`, `panic: ..`, `bash: helm: command not found`
_ERROR = re.compile(rb"\s*(?:(?i:error|fatal|panic|warning|traceback)\b[^\n:]*|(?:ba|da|fi|k|z)?sh):").match
_INDENTATION = "The indentation does not fit the lines above: indent members of one object alike, with blanks"
_REMEDIES = (
    ("tab character", "Indent with blanks: YAML takes no tabs"),
    (
        "cannot start any token",
        "A tab or a mark such as @ or ` begins here: indent with blanks, and put such a text in quotes",
    ),
    ("mapping values are not allowed", "Put a text that holds ': ' in quotes, or correct the indentation"),
    ("while scanning a quoted scalar", "Close the quote, and double a ' inside of '..'"),
    ("found unexpected ':'", "Put a value in brackets that ends in ':' in quotes"),
    ("while scanning a tag", "Write a blank behind the tag"),
    ("is not allowed in it", "Write it as an escape in double quotes, such as \\u007F"),
    ("did not find expected ',' or", "Add the comma or the bracket that is missing"),
    ("did not find expected key", _INDENTATION),
    ("did not find expected '-' indicator", _INDENTATION),
    (
        "could not find expected ':'",
        "Write ': ' behind the key, or indent the line as part of the text above",
    ),
)


def is_chart_source(text: bytes) -> bool:
    """Whether a text holds actions of Go templates, as the files of a chart do before they are rendered."""
    return _ACTION(text) is not None


def is_error_message(text: bytes) -> bool:
    """Whether a text begins as messages of commands do: `Error: INSTALLATION FAILED: ..`, `error: ..`."""
    return _ERROR(text) is not None


def remedy(problem: str, text: bytes) -> str:
    """A sentence, "" where nothing is known. problem: the parser's words. text: of the document."""
    if _CONFLICT(text):
        return "The file has git's conflict markers: resolve the conflict first"
    if b"\0" in text:
        order = "BE" if text.startswith(b"\0") else "LE"
        return f"It looks like UTF-16 or a binary file. Convert UTF-16: iconv -f UTF-16{order} -t UTF-8 FILE > NEW"
    if text.lstrip().startswith(b"{") and "expected <document start>" in problem:
        return 'Put JSON objects into one list: jq -s \'{apiVersion: "v1", kind: "List", items: .}\''
    return next((advice for words, advice in _REMEDIES if words in problem), "")
