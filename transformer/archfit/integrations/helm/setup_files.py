"""The Helm 4 plugin as files, and the line that makes Helm see it. Pure.

    PLUGINS DIRECTORY/archfit/plugin.yaml    schema v1 of helm.sh/helm/v4, internal/plugin/metadata_v1.go; strict
                              archfit        what it starts: this installation's Python, by its absolute path

    plugin.yaml         command: ${HELM_PLUGIN_DIR}/archfit   found without PATH and without an active virtualenv
    in helm-plugin/     command: archfit                      found on PATH

Helm 4 splits `command` at blanks before it expands variables, so a path of the user's cannot stand in it; a blank
in HELM_PLUGIN_DIR does no harm. `--on-blank comment`: Helm 4 fails a release whose post-renderer prints nothing,
also where the chart rendered nothing. `--hooks recreated`: Helm creates hooks and never updates one. The launcher says
both by variables, which spares the run argparse; a flag of the user's counts for more than either.
"""

from __future__ import annotations

import re
import shlex

from archfit import __version__

NAME = "archfit"
MARK = "# Written by `archfit setup helm`, which writes it anew each time: changes are lost."
_CLAIM = re.compile(rb"^name:[ \t]*[\"']?archfit[\"']?[ \t]*(#.*)?\r?$", re.MULTILINE).search

HEAD = """\
# A post-renderer for Helm 4 that runs the `archfit` on PATH. `archfit setup helm` writes one that needs no PATH.
# Keep it out of every directory that Helm 3 reads: one file of this schema disables all plugins of Helm 3."""


def manifest(
    command: str, head: str = HEAD, arguments: str = "[--on-blank, comment, --hooks, recreated]"
) -> str:
    """The plugin.yaml whose plugin starts `command`. head: comment lines. arguments: a list in flow style."""
    return f"""\
{head}
apiVersion: v1
type: postrenderer/v1
name: {NAME}
version: {__version__}
runtime: subprocess
runtimeConfig:
  platformCommand:
    - command: {command}
      args: {arguments}
"""


def files(python: str, *, windows: bool) -> dict[str, tuple[str, int]]:
    """File name -> (text, mode) of the plugin that starts this installation. python: its interpreter's path.

    On Windows, where a script cannot be started like a program, the plugin starts the `archfit.exe` on PATH.
    """
    if windows:
        return {"plugin.yaml": (manifest(NAME, MARK), 0o644)}
    # -P: the working directory is the user's chart, and holds no modules of ours.
    launcher = (
        f"#!/bin/sh\n{MARK}\n"
        'export ARCHFIT_ON_BLANK="${ARCHFIT_ON_BLANK:-comment}"\n'
        'export ARCHFIT_HOOKS="${ARCHFIT_HOOKS:-recreated}"\n'
        f"exec {shlex.quote(python)} -P -c 'from archfit.cli import run; run()' transform \"$@\"\n"
    )
    return {
        "plugin.yaml": (manifest(f"${{HELM_PLUGIN_DIR}}/{NAME}", MARK, "[]"), 0o644),
        NAME: (launcher, 0o755),
    }


def ours(content: bytes) -> bool:
    """Whether `archfit setup helm` wrote the file: its mark is one of the first two lines."""
    return MARK.encode() in content.splitlines()[:2]


def claims(content: bytes) -> bool:
    """Whether a plugin.yaml claims our name; Helm refuses a whole directory in which two do."""
    return _CLAIM(content) is not None


def unusable(directory: str, separator: str) -> str:
    """Why Helm cannot read plugins from the directory, "" if it can. separator: of path lists, `:` or `;`.

    Helm splits HELM_PLUGINS as a path list, and searches each entry as a glob pattern (Go, filepath.Glob).
    """
    patterns = "*?[" if separator == ";" else "*?[\\"
    found = [f"{letter!r}" for letter in (separator, *patterns, "\n") if letter in directory]
    return f"its path holds {', '.join(found)}, which Helm reads as more than a letter" if found else ""


def profile(directory: str, current: list[str], separator: str) -> str:
    """The line for a POSIX shell's profile that adds the directory. current: what Helm reads now."""
    return f"export HELM_PLUGINS={shlex.quote(separator.join([directory, *current]))}\n"


def function(directory: str, current: list[str], separator: str, helm: str) -> str:
    """The same for one program alone, where another Helm could not stand it. helm: the program's path.

    The body is a subshell, so the variable ends with it; HELM_PLUGINS reaches Helm 4 and nothing else.
    """
    name = re.split(r"[/\\]", helm)[-1]
    name = name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "helm4"
    return f'{name}() ( {profile(directory, current, separator).strip()}; exec {shlex.quote(helm)} "$@" )\n'
