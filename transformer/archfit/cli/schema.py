"""`archfit schema [NAME]`: the JSON Schemas (draft 2020-12) of what archfit reads and writes.

An object of a report may hold no other member than its schema names, so a new one is in the schema, or the tests fail.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import BinaryIO

from archfit.base.errors import UsageError
from archfit.base.spelling import refused
from archfit.cli import document_schemas
from archfit.cli.usage.command_table import BY_NAME
from archfit.yaml.json_output import json_output

_FROM_CODE = {
    "config": "archfit.options.config_file",
    "workloads": "archfit.options.workload_rows",
    "check": "archfit.check.schema",
    "explain": "archfit.explain.schema",
    "audit": "archfit.audit.report.json",
}
_FILES = ("report", "lock")


def show_schema(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    names = BY_NAME["schema"].words
    name, *more = BY_NAME["schema"].parser().parse(argv)[1] or ("config",)
    if name not in names:
        raise UsageError(f"archfit schema: {refused(name, names)}")
    if more:
        raise UsageError(f"name one schema: archfit schema {', '.join(names[:-1])} or {names[-1]}")
    stdout.write(schema(name))
    return 0


def schema(name: str) -> bytes:
    """The schema of that name, as the command takes it."""
    if name in _FROM_CODE:
        return json_output(import_module(_FROM_CODE[name]).schema())
    if name in _FILES:
        with open(os.path.join(os.path.dirname(__file__), "schemas", f"{name}.schema.json"), "rb") as file:
            return file.read()
    title = dict(BY_NAME["schema"].arguments)[name].removesuffix(".")
    return json_output(document_schemas.schema(name, title))
