"""What Argo CD hands its plugin about an application: how to render it, and how to place its pods.

    ARGOCD_APP_PARAMETERS    spec.source.plugin.parameters as JSON, [{name, string | array | map}]; `null` without
                             parameters, absent without a plugin block
    ARGOCD_ENV_<NAME>        spec.source.plugin.env: ROWS in capitals, or ARCHFIT_AFFINITY, .. for a key of `spec:`
    ARGOCD_APP_NAME, ARGOCD_APP_NAMESPACE, KUBE_VERSION, KUBE_API_VERSIONS    what Argo CD knows itself

A parameter wins over the environment. PARAM_* repeats the parameters and is not read. Everything here comes from the
application, so it cannot set options of `operator:`; an ARCHFIT_ variable without the prefix ARGOCD_ENV_ is the
sidecar's own. Source: argo-cd v3.5.1, docs/operator-manual/config-management-plugins.md and
pkg/apis/application/v1alpha1/types.go (Environ).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from archfit.base.errors import Problem, UsageError
from archfit.base.spelling import nearest
from archfit.integrations.argocd.source_parameters import (
    BY_NAME,
    ROWS,
    ApplicationSource,
    Parameter,
    field_value,
    shown,
)
from archfit.options.settings import Given, Layer
from archfit.options.table import BY_KEY, CONFIG_VARIABLE, OPERATOR, SPEC, VARIABLE_PREFIX, Option
from archfit.startup.record import Record
from archfit.yaml.config_yaml import parse_config

PARAMETERS = "ARGOCD_APP_PARAMETERS"
PREFIX = "ARGOCD_ENV_"
# Argo CD renders again when the application changes: an application changes this variable to have that.
RENDER_AGAIN = "ARCHFIT_RECIPE"
# A variable that is none of archfit's may serve another program; this likeness is a misspelt one: VALUES_FILE.
_NEARLY = 0.85
_SHAPES = ("string", "array", "map")
_EXAMPLE = '[{"name": "values-files", "array": ["values.yaml"]}]'


class Application(Record):
    """How to render an application, and its options of placement, None where it gives none."""

    source: ApplicationSource
    placement: Layer | None


def application_of(environ: Mapping[str, str]) -> Application:
    """What Argo CD's variables say of the application. Raises UsageError."""
    rendered = _facts(environ)
    placing: dict[str, Given] = {}
    for name, given, where in (*_from_environment(environ), *_from_parameters(environ.get(PARAMETERS, ""))):
        try:
            row = BY_NAME.get(name)
            if row:
                rendered[row.field] = field_value(row, given)
            else:
                placing[name] = Given(_option_value(BY_KEY[name], given), where)
        except Problem as problem:
            raise UsageError(f"{where}: {problem.message}") from None
    names = ", ".join(given.where for given in placing.values())
    return Application(
        ApplicationSource(**rendered),  # type: ignore[arg-type]  # the rows' shapes give each field its type; tested
        Layer(f"the Argo CD application ({names})", placing) if placing else None,
    )


def _facts(environ: Mapping[str, str]) -> dict[str, object]:
    """What Argo CD says of the application and its destination. An application outside of Argo CD's namespace is called
    NAMESPACE_NAME; its release is called NAME, as in Argo CD itself.
    """
    return {
        "release_name": environ.get("ARGOCD_APP_NAME", "").rpartition("_")[2],
        "namespace": environ.get("ARGOCD_APP_NAMESPACE", ""),
        "kube_version": environ.get("KUBE_VERSION", ""),
        "api_versions": tuple(name for name in environ.get("KUBE_API_VERSIONS", "").split(",") if name),
    }


def _from_environment(environ: Mapping[str, str]) -> Iterable[tuple[str, Parameter, str]]:
    """(name, value, where) for each variable of spec.source.plugin.env that archfit reads. Raises UsageError."""
    ours = {row.variable: row.name for row in ROWS} | {
        option.variable: option.key for option in SPEC if option.variable
    }
    trusted = {option.variable for option in OPERATOR} | {CONFIG_VARIABLE}
    for full in sorted(environ):
        variable = full.removeprefix(PREFIX)
        if variable == full or not environ[full].strip():
            continue
        if variable in trusted:
            raise UsageError(f"{full}: {_not_here(variable)}")
        if variable in ours:
            yield ours[variable], environ[full], full
            continue
        own = variable.startswith(VARIABLE_PREFIX)
        near = nearest(variable, [*ours, *trusted, RENDER_AGAIN], 0.7 if own else _NEARLY)
        if variable != RENDER_AGAIN and (own or near):
            raise Problem(
                f"{full}: there is no such variable: {f'write {PREFIX}{near}, or ' if near else ''}leave it out"
            )


def _from_parameters(text: str) -> Iterable[tuple[str, Parameter, str]]:
    """(name, value, where) for each parameter. Raises UsageError."""
    try:
        parameters = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        raise UsageError(f"{PARAMETERS}: is not JSON: write a list, as {_EXAMPLE}") from None
    if not isinstance(parameters, list | None):
        raise UsageError(f"{PARAMETERS}: is not a list: write it as {_EXAMPLE}")
    seen: set[str] = set()
    for number, entry in enumerate(parameters or (), 1):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            raise UsageError(f"{PARAMETERS}: entry {number} has no name: write it as {_EXAMPLE}")
        where = f"parameter {shown(name)}"
        if name in seen:
            raise UsageError(f"{where}: is given twice: leave one out")
        seen.add(name)
        if name not in BY_NAME and (name not in BY_KEY or BY_KEY[name].part != "spec"):
            raise UsageError(f"{where}: {_unknown(name)}")
        yield name, _value(entry, where), where


def _value(entry: dict[str, object], where: str) -> Parameter:
    """The one value of a parameter. Raises UsageError."""
    given = [shape for shape in _SHAPES if entry.get(shape) is not None]
    if len(given) != 1 or entry.keys() - {"name", *_SHAPES}:
        raise UsageError(f"{where}: needs its value under one of string, array and map, and nothing else")
    match entry[given[0]]:
        case str(text) if given == ["string"]:
            return text
        case list(items) if given == ["array"] and all(isinstance(item, str) for item in items):
            return tuple(items)
        case dict(pairs) if given == ["map"] and all(isinstance(item, str) for item in pairs.values()):
            return pairs
    raise UsageError(f"{where}: {given[0]} has to be {_WRITTEN[given[0]]}")


_WRITTEN = {
    "string": "a text",
    "array": "a list of texts",
    "map": "a mapping of texts, with numbers in quotes",
}


def _unknown(name: str) -> str:
    operator = {text for option in OPERATOR for text in (option.key, option.name, option.variable)}
    if name in operator | {"enforced", "operator", "config", CONFIG_VARIABLE}:
        return _not_here(name)
    near = nearest(name, [*BY_NAME, *(option.key for option in SPEC)])
    return f"there is no such parameter: {f'write {near}' if near else 'see `archfit argocd --help`'}"


def _not_here(name: str) -> str:
    return (
        f"an application may choose placement, but only the operator may set {name}: set it in the environment of "
        "Argo CD's sidecar"
    )


def _option_value(option: Option, given: Parameter) -> object:
    """The option's value. Raises Problem."""
    if option.file_only:
        if not isinstance(given, str):
            raise Problem("has to be a string that holds YAML, as in the configuration file")
        return option.type.data(parse_config(given).values)
    if isinstance(given, str):
        if not given.strip():
            raise Problem("is empty: write a value, or leave it out")
        return option.type.text(option.divided(given))
    if not isinstance(option.default, dict if isinstance(given, dict) else list):
        raise Problem(f"has to be {_WANTED.get(type(option.default), 'a string')}")
    items = [f"{key}={value}" for key, value in given.items()] if isinstance(given, dict) else list(given)
    return option.type.text((items or ["none"]) if option.repeatable else [",".join(items) or "none"])


_WANTED: dict[type, str] = {dict: "a map", list: "an array"}
