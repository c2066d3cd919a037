"""Python, the YAML parser, the dependencies and extras, and which archfit other programs find on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from archfit import __version__
from archfit.base.errors import ArchfitError
from archfit.base.packages import install_command
from archfit.cli.setup.external_program import run_program
from archfit.doctor.findings import MISSING, NOTE, OK, WRONG, Diagnostic


def python(facts: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """facts: as `archfit version --json` has them."""
    here = facts["python"]
    missing = [name for name, version in facts["dependencies"].items() if version is None]
    versions = (
        f"{here['version']} at {here['program']}; archfit {facts['archfit']}, {facts['install']['kind']}"
    )
    if missing:
        yield Diagnostic(
            "python", WRONG, f"{versions}; lacks {', '.join(missing)}", install_command(*missing)
        )
    elif facts["cParser"]:
        yield Diagnostic("python", OK, f"{versions}; C parser")
    else:
        yield Diagnostic(
            "python",
            NOTE,
            f"{versions}; PyYAML has no C parser, so YAML is read ten times slower",
            f"{install_command('PyYAML')} --force-reinstall",
        )


def extras(facts: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """The extras of the package: what is there of each."""
    for name, extra in facts["extras"].items():
        versions = extra["packages"]
        if extra["installed"]:
            there = ", ".join(f"{package} {version}" for package, version in versions.items())
            yield Diagnostic(f"extra {name}", OK, there)
            continue
        lacking = [package for package, version in versions.items() if version is None]
        some = len(lacking) < len(versions)
        yield Diagnostic(
            f"extra {name}",
            MISSING,
            f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not installed"
            + (", though other packages of the extra are" if some else ""),
            install_command(*lacking),
        )


def on_path(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The archfit that Helm 3, kustomize, kpt and the signed plugin of Helm 4 start."""
    program = shutil.which("archfit", path=environ.get("PATH"))
    if program is None:
        here = os.path.join(os.path.dirname(sys.executable), "archfit")
        remedy = f'export PATH="{os.path.dirname(here)}:$PATH"' if os.path.isfile(here) else "pipx install ."
        yield Diagnostic("archfit", MISSING, "is not on PATH, where other programs look for it", remedy)
        return
    try:
        answer = run_program([program, "--version"], environ)
    except ArchfitError as error:
        yield Diagnostic("archfit", WRONG, str(error), f"{program} --version")
        return
    shown = answer.stdout.strip()
    if answer.returncode or not shown.startswith("archfit "):
        last_line = (answer.stderr.strip().splitlines() or [shown or f"exit {answer.returncode}"])[-1]
        yield Diagnostic(
            "archfit",
            WRONG,
            f"{program} does not start: {last_line}",
            "install archfit again, or remove that file",
        )
    elif shown != f"archfit {__version__}":
        yield Diagnostic(
            "archfit",
            WRONG,
            f"{program} is {shown.removeprefix('archfit ')}, and this is {__version__}: other programs start that one",
            f"remove {program}, or put the folder of this archfit first on PATH",
        )
    else:
        yield Diagnostic("archfit", OK, f"{program}, which other programs start")
