"""`archfit setup argocd --check`: does this sidecar work as Argo CD's plugin?

What argocd-cmp-server refuses in a plugin.yaml it says itself, and does not start.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import BinaryIO

from archfit.base.errors import Problem, UsageError
from archfit.cli.setup.check_lines import Line, up_to_wrong, write_lines
from archfit.cli.setup.configuration import compared
from archfit.integrations.argocd.command import settings_of
from archfit.lookup.store.open import default_path
from archfit.options.settings import CacheServer
from archfit.yaml.config_yaml import parse_config
from archfit.yaml.values import mapping_of

INSTALLED = "/home/argocd/cmp-server/config"
_IN_AN_OUTAGE = {
    "assume": "when a registry does not answer and the cache is lost, Argo CD rolls pods to the platforms of assume, "
    "and back later",
    "leave": "when a registry does not answer, Argo CD removes what archfit added before",
}


def check(into: str | None, config: str | None, stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """Writes a line for each thing found; 1 if one is wrong. into: the folder of `setup argocd`; else the sidecar's."""
    folder = os.path.join(into, "sidecar") if into else INSTALLED
    beside = (
        [os.path.join(into, part, "archfit.yaml") for part in ("sidecar", "build-options")] if into else []
    )
    same = up_to_wrong(compared(config, environ, filter(os.path.isfile, beside))) if into else ()
    return write_lines(chain(_lines(os.path.join(folder, "plugin.yaml"), environ), same), stdout)


def _lines(path: str, environ: Mapping[str, str]) -> Iterator[Line]:
    try:
        with open(path, encoding="utf-8") as file:
            plugin = parse_config(file.read()).values
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        yield (
            False,
            f"{path} cannot be read ({why}): mount it, or name the folder of `archfit setup argocd` with --into",
        )
        return
    except Problem as problem:
        yield False, f"{path} line {problem.line}: {problem.message}"
        return
    commands = _commands(plugin)
    if not commands:
        yield False, f"{path}: spec.generate.command is empty: write [archfit, argocd, generate]"
    else:
        yield True, f"{path} starts {' '.join(map(str, commands[0]))}"
        yield from _programs({str(command[0]) for command in commands}, environ)
    yield from _settings(environ)
    yield _writable(tempfile.gettempdir(), "the temporary folder", "mount an emptyDir on /tmp")


def _commands(plugin: object) -> list[list[object]]:
    """The commands of a plugin, that of generate first; none where it has no such."""
    spec = mapping_of(mapping_of(plugin).get("spec"))
    find = mapping_of(spec.get("discover")).get("find")
    dynamic = mapping_of(spec.get("parameters")).get("dynamic")
    parts = map(mapping_of, (spec.get("generate"), spec.get("init"), find, dynamic))
    commands = [part.get("command") for part in parts]
    listed = [command for command in commands if isinstance(command, list) and command]
    return listed if commands[0] in listed else []


def _programs(words: Iterable[str], environ: Mapping[str, str]) -> Iterator[Line]:
    programs = [(word, "install it in the sidecar's image") for word in sorted(words)]
    programs += [(renderer, "applications that need it will fail") for renderer in ("helm", "kustomize")]
    for program, remedy in programs:
        place = shutil.which(program, path=environ.get("PATH"))
        yield bool(place), f"{program} is {place}" if place else f"{program} is not on PATH: {remedy}"


def _settings(environ: Mapping[str, str]) -> Iterator[Line]:
    try:
        settings = settings_of(environ)
    except UsageError as error:
        yield False, str(error)
        return
    yield True, f"configuration: {', '.join(settings.sources)}"
    options, operator = settings.options, settings.operator
    if options.on_unknown != "fail":
        yield False, f"onUnknown is {options.on_unknown}: {_IN_AN_OUTAGE[options.on_unknown]}. Write fail"
    if operator.timeout_seconds > 50:
        yield (
            False,
            f"timeout is {operator.timeout_seconds:.0f} s: Argo CD ends the plugin after 60 s. Write 30s",
        )
    if operator.no_cache or isinstance(operator.cache, CacheServer):
        yield True, f"the cache: {operator.cache or 'none, as noCache says'}"
        return
    path = operator.cache or default_path(environ)
    if path:
        yield _writable(
            os.path.dirname(path), f"the cache {path}", "mount an emptyDir, and name it in `cache`"
        )
    else:
        yield False, "the cache has no place: name a file on a mounted volume in `cache`"


def _writable(folder: str, what: str, remedy: str) -> Line:
    at = folder
    while not os.path.exists(at) and os.path.dirname(at) != at:
        at = os.path.dirname(at)
    try:
        with tempfile.TemporaryFile(dir=at):
            return True, f"{what} can be written"
    except OSError as error:
        return False, f"{what} cannot be written by user {os.getuid()} ({error.strerror}): {remedy}"
