"""The Helms of this machine, asked by running them: `helm`, `helm4` and `helm3` in the directories of PATH."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from archfit.base.errors import ArchfitError
from archfit.base.external_program import run_program
from archfit.startup.record import Record

_NAMES = ("helm", "helm4", "helm3")
_VERSION = re.compile(r"v(\d+)[.\w+-]*").fullmatch


class Helm(Record):
    """A program that answers as Helm. version: as it prints it, `v4.3`; major: 4."""

    path: str
    version: str
    major: int

    def __str__(self) -> str:
        return f"Helm {self.version} at {self.path}"


def ask(path: str, environ: Mapping[str, str]) -> Helm:
    """The Helm at a path. Raises ArchfitError if it is none."""
    done = run_program([path, "version", "--template", "{{.Version}}"], environ)
    version = done.text.strip()
    parts = _VERSION(version)
    if done.status or parts is None:
        words = (version or done.complaint.strip()).splitlines() or [f"nothing, exit {done.status}"]
        raise ArchfitError(f"{path} does not answer as Helm does: `helm version` printed {words[-1]!r}")
    return Helm(path, version, int(parts[1]))


def on_path(environ: Mapping[str, str]) -> tuple[list[Helm], dict[str, str]]:
    """Every Helm on PATH, each program once; and the `helm` that a shell would start, with why, where it is none."""
    folders = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    seen: dict[str, Helm] = {}
    broken: dict[str, str] = {}
    for name in _NAMES:
        for folder in folders:
            path = os.path.join(os.path.abspath(folder), name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and os.path.realpath(path) not in seen:
                try:
                    seen[os.path.realpath(path)] = ask(path, environ)
                except ArchfitError as error:
                    # Another program of that name, or a version manager's stub without a version.
                    if name == "helm" and not (seen or broken):
                        broken[path] = str(error)
    return list(seen.values()), broken


def directories(helm: Helm, environ: Mapping[str, str]) -> list[str]:
    """Where it reads plugins from. Raises ArchfitError."""
    done = run_program([helm.path, "env", "HELM_PLUGINS"], environ)
    if done.status:
        raise ArchfitError(f"`{helm.path} env HELM_PLUGINS` failed: {done.complaint.strip()}")
    return [part for part in done.text.rstrip("\r\n").split(os.pathsep) if part]


def reads(helm: Helm, directory: str, environ: Mapping[str, str]) -> bool:
    """Whether it reads plugins from the directory, in this shell or in one without HELM_PLUGINS."""
    without = {name: value for name, value in environ.items() if name != "HELM_PLUGINS"}
    known = {*directories(helm, environ), *directories(helm, without)}
    return os.path.realpath(directory) in {os.path.realpath(part) for part in known}
