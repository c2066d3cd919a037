"""`archfit last`: the last run's report, for callers that throw standard error away (Helm 4)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from archfit import standard_streams
from archfit.errors import ArchfitError, UsageError
from archfit.last_report import state_path
from archfit.printable import json_text, visible
from archfit.report.last_run import lines
from archfit.usage.command_table import BY_NAME


def run(argv: Sequence[str], stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    flags, words = BY_NAME["last"].parser().read(argv)
    if words:
        raise UsageError("'archfit last' takes no argument but --json")
    path = state_path(environ)
    try:
        with open(path, "rb") as file:
            content = file.read()
        found = json.loads(content)
    except FileNotFoundError:
        raise ArchfitError(
            f"no run has left a report yet in {path!r}: run archfit on manifests first"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ArchfitError(f"the last report in {path!r} cannot be read ({error}): delete it") from None
    if flags.json:
        standard_streams.write_report(stdout, [json_text(content.decode(errors="replace")).encode()])
        return 0
    try:
        shown = list(lines(found, int(time.time())))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArchfitError(f"the last report in {path!r} is not a report of archfit: delete it") from None
    standard_streams.write_report(stdout, ["".join(f"{visible(line)}\n" for line in shown).encode()])
    return 0
