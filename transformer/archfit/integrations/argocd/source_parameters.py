"""How an application of Argo CD is rendered: the parameters for that (ROWS), and the arguments that Helm gets.

Every value is checked and written in one word with its flag, so that none can become a flag of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from archfit.base.errors import Problem
from archfit.startup.record import Record

Shape: TypeAlias = "Literal['string', 'array', 'map', 'boolean']"
Parameter: TypeAlias = str | tuple[str, ...] | dict[str, str]

# helm.sh/helm/v4, pkg/chart/common/util/validate_name.go: a release's name is a DNS label of at most 53 characters.
_RELEASE = re.compile(r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?", re.ASCII).fullmatch
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII).fullmatch
_VERSION = re.compile(r"v?[0-9]+(\.[0-9]+){0,2}([-+][0-9A-Za-z.+-]+)?", re.ASCII).fullmatch
_API = re.compile(r"[A-Za-z0-9][A-Za-z0-9./-]*", re.ASCII).fullmatch
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")
SOURCES = ("helm", "kustomize", "directory")


class Row(Record):
    """A parameter about rendering. field: of ApplicationSource. help: for people, and for Argo CD's page."""

    name: str
    shape: Shape
    field: str
    help: str

    @property
    def variable(self) -> str:
        """Its name in spec.source.plugin.env."""
        return self.name.upper().replace("-", "_")


ROWS = (
    Row("source-type", "string", "renderer", "Renderer: helm, kustomize or directory; by default the files decide."),
    Row("values-files", "array", "values_files", "Helm: values files of the repository, the last one wins."),
    Row("values", "string", "values", "Helm: values as YAML; they win over values files."),
    Row("helm-parameters", "map", "parameters", "Helm: single values, as --set takes them; they win over all values."),
    Row("helm-string-parameters", "map", "string_parameters", "Helm: single values that stay text (--set-string)."),
    Row("release-name", "string", "release_name", "Helm: the release's name; by default the application's."),
    Row("namespace", "string", "namespace", "Helm: the release's namespace; by default the destination's."),
    Row("kube-version", "string", "kube_version", "Helm: the Kubernetes version; by default the destination's."),
    Row("api-versions", "array", "api_versions", "Helm: the API versions; by default the destination's."),
    Row("skip-crds", "boolean", "skip_crds", "Helm: leaves out the chart's crds/ folder."),
    Row("skip-tests", "boolean", "skip_tests", "Helm: leaves out the chart's test hooks."),
    Row("directory-recurse", "boolean", "recurse", "Directory: reads the folders below as well."),
    Row("directory-include", "string", "include", "Directory: only files whose path matches this glob."),
    Row("directory-exclude", "string", "exclude", "Directory: no files whose path matches this glob."),
)  # fmt: skip
BY_NAME = {row.name: row for row in ROWS}


class ApplicationSource(Record):
    """How to render an application. "" and () leave it to the renderer; see ROWS."""

    renderer: str = ""
    values_files: tuple[str, ...] = ()
    values: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    string_parameters: tuple[tuple[str, str], ...] = ()
    release_name: str = ""
    namespace: str = ""
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    skip_crds: bool = False
    skip_tests: bool = False
    recurse: bool = False
    include: str = ""
    exclude: str = ""


def helm_arguments(source: ApplicationSource) -> list[str]:
    """What follows `helm template`, for the chart in the working directory. Every value is part of its flag.

    Standard input is `yaml.values`. A comma belongs to the value, as in Argo CD (util/helm/cmd.go).
    """
    arguments = [source.release_name, "."] if source.release_name else ["."]
    arguments += [f"--namespace={source.namespace}"] if source.namespace else []
    arguments += [f"--kube-version={source.kube_version}"] if source.kube_version else []
    arguments += [f"--values={name}" for name in source.values_files]
    arguments += ["--values=-"] if source.values else []
    arguments += [f"--set={key}={_escaped(value)}" for key, value in source.parameters]
    arguments += [f"--set-string={key}={_escaped(value)}" for key, value in source.string_parameters]
    arguments += [f"--api-versions={name}" for name in source.api_versions]
    arguments += [] if source.skip_crds else ["--include-crds"]
    return arguments + (["--skip-tests"] if source.skip_tests else [])


def _escaped(value: str) -> str:
    return value if value.startswith("{") and value.endswith("}") else _UNESCAPED_COMMA.sub(r"\\,", value)


def field_value(row: Row, given: Parameter) -> object:
    """The parameter's value, as the field of ApplicationSource has it. Raises Problem."""
    for text in _texts(given):
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise Problem(
                f"{shown(text)} cannot be used: write it without NUL and half characters (surrogates)"
            )
    if row.shape == "map":
        return tuple(_pairs(given))
    if row.shape == "array":
        items = tuple(given.split()) if isinstance(given, str) else given
        if not isinstance(items, tuple):
            raise Problem("has to be an array")
        for item in items:
            if row.name == "api-versions" and not _API(item):
                raise Problem(f"{shown(item)} is not an API version: write it as apps/v1")
        return items
    if not isinstance(given, str):
        raise Problem("has to be a string")
    text = given if row.name == "values" else given.strip()
    if row.shape == "boolean":
        if text not in {"true", "false", ""}:
            raise Problem(f"{shown(text)} is not a boolean: write true or false")
        return text == "true"
    known, example = _CHECKS.get(row.name, (bool, ""))
    if text and not known(text):
        raise Problem(f"{shown(text)} cannot be used: write {example}")
    return text


def _texts(given: Parameter) -> Iterable[str]:
    if isinstance(given, dict):
        return (*given, *given.values())
    return (given,) if isinstance(given, str) else given


_CHECKS: dict[str, tuple[Callable[[str], object], str]] = {
    "source-type": (lambda text: text in SOURCES, f"one of {', '.join(SOURCES)}"),
    "release-name": (_RELEASE, "a DNS label of at most 53 characters, as web"),
    "namespace": (_NAMESPACE, "a DNS label, as shop"),
    "kube-version": (_VERSION, "a version, as 1.33.0"),
}


def _pairs(given: Parameter) -> Iterable[tuple[str, str]]:
    """Keys and values of a map, which the environment writes as `KEY=VALUE KEY=VALUE`. Raises Problem."""
    if isinstance(given, dict):
        pairs = list(given.items())
    elif isinstance(given, str):
        pairs = [(key, value) for key, _, value in (word.partition("=") for word in given.split())]
    else:
        raise Problem("has to be a map")
    for key, value in sorted(pairs):
        if not key or "=" in key or "," in key:
            raise Problem(f"{shown(key)} cannot be a key: write it as image.tag")
        yield key, value


def shown(text: str) -> str:
    """A piece of an application's text for a message: short, quoted, on one line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
