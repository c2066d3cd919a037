"""`archfit argocd generate|parameters|discover`: what Argo CD's plugin.yaml starts, in an application's folder.

    generate      application ─ renderer ─ blank? ─ transform ─ stdout, all at once     exit 0
                                │ failed     │ yes              empty stdout            exit 1
    parameters    a JSON list: what the application's page offers
    discover      the word helm, kustomize or directory, or nothing where there is nothing to render

Trust: flags and ARCHFIT_* variables come with the sidecar and are the operator's; ARGOCD_* is the application's. The
working directory is the application's as well, so the operator's own paths are absolute. A registry on a private or
loopback address is asked only where the operator names the host, because the application chooses its images.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, TextIO

from archfit.base.errors import ArchfitError, UsageError
from archfit.base.files import read_file
from archfit.base.spelling import refused
from archfit.cli.usage.command_table import BY_NAME
from archfit.explain.verbose import verbose_lines
from archfit.integrations.argocd.plugin_environment import application_of
from archfit.integrations.argocd.renderer_process import end_on_term, hold_term, rendered
from archfit.integrations.argocd.renderers import Renderers, command_of, is_empty, plain_files, renderer_of
from archfit.integrations.argocd.repository import check_inside, check_links, check_values, root_of
from archfit.integrations.argocd.source_parameters import ROWS, ApplicationSource, Row
from archfit.options.arguments import parse
from archfit.options.hosts import CACHE
from archfit.options.layers import load
from archfit.options.option_types import PATH, SWITCH
from archfit.options.settings import Given, Layer, Options, Settings
from archfit.options.table import CONFIG_FLAG, CONFIG_VARIABLE, OPERATOR, SPEC, Option, default_text
from archfit.run import Run
from archfit.yaml.json_output import json_output

_PATH_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE")
# Argo CD deletes an application that renders nothing, and recreates hooks.
_FALLBACK = Layer("default of archfit argocd (hooks)", {"hooks": Given("recreated", "archfit argocd")})


def generate(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the word `argocd`. The exit code; raises ArchfitError."""
    match argv:
        case ["generate", *rest]:
            return _generate(rest, stdout, stderr, environ)
        case ["parameters", *rest]:
            settings, _ = _settings(rest, environ)
            stdout.write(json_output(announcement(settings.options), indent=None))
            return 0
        case ["discover", *rest]:
            stdout.write(f"{renderer_of(application_of(environ).source)}\n".strip().encode())
            return 0
        case [word, *_] if not word.startswith("-"):
            raise UsageError(f"archfit argocd: {refused(word, BY_NAME['argocd'].words)}")
    raise UsageError("write archfit argocd generate, archfit argocd parameters or archfit argocd discover")


def _generate(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    end_on_term()
    application = application_of(environ)
    source = application.source
    settings, programs = _settings(argv, environ, application.placement)
    root = root_of(environ)
    check_values(source.values_files, root)
    renderer = renderer_of(source)
    if not renderer:
        raise ArchfitError(
            "there is nothing to render here: no Chart.yaml, no kustomization.yaml, and no .yaml, .yml or .json file. "
            "Correct the application's path, or set the parameter directory-recurse to true to read folders below it"
        )
    if renderer == "directory":
        data, left_out = plain_files(source, root)
        for line in left_out:
            stderr.write(f"{line}\n")
    else:
        check_links(root if programs.dependencies and renderer == "helm" else ".", root)
        data = _rendered(renderer, source, programs, stderr, environ)
    if settings.options.on_blank == "fail" and is_empty(data):
        raise ArchfitError(
            f"{_SHOWN[renderer]} printed no manifests. Argo CD would delete everything that the application deployed. "
            "To allow that, set the application's parameter onBlank to pass"
        )
    working = Run(
        "archfit argocd generate", settings, environ, stderr, explain=verbose_lines, named_hosts_only=True
    )
    try:
        return working.transform(data, stdout, before_output=hold_term)
    finally:
        working.close()


_SHOWN = {"helm": "helm template", "kustomize": "kustomize build", "directory": "the application's folder"}


def _rendered(
    renderer: str, source: ApplicationSource, programs: Renderers, stderr: TextIO, environ: Mapping[str, str]
) -> bytes:
    """What the renderer printed. Raises ArchfitError where it failed."""
    if renderer == "helm" and programs.dependencies and os.path.isfile("Chart.yaml"):
        rendered([programs.helm, "dependency", "build", "."], environ, "helm dependency build")
    values = source.values.encode() if renderer == "helm" else b""
    stdout, messages = rendered(command_of(renderer, source, programs), environ, _SHOWN[renderer], values)
    stderr.write(messages)
    return stdout


def settings_of(environ: Mapping[str, str]) -> Settings:
    """The operator's settings, without any application. Raises UsageError."""
    return _settings((), environ)[0]


def _settings(
    argv: Sequence[str], environ: Mapping[str, str], placement: Layer | None = None
) -> tuple[Settings, Renderers]:
    """The settings of operator and application together. placement: the application's. Raises UsageError."""
    flags, programs = _flags(argv)
    config = (flags[1] if flags else None) or environ.get(CONFIG_VARIABLE, "")
    if config and not os.path.isabs(config):
        named_by = CONFIG_FLAG if flags and flags[1] else CONFIG_VARIABLE
        raise UsageError(
            f"{named_by}: {config!r} would be read from the application's repository: write the absolute path of the "
            "operator's file"
        )
    given = placement.given if placement else {}
    settings = load((), environ, read_file, application=placement, flags=flags, fallback=_FALLBACK)
    _check_paths(settings, environ)
    if "lockFile" in given or "locked" in given:
        _check_lock(load((), environ, read_file, flags=flags).options, settings.options)
    lock_file = settings.options.lock_file
    if lock_file and ("lockFile" in given or not os.path.isabs(lock_file)):
        check_inside(lock_file, root_of(environ), "the lock file")
    return settings, programs


def _flags(argv: Sequence[str]) -> tuple[tuple[Layer, str | None] | None, Renderers]:
    if not argv:
        return None, Renderers()
    command = BY_NAME["argocd"]
    layer, path, flags, words = parse(command.parser(), argv, command.options)
    if words:
        raise UsageError(f"{words[0]!r} is not expected: archfit argocd takes flags only")
    programs = Renderers(
        flags.helm or "helm",
        flags.kustomize or "kustomize",
        tuple(flags.helm_option),
        tuple(flags.kustomize_option),
        flags.helm_dependencies,
    )
    return (layer, path), programs


def _check_paths(settings: Settings, environ: Mapping[str, str]) -> None:
    named = {
        option.key: str(getattr(settings.operator, option.field))
        for option in OPERATOR
        if option.type is PATH or option.type is CACHE
    }
    named |= {name: environ.get(name, "") for name in _PATH_VARIABLES}
    for name, path in named.items():
        if path and not os.path.isabs(path) and "://" not in path:
            raise UsageError(
                f"{name}: {path!r} would lie in the application's repository: write an absolute path"
            )


def _check_lock(operators: Options, options: Options) -> None:
    """An application may bring a lock file, but may not replace the operator's. Raises UsageError."""
    if operators.locked and not options.locked:
        raise UsageError("parameter 'locked': the operator requires the lock file: leave the parameter out")
    if operators.lock_file and options.lock_file != operators.lock_file:
        raise UsageError("parameter 'lockFile': the operator has set the lock file: leave the parameter out")


def announcement(operators: Options) -> list[dict[str, Any]]:
    """All parameters as Argo CD's page of an application offers them (ParameterAnnouncement).

        {name, title, tooltip, collectionType: string | array | map, itemType, string | array | map: the default}

    operators: the options where the application gives none; a default that the operator changed is not announced.
    Source: argo-cd v3.5.1, reposerver/repository/repository.proto. Argo CD does not send announced defaults back.
    """
    return [*map(_rendering, ROWS), *(_placement(option, operators) for option in SPEC)]


def _rendering(row: Row) -> dict[str, Any]:
    entry = {"name": row.name, "title": row.name, "tooltip": row.help}
    if row.shape == "boolean":
        return entry | {"collectionType": "string", "itemType": "boolean", "string": "false"}
    return entry | {"collectionType": row.shape}


_SHAPES: dict[type, str] = {list: "array", dict: "map"}


def _placement(option: Option, operators: Options) -> dict[str, Any]:
    shape = "string" if option.file_only else _SHAPES.get(type(option.default), "string")
    entry: dict[str, Any] = {"name": option.key, "title": option.name, "tooltip": option.help}
    entry["collectionType"] = shape
    if option.type is SWITCH:
        entry["itemType"] = "boolean"
    if getattr(operators, option.field) == getattr(Options(), option.field) and default_text(option):
        entry[shape] = option.default if shape == "array" else default_text(option)
    return entry
