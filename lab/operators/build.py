"""Builds operators from their published Go modules, or fetches their jars, into .tools/operators.

A module is copied and built by its own go.mod, whose `replace` directives `go install` refuses. The zip of a module
lacks the modules nested in it: those that a local replace names are put back (`nested`).
"""

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import machine
from install_tools import copied_module
from machine import TOOLS
from operators.definition import Operator, Program


class Failed(Exception):
    """A step that failed: its name, and the last lines of what it said."""

    def __init__(self, step: str, said: str) -> None:
        lines = [line for line in said.splitlines() if line.strip()][-12:]
        super().__init__("\n  ".join([f"{step} failed", *lines]))


class Built(NamedTuple):
    """commands: how each program starts, by name. source: of its Go module."""

    commands: dict[str, list[str]]
    source: Path | None


def build(operator: Operator) -> Built:
    """Every program of the operator. Raises Failed."""
    place = TOOLS / "operators" / operator.folder.name
    place.mkdir(parents=True, exist_ok=True)
    commands = {program.name: _command(operator, program) for program in operator.programs}
    lacking = [one for one in operator.programs if not (one.script or (place / one.name).exists())]
    module = fetched(f"{operator.module}@{operator.version}") if operator.module else None
    if not lacking:
        return Built(commands, module)
    with tempfile.TemporaryDirectory(dir=TOOLS) as name:
        sources: dict[Path, Path] = {}
        for program in lacking:
            target = Path(name) / "built"
            if program.package:
                origin = fetched(program.module) if program.module else module
                assert origin is not None
                source = sources.setdefault(origin, Path(name) / f"source-{len(sources)}")
                if not source.exists():
                    copied_module(origin, source)
                    for below, nested in () if program.module else operator.nested:
                        copied_module(fetched(nested), source / below)
                words = [
                    "go",
                    "build",
                    "-buildvcs=false",
                    "-ldflags=-s -w",
                    "-o",
                    str(target),
                    program.package,
                ]
                run(f"go build {origin.name}/{program.package}", words, source, CGO_ENABLED="0")
            else:
                _jars(program, target)
            target.replace(place / program.name)
    return Built(commands, module)


def fetched(module: str) -> Path:
    """The folder of a Go module, MODULE@VERSION. Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        said = run(f"go mod download {module}", ["go", "mod", "download", "-json", module], Path(folder))
    return Path(json.loads(said)["Dir"])


def files(operator: Operator, patterns: Sequence[str]) -> Iterator[str]:
    """The text of each file of the patterns. Raises Failed where a pattern finds none."""
    for pattern in patterns:
        texts = list(_texts(operator, pattern))
        if not texts:
            raise Failed(f"reading {pattern}", "there is no such file")
        yield from texts


def _texts(operator: Operator, pattern: str) -> Iterator[str]:
    module, colon, glob = pattern.partition(":")
    if colon and module == "jar":
        for path in sorted((TOOLS / "operators" / operator.folder.name).glob("*/*.jar")):
            with zipfile.ZipFile(path) as jar:
                for name in sorted(jar.namelist()):
                    if fnmatch(name, glob):
                        yield jar.read(name).decode()
        return
    if pattern.startswith("./"):
        root, glob = operator.folder, pattern[2:]
    else:
        root = fetched(module if colon else f"{operator.module}@{operator.version}")
        glob = glob if colon else pattern
    for path in sorted(root.glob(glob)):
        yield path.read_text(encoding="utf-8")


def _command(operator: Operator, program: Program) -> list[str]:
    if program.script:
        return [sys.executable, str(operator.folder / program.script)]
    path = str(TOOLS / "operators" / operator.folder.name / program.name)
    return [path] if program.package else ["java", "-cp", f"{path}/*", program.main]


def _jars(program: Program, target: Path) -> None:
    """The jars and what they need, in one folder, by Maven."""
    wanted = []
    for jar in program.jars:
        group, artifact, version, *classifier = jar.split(":")
        more = f"<classifier>{classifier[0]}</classifier>" if classifier else ""
        wanted.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version>{more}</dependency>"
        )
    target.mkdir()
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>archfit</groupId><artifactId>operators</artifactId>"
            f"<version>1</version><dependencies>{''.join(wanted)}</dependencies></project>",
            encoding="utf-8",
        )
        words = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
        run(f"mvn dependency:copy-dependencies {' '.join(program.jars)}", words, Path(name))


def run(step: str, words: Sequence[str], folder: Path, **environ: str) -> str:
    """What it wrote. Raises Failed."""
    try:
        done = machine.run(words, cwd=folder, env={**os.environ, **environ})
    except OSError as error:
        raise Failed(step, f"{words[0]}: {error.strerror}") from error
    if done.returncode:
        raise Failed(step, done.stdout + done.stderr)
    return done.stdout
