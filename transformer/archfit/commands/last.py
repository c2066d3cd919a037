"""`archfit last`: the last run's report, for callers that throw standard error away (Helm 4).

    $XDG_STATE_HOME/archfit/last.json, else ~/.local/state/archfit/last.json     (XDG Base Directory)

Every run of `transform` leaves one there. Failing to do so is no reason to fail the run; failing to write the file
that `--report` names is.
"""

from __future__ import annotations

import json
import os
from time import gmtime, strftime

from archfit.errors import ArchfitError, UsageError
from archfit.output.report import TIME, report
from archfit.source.values import plain
from archfit.store.place import state_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import BinaryIO

    from archfit.frames.stream import Span
    from archfit.outcome import Result
    from archfit.pipeline import Transformed

HELP = """\
usage: archfit last [--json]

Shows what the last run on this machine decided, and why; first of all when it was, by which command and version. With
--json, the whole report. A run that never started has left none: then the one before is shown.
"""


def keep(
    transformed: Transformed | None,
    results: Iterable[Result],
    edits: Iterable[Span],
    *,
    exit_code: int,
    sources: Iterable[str],
    requests: Mapping[str, int],
    path: str,
    environ: Mapping[str, str],
    command: str,
) -> None:
    """Writes the report to `path` (if it is not "") and to the state directory. Raises ArchfitError for `path`.

    command: as in `archfit check`.
    """
    made = report(
        transformed,
        results,
        edits,
        exit_code=exit_code,
        sources=sources,
        requests=requests,
        command=command,
        time=strftime(TIME, gmtime()),
    )
    text = json.dumps(made, default=plain, ensure_ascii=False)
    content = (text + "\n").encode()
    if path:
        try:
            _write(path, content)
        except OSError as error:
            raise ArchfitError(
                f"--report: cannot write {path!r} ({error.strerror}): name a file that can be written"
            ) from None
    state = state_path(environ)
    if state:
        try:
            os.makedirs(os.path.dirname(state), mode=0o700, exist_ok=True)
            _write(state, content)
        except OSError:
            return


def _write(path: str, content: bytes) -> None:
    """Writes a whole file or none: beside its place first, then over it, unless it is a device or pipe."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(content)
        return
    beside = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def run(argv: Sequence[str], stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    if any(word in ("-h", "--help") for word in argv):
        stdout.write(HELP.encode())
        return 0
    if list(argv) not in ([], ["--json"]):
        raise UsageError("'archfit last' takes no argument but --json")
    path = state_path(environ)
    try:
        with open(path, "rb") as file:
            content = file.read()
        found = json.loads(content)
    except FileNotFoundError:
        raise ArchfitError(f"no run has left a report yet in {path!r}") from None
    except (OSError, ValueError) as error:
        raise ArchfitError(f"the last report in {path!r} cannot be read ({error}): delete it") from None
    if argv:
        stdout.write(content)
        return 0
    from time import time

    from archfit.output.last_run import lines

    stdout.write("".join(f"{line}\n" for line in lines(found, int(time()))).encode())
    return 0
