"""What is installed: archfit, its Python, its dependencies and extras, and the versions of what it reads and writes.

Names of dependencies are those of the metadata of the package (Requires-Dist, PEP 508). The kind is wheel, checkout
(installed with -e, or started from its sources) or bundle (the folder of `make bundle`, with its own Python).
cParser: libyaml reads the manifests, and Python does not, ten times slower.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from typing import Any, BinaryIO

import archfit
from archfit.base.errors import UsageError
from archfit.base.packages import EXTRAS
from archfit.base.printable import encoded
from archfit.cli.usage.command_table import BY_NAME
from archfit.facts.facts import SCHEMA as AUDIT
from archfit.lookup.lockfile import VERSION as LOCK
from archfit.lookup.store.sqlite import SCHEMA as CACHE
from archfit.options.config_file import API_VERSION
from archfit.yaml.json_output import document_head, json_output
from archfit.yaml.tree import C_EXTENSION

_NAME = re.compile(r"[\w.-]+")


def installation() -> dict[str, Any]:
    """As `archfit version --json` shows it. Reads the metadata of installed packages; asks nobody."""
    try:
        own = distribution("archfit")
    except PackageNotFoundError:
        own = None
    needs = own.requires or [] if own else []
    return {
        "archfit": archfit.__version__,
        "install": {"kind": _kind(own), "place": os.path.dirname(os.path.abspath(archfit.__file__))},
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "program": sys.executable,
        },
        "platform": {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
        },
        "cParser": C_EXTENSION,
        "dependencies": _versions(line for line in needs if ";" not in line),
        "extras": {name: _extra(EXTRAS[name]) for name in sorted(EXTRAS)} if needs else {},
        "schemas": {"configuration": API_VERSION, "audit": AUDIT, "lock": LOCK, "cache": CACHE},
    }


def _extra(packages: Iterable[str]) -> dict[str, Any]:
    versions = _versions(packages)
    return {"installed": None not in versions.values(), "packages": versions}


def _versions(requirements: Iterable[str]) -> dict[str, str | None]:
    names = sorted(name[0] for text in requirements if (name := _NAME.match(text)))
    return {name: _version(name) for name in names}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _kind(own: Distribution | None) -> str:
    if getattr(sys, "frozen", False):
        return "bundle"
    # PEP 610: installers write direct_url.json; `-e` is {"dir_info": {"editable": true}}.
    try:
        origin = json.loads(own.read_text("direct_url.json") or "{}") if own else {}
    except ValueError:
        origin = {}
    editable = origin.get("dir_info", {}).get("editable", False)
    return "checkout" if own is None or editable else "wheel"


def show_installation(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    flags, words = BY_NAME["version"].parser().parse(argv)
    if words:
        raise UsageError("'archfit version' takes no argument but --format")
    facts = installation()
    whole = {**document_head("version"), **facts}
    stdout.write(json_output(whole) if flags.format == "json" else encoded("\n".join([*lines(facts), ""])))
    return 0


def lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """The facts for people: one line for each subject, the columns aligned."""
    python, system = facts["python"], facts["platform"]
    parser = "C (libyaml)" if facts["cParser"] else "Python, which is slow: install PyYAML from its wheel"
    rows = [
        ("archfit", facts["archfit"]),
        ("installed", f"{facts['install']['kind']}, {facts['install']['place']}"),
        ("Python", f"{python['version']} ({python['implementation']}), {python['program']}"),
        ("platform", f"{system['system']} {system['release']}, {system['machine']}"),
        ("YAML parser", parser),
        ("dependencies", _packages(facts["dependencies"])),
        *((f"extra {name}", _extra_text(extra)) for name, extra in facts["extras"].items()),
        *((f"{name} schema", str(version)) for name, version in facts["schemas"].items()),
    ]
    width = max(len(name) for name, _ in rows) + 2
    for name, value in rows:
        yield f"{name:{width}}{value}"


def _packages(versions: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {version or 'is missing'}" for name, version in versions.items()) or "unknown"


def _extra_text(extra: Mapping[str, Any]) -> str:
    return _packages(extra["packages"]) if any(extra["packages"].values()) else "not installed"
