"""`archfit setup helm [--into DIR] [--check] [--helm PATH]`: the plugin that Helm 4 needs.

It is written to a plugins directory of its own below $XDG_DATA_HOME, or to DIR. Standard output has the line for the
shell's profile, where one is needed, and nothing else. No file of the user's is changed.

Helm 3 needs no plugin, and must not see this one: a single file of Helm 4's schema disables all plugins of Helm 3.
So where PATH has a Helm 3 too, the line sets HELM_PLUGINS for Helm 4 only, and a directory that Helm 3 reads is
refused.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import BinaryIO, TextIO

from archfit.base.errors import ArchfitError, UsageError
from archfit.base.files import user_folder
from archfit.cli.setup.check_lines import up_to_wrong, write_lines
from archfit.cli.setup.configuration import ToolConfiguration, compared, configuration
from archfit.cli.setup.owned_files import content_of, done, remove_files, write_files
from archfit.cli.usage.command_table import BY_NAME
from archfit.integrations.helm import setup_files
from archfit.integrations.helm.installed import Helm, ask, directories, on_path, reads
from archfit.integrations.helm.setup_check import check_lines


def set_up_helm(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup helm`. The exit code; raises ArchfitError."""
    flags = BY_NAME["setup helm"].flags_alone(argv)
    directory = os.path.abspath(flags.into) if flags.into else home(environ)
    plugin = os.path.join(directory, setup_files.NAME)
    if flags.check:
        config = [os.path.join(plugin, setup_files.CONFIG)] if os.path.isdir(plugin) else []
        same = up_to_wrong(compared(flags.config, environ, config)) if config else ()
        return write_lines(chain(check_lines(flags.helm, directory, environ), same), stdout)
    own = configuration(flags.config, environ)
    if flags.remove:
        names = dict.fromkeys((*setup_files.files(sys.executable), setup_files.CONFIG), "")
        stderr.write(remove_files(plugin, names, "helm", lambda _path, content: setup_files.ours(content)))
        with contextlib.suppress(OSError):  # other plugins are in it
            os.rmdir(directory)
        stderr.write(f"Now: take {directory} out of HELM_PLUGINS in your shell's profile, if it is there\n")
        return 0
    helms = [ask(flags.helm, environ)] if flags.helm else []
    others, broken = on_path(environ)
    helms += [helm for helm in others if helm not in helms]
    if not flags.into:
        return _own(directory, helms, broken, own, stdout, stderr, environ)
    _refuse_shared(directory, helms, environ)
    _write(directory, own, stderr)
    return 0


def home(environ: Mapping[str, str]) -> str:
    """The plugins directory that is archfit's own. Raises UsageError where the user has no place for data."""
    folder = user_folder(environ, "XDG_DATA_HOME", ".local/share")
    if not folder:
        raise UsageError("there is no home directory to write to: set HOME, or name a directory with --into")
    return os.path.join(folder, "helm-plugins")


def _own(
    directory: str,
    helms: Sequence[Helm],
    broken: Mapping[str, str],
    own: ToolConfiguration,
    stdout: BinaryIO,
    stderr: TextIO,
    environ: Mapping[str, str],
) -> int:
    """Sets up the directory that is archfit's own, for the first Helm 4."""
    four = next((helm for helm in helms if helm.major == 4), None)
    threes = [helm for helm in helms if helm.major == 3]
    if four is None:
        if threes:
            stderr.write(f"{threes[0]} needs no plugin: add --post-renderer archfit. Nothing was written.\n")
            return 0
        for why in broken.values():
            raise ArchfitError(f"{why}: correct it, or name another with --helm PATH")
        others = ", ".join(str(helm) for helm in helms)
        raise ArchfitError(
            f"no Helm 4 was found{f', only {others}' if others else ' on PATH'}: install it, name it with "
            "--helm PATH, or write the plugin into a directory that you choose with --into DIR"
        )
    current = directories(four, environ)
    _write(directory, own, stderr)
    reading = [helm for helm in threes if reads(helm, directory, environ)]
    if reading:
        stderr.write(
            f"warning: {reading[0]} reads this directory too, so it loads none of its own plugins: "
            "unset HELM_PLUGINS for it, as the line below does\n"
        )
        current = [part for part in current if os.path.realpath(part) != os.path.realpath(directory)]
    if directory in current:
        stderr.write(f"HELM_PLUGINS names the directory already. {_use('helm')}\n")
        return 0
    program = "helm"
    if threes:
        stderr.write(
            f"{threes[0]} would lose all its plugins if it read this directory. Put this into your shell's profile; "
            f"it is for {four} only:\n"
        )
        stdout.write(setup_files.function(directory, current, four.path).encode())
        program = setup_files.function_name(four.path)
    else:
        stderr.write("Put this line into your shell's profile, and run it in this shell:\n")
        stderr.flush()
        stdout.write(setup_files.profile(directory, current).encode())
    stdout.flush()
    stderr.write(f"{_use(program)}\n")
    return 0


def _use(program: str) -> str:
    command = f"{program} upgrade --install web ./chart --post-renderer archfit"
    return f"Then: {command}    (archfit setup helm --check tries it)"


def _refuse_shared(directory: str, helms: Sequence[Helm], environ: Mapping[str, str]) -> None:
    for helm in helms:
        if helm.major == 3 and reads(helm, directory, environ):
            raise UsageError(
                f"--into: {directory} is a plugins directory of {helm}: Helm 3 cannot read plugins of Helm 4, and "
                "one such file disables all its plugins. Name a directory that only Helm 4 reads"
            )


def _write(directory: str, own: ToolConfiguration, stderr: TextIO) -> None:
    """Writes the plugin; a file stays that is right, or of an earlier configuration. Raises ArchfitError."""
    why = setup_files.unusable(directory)
    if why:
        raise UsageError(f"{directory}: {why}: name another directory with --into")
    folder = os.path.join(directory, setup_files.NAME)
    _refuse_other_plugins(directory, folder)
    frozen = getattr(sys, "frozen", False)
    wanted = setup_files.files(sys.executable, own.spec, frozen=frozen)
    changed = write_files(folder, wanted, _refusal)
    stderr.write(f"{done(folder, changed=changed)}\n{own.advice}")


def _refusal(path: str, content: bytes) -> str:
    if setup_files.ours(content):
        return ""
    return (
        f"{path} was not written by `archfit setup helm`: nothing was written. Move it away, or name another directory "
        "with --into"
    )


def _refuse_other_plugins(directory: str, folder: str) -> None:
    """Raises ArchfitError for a plugin that Helm installed as a link, and for a second plugin of our name."""
    if os.path.islink(folder):
        raise ArchfitError(
            f"{folder} is a link that `archfit setup helm` did not make, as `helm plugin install` does: nothing was "
            "written. Remove it, or name another directory with --into"
        )
    for other in sorted(os.listdir(directory) if os.path.isdir(directory) else ()):
        path = os.path.join(directory, other, "plugin.yaml")
        if other != setup_files.NAME and os.path.isfile(path) and setup_files.claims(content_of(path) or b""):
            raise ArchfitError(
                f"{path} is a plugin named archfit too, and Helm refuses a directory that holds two: nothing was "
                "written. Remove it, or name another directory with --into"
            )
