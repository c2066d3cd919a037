"""`archfit version [--json]`: what is installed, for bug reports and scripts. `archfit --version` is the short form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from archfit.commands.installation import installation
from archfit.errors import UsageError
from archfit.printable import encoded
from archfit.report.json_output import json_output
from archfit.usage.command_table import BY_NAME


def run(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    flags, words = BY_NAME["version"].parser().read(argv)
    if words:
        raise UsageError("'archfit version' takes no argument but --json")
    facts = installation()
    stdout.write(json_output(facts) if flags.json else encoded("\n".join([*lines(facts), ""])))
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
        *((f"extra {name}", _extra(extra)) for name, extra in facts["extras"].items()),
        *((f"{name} schema", str(version)) for name, version in facts["schemas"].items()),
    ]
    width = max(len(name) for name, _ in rows) + 2
    for name, value in rows:
        yield f"{name:{width}}{value}"


def _packages(versions: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {version or 'is missing'}" for name, version in versions.items()) or "unknown"


def _extra(extra: Mapping[str, Any]) -> str:
    if any(extra["packages"].values()):
        return _packages(extra["packages"])
    return "not installed"
