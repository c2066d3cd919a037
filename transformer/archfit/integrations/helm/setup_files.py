"""The Helm 4 plugin as files, and the line that makes Helm see it. Pure.

    PLUGINS DIRECTORY/archfit/plugin.yaml    schema v1 of helm.sh/helm/v4, internal/plugin/metadata_v1.go; strict
                              archfit        what it starts: this installation's Python, by its absolute path
                              archfit.yaml   the user's placement, if there is one: counts without ARCHFIT_CONFIG

    plugin.yaml         command: ${HELM_PLUGIN_DIR}/archfit   found without PATH and without an active virtualenv
    in helm-plugin/     command: archfit                      found on PATH

Helm 4 splits `command` at blanks before it expands variables, so a path of the user's cannot stand in it; a blank
in HELM_PLUGIN_DIR does no harm. Its argument is `helm`: the command `archfit helm` has the defaults that suit Helm.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

from archfit import __version__
from archfit.cli.setup.owned_files import File
from archfit.cli.setup.yaml_files import mapping, parsed, shipped, written
from archfit.options.config_file import API_VERSION, KIND

NAME = "archfit"
CONFIG = "archfit.yaml"
MARK = "# Written by `archfit setup helm`, which writes it anew each time: changes are lost."
_CLAIM = re.compile(rb"^name:[ \t]*[\"']?archfit[\"']?[ \t]*(#.*)?\r?$", re.MULTILINE).search


def plugin(command: str, head: str = "") -> str:
    """The plugin.yaml whose plugin starts `command`. head: comment lines instead of those of helm-plugin/."""
    data = parsed(shipped(__package__, "plugin.yaml"))
    data["version"] = __version__
    (start,) = data["runtimeConfig"]["platformCommand"]
    start["command"] = command
    if head:
        data.yaml_set_start_comment(head.removeprefix("# "))
    return written(data)


def files(python: str, spec: Mapping[str, Any] | None = None, *, frozen: bool = False) -> dict[str, File]:
    """The plugin that starts this installation, by file name.

    python: its interpreter's path. spec: the user's. frozen: python is archfit itself, as `make bundle` builds it.
    """
    config = mapping(apiVersion=API_VERSION, kind=KIND, spec=mapping(**(spec or {})))
    config.yaml_set_start_comment(MARK.removeprefix("# "))
    # -P: the working directory is the user's chart, and holds no modules of ours.
    module = "" if frozen else " -P -c 'from archfit.cli.main import run; run()'"
    launcher = shipped(__package__, "launcher.sh").format(mark=MARK, program=shlex.quote(python) + module)
    return {
        "plugin.yaml": File(plugin(f"${{HELM_PLUGIN_DIR}}/{NAME}", MARK).encode(), 0o644),
        NAME: File(os.fsencode(launcher), 0o755),
        **({CONFIG: File(written(config).encode(), 0o644)} if spec else {}),
    }


def ours(content: bytes) -> bool:
    """Whether `archfit setup helm` wrote the file: its mark is one of the first two lines."""
    return MARK.encode() in content.splitlines()[:2]


def claims(content: bytes) -> bool:
    """Whether a plugin.yaml claims our name; Helm refuses a whole directory in which two do."""
    return _CLAIM(content) is not None


def unusable(directory: str) -> str:
    """Why Helm cannot read plugins from the directory, "" if it can.

    Helm splits HELM_PLUGINS as a path list, and searches each entry as a glob pattern (Go, filepath.Glob).
    """
    wrong = [f"{letter!r}" for letter in ":*?[\\\n" if letter in directory]
    return f"its path holds {', '.join(wrong)}, which Helm reads as more than a letter" if wrong else ""


def profile(directory: str, current: list[str]) -> str:
    """The line for a POSIX shell's profile that adds the directory. current: what Helm reads now."""
    return f"export HELM_PLUGINS={shlex.quote(os.pathsep.join([directory, *current]))}\n"


def function(directory: str, current: list[str], helm: str) -> str:
    """The same for one program only, where a Helm 3 must not read the directory. helm: the program's path.

    The body is a subshell, so the variable ends with it; HELM_PLUGINS reaches Helm 4 and nothing else.
    """
    return (
        f'{function_name(helm)}() ( {profile(directory, current).strip()}; exec {shlex.quote(helm)} "$@" )\n'
    )


def function_name(helm: str) -> str:
    """What the function is called, and so the program from then on."""
    name = os.path.basename(helm)
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "helm4"
