"""`archfit schema [NAME]`: the JSON Schema of a file that archfit reads or writes.

NAME     file                              the page has it as
config   the configuration file            docs/archfit.schema.json
report   --report FILE, last --json        docs/report.schema.json
check    check --format json               docs/check.schema.json
explain  explain --format json             docs/explain.schema.json
audit    audit --format json               docs/audit.schema.json
lock     archfit.lock                      docs/lock.schema.json
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from archfit.errors import UsageError
from archfit.lookup.lock_schema import lock_schema
from archfit.options.describe import json_schema
from archfit.report.audit_schema import schema as audit_schema
from archfit.report.explained_schema import schema as explain_schema
from archfit.report.json_output import json_output
from archfit.report.output_schemas import check_schema, report_schema
from archfit.spelling import refused
from archfit.usage.command_table import BY_NAME

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "config": json_schema,
    "report": report_schema,
    "check": check_schema,
    "explain": explain_schema,
    "audit": audit_schema,
    "lock": lock_schema,
}


def run(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    name, *more = BY_NAME["schema"].parser().read(argv)[1] or ("config",)
    if name not in SCHEMAS:
        raise UsageError(f"archfit schema: {refused(name, SCHEMAS)}")
    if more:
        words = BY_NAME["schema"].words
        raise UsageError(f"name one schema: archfit schema {', '.join(words[:-1])} or {words[-1]}")
    stdout.write(json_output(SCHEMAS[name]()))
    return 0
