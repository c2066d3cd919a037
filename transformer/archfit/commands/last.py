"""`archfit last`: the last run's report, for callers that throw standard error away (Helm 4).

    $XDG_STATE_HOME/archfit/last.json, else ~/.local/state/archfit/last.json     (XDG Base Directory)

Every run of `transform` leaves one there. Failing to do so is no reason to fail the run; failing to write the file
that `--report` names is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import gmtime, strftime

from archfit.errors import ArchfitError, OutputError, UsageError
from archfit.files import Prepared
from archfit.pipeline import Decided
from archfit.printable import json_text, visible
from archfit.report.run_report import TIME, report
from archfit.results import Result
from archfit.source.values import plain
from archfit.store.directories import state_path
from archfit.stream import ChangedSpan
from archfit.typing_names import Any, BinaryIO

HELP = """\
usage: archfit last [--json]

Shows what the last run on this machine decided, and why; first of all when it was, by which command and version. With
--json, the whole report. A run that never started has left none: then the one before is shown.
"""


class Report:
    """A report on its way to its places: the file that `--report` names, and the state directory.

    Raises ArchfitError where it cannot be written to the file that was named.
    """

    def __init__(self, made: dict[str, Any], path: str, state: str) -> None:
        self._made, self._path, self._state = made, path, state
        content = (json_text(json.dumps(made, default=plain, ensure_ascii=False)) + "\n").encode()
        self._kept: Prepared | None = None
        try:
            self._named = Prepared(path, content) if path else None
        except OSError as error:
            raise _unwritable(path, error) from None
        if state:
            try:
                os.makedirs(os.path.dirname(state), mode=0o700, exist_ok=True)
                self._kept = Prepared(state, content)
            except OSError:
                pass  # It is for `archfit last` alone, and no reason to fail the run.

    def commit(self) -> None:
        """Put it in its places."""
        try:
            if self._named:
                self._named.commit()
        except OSError as error:
            raise _unwritable(self._path, error) from None
        finally:
            _tried(self._kept, Prepared.commit)

    def commit_after(self, write: Callable[[], None]) -> None:
        """Put it in its places once the output is written. Raises OutputError as `write` does; then it says so."""
        try:
            write()
        except OutputError as error:
            for one in (self._named, self._kept):
                _tried(one, Prepared.discard)
            said = [*self._made["results"], {"severity": "error", "message": str(error)}]
            Report({**self._made, "exit": 1, "results": said, "edits": []}, self._path, self._state).commit()
            raise
        self.commit()


def _tried(one: Prepared | None, what: Callable[[Prepared], None]) -> None:
    try:
        if one:
            what(one)
    except OSError:
        pass  # It is for `archfit last` alone, or to be thrown away.


def prepared(
    transformed: Decided | None,
    results: Iterable[Result],
    edits: Iterable[ChangedSpan],
    *,
    exit_code: int,
    sources: Iterable[str],
    requests: Mapping[str, int],
    path: str,
    environ: Mapping[str, str],
    command: str,
) -> Report:
    """The report of a run, beside its places. path: what `--report` says, "" for nothing. Raises ArchfitError for it.

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
    return Report(made, path, state_path(environ))


def _unwritable(path: str, error: OSError) -> ArchfitError:
    return ArchfitError(
        f"--report: cannot write {path!r} ({error.strerror}): name a file that can be written"
    )


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
    except (OSError, ValueError, RecursionError) as error:
        raise ArchfitError(f"the last report in {path!r} cannot be read ({error}): delete it") from None
    if argv:
        stdout.write(json_text(content.decode(errors="replace")).encode())
        return 0
    from time import time

    from archfit.report.last_run import lines

    try:
        said = list(lines(found, int(time())))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArchfitError(f"the last report in {path!r} is none of archfit's: delete it") from None
    stdout.write("".join(f"{visible(line)}\n" for line in said).encode())
    return 0
