"""Python, the YAML parser, the dependencies and extras, and which archfit other programs find on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from archfit import __version__
from archfit.base.errors import ArchfitError
from archfit.base.external_program import run_program
from archfit.base.packages import install_command
from archfit.doctor.findings import Diagnostic, missing, note, ok, wrong


def python(facts: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """facts: as `archfit version --json` has them."""
    here = facts["python"]
    lacking = [name for name, version in facts["dependencies"].items() if version is None]
    archfit = f"archfit {facts['archfit']}, {facts['install']['kind']}"
    versions = f"{here['version']} at {here['program']}; {archfit}"
    if lacking:
        yield wrong("python", f"{versions}; lacks {', '.join(lacking)}", install_command(*lacking))
    elif facts["cParser"]:
        yield ok("python", f"{versions}; C parser")
    else:
        slow = f"{versions}; PyYAML has no C parser, so YAML is read ten times slower"
        yield note("python", slow, f"{install_command('PyYAML')} --force-reinstall")


def extras(facts: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """The extras of the package: what is there of each."""
    for name, extra in facts["extras"].items():
        versions = extra["packages"]
        if extra["installed"]:
            there = ", ".join(f"{package} {version}" for package, version in versions.items())
            yield ok(f"extra {name}", there)
            continue
        lacking = [package for package, version in versions.items() if version is None]
        text = f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not installed"
        text += ", though other packages of the extra are" if len(lacking) < len(versions) else ""
        yield missing(f"extra {name}", text, install_command(*lacking))


def on_path(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The archfit that Helm 3, kustomize, kpt and the signed plugin of Helm 4 start."""
    program = shutil.which("archfit", path=environ.get("PATH"))
    if program is None:
        here = os.path.join(os.path.dirname(sys.executable), "archfit")
        remedy = f'export PATH="{os.path.dirname(here)}:$PATH"' if os.path.isfile(here) else "pipx install ."
        yield missing("archfit", "is not on PATH, where other programs look for it", remedy)
        return
    try:
        answer = run_program([program, "--version"], environ)
    except ArchfitError as error:
        yield wrong("archfit", str(error), f"{program} --version")
        return
    shown = answer.text.strip()
    if answer.status or not shown.startswith("archfit "):
        last_line = (answer.complaint.strip().splitlines() or [shown or f"exit {answer.status}"])[-1]
        yield wrong(
            "archfit", f"{program} does not start: {last_line}", "install archfit again, or remove that file"
        )
    elif shown != f"archfit {__version__}":
        yield wrong(
            "archfit",
            f"{program} is {shown.removeprefix('archfit ')}, and this is {__version__}: other programs start that one",
            f"remove {program}, or put the folder of this archfit first on PATH",
        )
    else:
        yield ok("archfit", f"{program}, which other programs start")
