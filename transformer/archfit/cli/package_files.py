"""`archfit schema [NAME]` and `archfit completion SHELL`: files that the package holds, made when it is built.

schemas/                 of (JSON Schema, draft 2020-12)                              made by
archfit.schema.json      config: the configuration file                               scripts/option_pages.py
report.schema.json       report: --report FILE, last --json
check.schema.json        check: check --format json
explain.schema.json      explain: explain --format json                               scripts/record_schemas.py
audit.schema.json        audit: audit --format json                                   scripts/record_schemas.py
lock.schema.json         lock: archfit.lock

completions/
archfit.bash, archfit.zsh, archfit.fish: the words of each command                    scripts/completion_scripts.py

An object of a report may hold no other member than its schema names, so a new one is in the schema, or the tests fail.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

from archfit.base.errors import UsageError
from archfit.base.spelling import refused
from archfit.cli.usage.command_table import BY_NAME


def print_schema(argv: Sequence[str], stdout: BinaryIO) -> int:
    """`archfit schema`, after its name. The exit code; raises UsageError."""
    names = BY_NAME["schema"].words
    name, *more = BY_NAME["schema"].parser().read(argv)[1] or ("config",)
    if name not in names:
        raise UsageError(f"archfit schema: {refused(name, names)}")
    if more:
        raise UsageError(f"name one schema: archfit schema {', '.join(names[:-1])} or {names[-1]}")
    stdout.write(schema(name))
    return 0


def print_completion(argv: Sequence[str], stdout: BinaryIO) -> int:
    """`archfit completion`, after its name. The exit code; raises UsageError."""
    shells = BY_NAME["completion"].words
    words = BY_NAME["completion"].parser().read(argv)[1]
    if words and words[0] not in shells:
        raise UsageError(f"archfit completion: {refused(words[0], shells)}")
    if len(words) != 1:
        raise UsageError("name one shell: archfit completion bash, zsh or fish")
    stdout.write(_content("completions", f"archfit.{words[0]}"))
    return 0


def schema(name: str) -> bytes:
    """The schema of that name, as the command takes it."""
    return _content("schemas", f"{'archfit' if name == 'config' else name}.schema.json")


def _content(folder: str, name: str) -> bytes:
    with open(os.path.join(os.path.dirname(__file__), folder, name), "rb") as file:
        return file.read()
