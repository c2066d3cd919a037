"""`archfit setup kustomize|kpt --check`: does this installation run archfit, and in the right place?

    declared      in the kustomization that is built, not in a base of it: a base runs before the overlay's images:
    started       the build ran archfit: without --enable-exec kustomize leaves functions out and prints no warning

Every archfit leaves a report; that of this build, in a directory of its own, shows that it ran.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from yaml import YAMLError, safe_load_all

from archfit import __version__
from archfit.base.external_program import run_program
from archfit.cli.inputs.input_files import KUSTOMIZATIONS
from archfit.cli.setup.check_lines import CHECK_POD, Line, Wrong, up_to_wrong
from archfit.integrations.kustomize import setup_files as files
from archfit.reports.report import state_path

_DEEPEST = 16


def check_lines(tool: str, folder: str, command: Sequence[str], environ: Mapping[str, str]) -> Iterator[Line]:
    """A line for each thing, as soon as it is known. command: how the user builds, () for the usual way."""
    checked = _kpt(folder, environ) if tool == "kpt" else _kustomize(folder, list(command), environ)
    return up_to_wrong(checked)


def _kustomize(folder: str, command: list[str], environ: Mapping[str, str]) -> Iterator[str]:
    """What is right, up to the first thing that is wrong. Raises Wrong and ArchfitError."""
    own = list(functions(folder))
    if not own:
        below = next(_below(folder, _DEEPEST), "")
        if below:
            raise Wrong(
                f"archfit is declared in {below}, which runs before the images: of {folder}, so it does not see the "
                f"images that are deployed: run archfit setup kustomize --into {folder}"
            )
        raise Wrong(
            f"no kustomization of {folder} names archfit: run archfit setup kustomize --into {folder}"
        )
    name, started = own[0]
    container = "container:" in started
    start = "--network" if container else "--enable-exec"
    words = command or ["kustomize", "build", "--enable-alpha-plugins", start, folder]
    program = shutil.which(words[0], path=environ.get("PATH"))
    if program is None:
        raise Wrong(f"{words[0]} is not on PATH: install it, or name how you build, as in --check -- COMMAND")
    shown = " ".join(words)
    ran, stderr = _built([program, *words[1:]], environ)
    if stderr is not None:
        raise Wrong(f"`{shown}` failed: {_why(stderr)}")
    if not ran and not container:
        hint = (
            "--enable-exec is missing, which kubectl kustomize does not have: use kustomize, or the container form "
            "(archfit setup kustomize --container IMAGE)"
            if "kubectl" in words[0]
            else "add --enable-exec, or build the directory that names archfit"
        )
        raise Wrong(f"`{shown}` left archfit out without a warning: {hint}")
    yield f"{name} declares archfit" + ("" if container else f", and `{shown}` ran it")
    if container:
        yield f"`{shown}` succeeded; --check cannot see what a container did: pipe its output into archfit check"
    else:
        yield _own_version(environ)
    deeper = next(_below(folder, _DEEPEST), "")
    if deeper:
        raise Wrong(f"archfit is declared in {deeper} too, where it sees other images: remove it there")


def _kpt(folder: str, environ: Mapping[str, str]) -> Iterator[str]:
    pipeline = (_read(os.path.join(folder, "Kptfile")) or {}).get("pipeline")
    listed = pipeline.get("mutators") if isinstance(pipeline, dict) else None
    entry = next((function for function in listed or [] if files.is_mutator(function)), None)
    if entry is None:
        raise Wrong(
            f"no mutator of {os.path.join(folder, 'Kptfile')} is archfit: run archfit setup kpt --into {folder}"
        )
    config = entry.get("configPath")
    if config and _read(os.path.join(folder, str(config))) is None:
        raise Wrong(f"the Kptfile names {config}, which is not there: run archfit setup kpt --into {folder}")
    yield f"{os.path.join(folder, 'Kptfile')} names archfit"
    if not entry.get("exec"):
        yield "it starts a container, which --check cannot see: give kpt --allow-network, or a lock file"
        return
    yield _own_version(environ)
    kpt = shutil.which("kpt", path=environ.get("PATH"))
    if kpt is None:
        raise Wrong("kpt is not on PATH: install it")
    with tempfile.TemporaryDirectory(prefix="archfit-check-") as trial:
        for name, text in (("Kptfile", files.kptfile(str(entry["exec"]))), ("pod.yaml", CHECK_POD)):
            with open(os.path.join(trial, name), "w", encoding="utf-8") as file:
                file.write(text)
        ran, stderr = _built([kpt, "fn", "render", "--allow-exec", trial], environ)
    if stderr is not None or not ran:
        raise Wrong(f"kpt did not run archfit on a package with one Pod: {_why(stderr or '')}")
    yield f"{kpt} ran it on a package with one Pod; yours needs --allow-exec too"


def _own_version(environ: Mapping[str, str]) -> str:
    program = shutil.which("archfit", path=environ.get("PATH"))
    if program is None:
        raise Wrong("no archfit is on PATH, from where functions are started: add it, or name its whole path")
    answer = run_program([program, "--version"], environ)
    if answer.text.strip() != f"archfit {__version__}":
        version = answer.text.strip() or _why(answer.complaint)
        raise Wrong(f"{program} is {version!r}, not this archfit, {__version__}: correct PATH")
    return f"{program} is archfit {__version__}"


def _built(words: list[str], environ: Mapping[str, str]) -> tuple[bool, str | None]:
    """Whether archfit ran, and standard error of a command that failed."""
    with tempfile.TemporaryDirectory(prefix="archfit-check-") as state:
        apart = {**environ, "XDG_STATE_HOME": state}
        done = run_program(words, apart)
        ran = os.path.exists(state_path(apart))
    return ran, done.complaint if done.status else None


def _why(stderr: str) -> str:
    """The line that says most: archfit's own last error, else the last line."""
    lines = [line for line in stderr.strip().splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("archfit: error: ")]
    text = (own or lines or ["it gave no reason"])[-1].removeprefix("archfit: ")
    text = text.removeprefix("error: ").removeprefix("Error: ")
    if "external plugins disabled" in text:
        text += ": add --enable-alpha-plugins"
    return text


def functions(folder: str) -> Iterator[tuple[str, str]]:
    """(file, what it starts) of archfit among the transformers of a kustomization."""
    for name, entry in _entries(folder, "transformers"):
        path = os.path.join(folder, entry)
        inline = "\n" in entry
        if not inline and os.path.isdir(path):
            for _, resource in _entries(path, "resources"):
                for value in _all(os.path.join(path, resource)):
                    if files.is_function(value):
                        yield os.path.join(path, resource), files.started_by(value)
            continue
        for value in _documents(entry) if inline else _all(path):
            if files.is_function(value):
                yield (name if inline else path), files.started_by(value)


def _below(folder: str, depth: int) -> Iterator[str]:
    """The directories that a kustomization builds on and that declare archfit themselves."""
    for field in ("resources", "bases", "components"):
        for _, entry in _entries(folder, field):
            path = os.path.normpath(os.path.join(folder, entry))
            if depth and os.path.isdir(path):
                if any(True for _ in functions(path)):
                    yield path
                yield from _below(path, depth - 1)


def _entries(folder: str, field: str) -> Iterator[tuple[str, str]]:
    """(file of the kustomization, entry) for each entry of one of its lists."""
    for name in KUSTOMIZATIONS:
        path = os.path.join(folder, name)
        listed = (_read(path) or {}).get(field)
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, str):
                yield path, entry


def _read(path: str) -> dict[str, Any] | None:
    return next((value for value in _all(path) if isinstance(value, dict)), None)


def _all(path: str) -> list[Any]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _documents(file.read())
    except OSError:
        return []


def _documents(text: str) -> list[Any]:
    try:
        return list(safe_load_all(text))
    except YAMLError:
        return []
