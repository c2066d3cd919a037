"""The Helms of this machine, asked by running them.

    helm version --template {{.Version}}    v3.22, v4.3.1
    helm env HELM_PLUGINS                   the directories it reads plugins from, as a path list

A Helm is looked for as `helm`, `helm4` and `helm3` in every directory of PATH, in PATH's order for each name.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from archfit.errors import ArchfitError
from archfit.record import Record

LONGEST_SECONDS = 60.0
_NAMES = ("helm", "helm4", "helm3")
_VERSION = re.compile(r"v(\d+)[.\w+-]*").fullmatch


class Helm(Record):
    """A program that says it is Helm. version: as it says, `v4.3`; major: 4."""

    path: str
    version: str
    major: int

    def __str__(self) -> str:
        return f"Helm {self.version} at {self.path}"


def start(words: Sequence[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, without input. Raises ArchfitError if it cannot be run or does not end."""
    try:
        return subprocess.run(  # noqa: S603 - the user's own helm, from PATH or named by flag; no shell
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environ),
            timeout=LONGEST_SECONDS,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ArchfitError(f"{words[0]} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ArchfitError(f"{' '.join(words)} did not end within {LONGEST_SECONDS:g} s") from None


def ask(path: str, environ: Mapping[str, str]) -> Helm:
    """The Helm at a path. Raises ArchfitError if it is none."""
    done = start([path, "version", "--template", "{{.Version}}"], environ)
    said = done.stdout.strip()
    found = _VERSION(said)
    if done.returncode or found is None:
        words = (said or done.stderr.strip()).splitlines() or [f"nothing, exit {done.returncode}"]
        raise ArchfitError(f"{path} does not answer as Helm does: `helm version` printed {words[-1]!r}")
    return Helm(path, said, int(found[1]))


def on_path(environ: Mapping[str, str]) -> list[Helm]:
    """Every Helm on PATH, each program once."""
    folders = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    suffix = ".exe" if os.name == "nt" else ""
    seen: dict[str, Helm] = {}
    for name in _NAMES:
        for folder in folders:
            path = os.path.join(os.path.abspath(folder), name + suffix)
            if os.path.isfile(path) and os.access(path, os.X_OK) and os.path.realpath(path) not in seen:
                try:
                    seen[os.path.realpath(path)] = ask(path, environ)
                except ArchfitError:
                    continue  # another program of that name, or a version manager's stub without a version
    return list(seen.values())


def directories(helm: Helm, environ: Mapping[str, str]) -> list[str]:
    """Where it reads plugins from. Raises ArchfitError."""
    done = start([helm.path, "env", "HELM_PLUGINS"], environ)
    if done.returncode:
        raise ArchfitError(f"`{helm.path} env HELM_PLUGINS` failed: {done.stderr.strip()}")
    return [part for part in done.stdout.rstrip("\r\n").split(os.pathsep) if part]


def reads(helm: Helm, directory: str, environ: Mapping[str, str]) -> bool:
    """Whether it reads plugins from the directory, in this shell or in one without HELM_PLUGINS."""
    without = {name: value for name, value in environ.items() if name != "HELM_PLUGINS"}
    known = {*directories(helm, environ), *directories(helm, without)}
    return os.path.realpath(directory) in {os.path.realpath(part) for part in known}
