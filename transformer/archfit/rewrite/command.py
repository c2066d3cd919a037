"""`archfit [transform]`: stdin -> stdout; with files, folders or a place for the output, `rewrite.files`.

A ResourceList makes the run a KRM function (`rewrite.resource_list`). `archfit.run` has the run itself.
"""

from __future__ import annotations

from archfit.base import standard_streams
from archfit.base.errors import ArchfitError, OutputError, UsageError, message_of
from archfit.base.files import read_file
from archfit.base.results import Message
from archfit.options.layers import from_flags, load
from archfit.reports.report import report_failure
from archfit.rewrite.function import PROGRAM, frame_of, layer_of, run_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO, TextIO

    from archfit.options.settings import Layer
    from archfit.rewrite.resource_list import FunctionFrame

_TERMINAL = "standard input is a terminal: pipe manifests in, or name files; see archfit --help"


def transform(
    argv: Sequence[str],
    stdin: BinaryIO,
    stdout: BinaryIO,
    stderr: TextIO,
    environ: Mapping[str, str],
    defaults: Layer | None = None,
) -> int:
    """The command, after its name. defaults: the caller's own. The exit code; raises ArchfitError."""
    try:
        return _run(argv, stdin, stdout, stderr, environ, defaults)
    except OutputError:
        raise  # the run has reported it
    except Exception as error:
        report_failure(PROGRAM, error, environ)
        raise


def _run(
    argv: Sequence[str],
    stdin: BinaryIO,
    stdout: BinaryIO,
    stderr: TextIO,
    environ: Mapping[str, str],
    defaults: Layer | None,
) -> int:
    call, flags = None, None
    if argv and defaults is None:
        from archfit.options.table import TABLE

        flags = from_flags(argv, TABLE)
        if flags is None:
            from archfit.rewrite.call import read_call

            call = read_call(argv)
            if not call.is_stream:
                from archfit.rewrite.files import transform_files

                return transform_files(call, stdin, stdout, stderr, environ)
        if stdin.isatty():
            raise (call.error if call else None) or UsageError(_TERMINAL)
    data = standard_streams.read_input(stdin)
    frame = frame_of(data)
    try:
        application = layer_of(frame) if frame else None
        flags = call.options if call else flags
        settings = load(argv, environ, read_file, application=application, flags=flags, fallback=defaults)
        run = run_of(settings, environ, stderr, frame)
        try:
            return run.transform(data, stdout)
        finally:
            run.close()
    except OutputError:
        raise
    except Exception as error:
        if frame:
            _give_back(frame, error, stdout)
        raise


def _give_back(frame: FunctionFrame, error: Exception, stdout: BinaryIO) -> None:
    """Writes the input list unchanged: an orchestrator that ignores the exit code must lose nothing."""
    try:
        parts = frame.after_failure(None, [Message("error", message_of(error))])
    except ArchfitError:  # the list cannot hold results; standard error shows them
        parts = [frame.data]
    standard_streams.write(stdout, parts)
