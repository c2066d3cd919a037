"""First argument -> command -> exit code; the one place where an exception becomes a message.

`transform` and `helm` are run without `cli.usage.command_table`, which is loaded for any other word.

0  done        1  failed, stdout is empty        2  wrong usage        3  a check found something
"""

from __future__ import annotations

import gc
import os
import sys

from archfit import __version__
from archfit.base.errors import ArchfitError, UnknownFlag, UsageError, exit_code_of, message_of
from archfit.base.printable import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, NoReturn, TextIO

if sys.platform == "win32":
    # What follows needs POSIX: signals, process groups, file modes.
    sys.exit(
        "archfit: error: archfit runs on Linux and macOS; on Windows, install and run it in WSL (`wsl --install`)"
    )


def main(argv: Sequence[str]) -> int:
    """Runs the command that argv names (without the program) and gives its exit code. Never raises."""
    if sys.stderr is None:  # closed by the caller; messages must not go to standard output
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it is open until the process ends
    stderr = _stderr(argv)
    try:
        return _start(argv, stderr)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - every error needs its exit code
        return _failed(error, stderr)


def run() -> NoReturn:
    """The console script: like `main`, and ends the process without tearing the interpreter down (4-6 ms)."""
    gc.disable()
    if os.getpid() == 1:
        _end_on_term()
    code = main(sys.argv[1:])
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        code = code or _failed(error, _stderr(sys.argv[1:]))
    try:
        sys.stderr.flush()
    except OSError:
        pass  # the exit code still shows it
    os._exit(code)


def _end_on_term() -> None:
    """SIGTERM ends process 1, too. The kernel gives it no default action (pid_namespaces(7)), so that a container would
    work on until its grace period is over.
    """
    import signal

    signal.signal(signal.SIGTERM, lambda number, _frame: os._exit(128 + number))


def _transform(argv: Sequence[str], stderr: TextIO) -> int:
    from archfit.rewrite.command import transform

    return transform(argv, _stdin(), _stdout(), stderr, os.environ)


def _helm(argv: Sequence[str], stderr: TextIO) -> int:
    from archfit.integrations.helm.command import post_render

    return post_render(argv, _stdin(), _stdout(), stderr, os.environ)


_WARM = {"transform": _transform, "helm": _helm}


def _start(argv: Sequence[str], stderr: TextIO) -> int:
    _no_file_names(argv)
    if argv:
        from archfit.cli.usage.general_flags import command_first, help_or_version

        argv = command_first(argv)
        question = help_or_version(argv)
        if question:
            text = (
                f"archfit {__version__}\n"
                if question == "version"
                else _help(argv, whole=question == "help-all")
            )
            _stdout().write(text.encode())
            return 0
    if not argv or not argv[0] or argv[0].startswith("-"):
        argv = ("transform", *argv)
    if argv[0] in _WARM:
        if len(argv) == 1 and _stdin().isatty():
            stderr.write(_help(argv))
            return 2
        return _WARM[argv[0]](argv[1:], stderr)
    from archfit.cli.dispatch import start

    return start(
        argv, {"stdin": _stdin, "stdout": _stdout, "stderr": lambda: stderr, "environ": lambda: os.environ}
    )


def _no_file_names(argv: Sequence[str]) -> None:
    """Raises UsageError for a flag that is a file's name, too: a hook or `*` of the shell may have written it.

    pre-commit puts the names of a change behind the arguments of the hook, without `--` between them.
    """
    for word in argv:
        if word == "--":
            return
        if word.startswith("-") and word != "-" and os.path.lexists(word):
            raise UsageError(
                f"{word!r} is a flag and the name of a file here: for the file write './{word}', or -- before it; "
                "for the flag rename the file"
            )


def _help(argv: Sequence[str], *, whole: bool = False) -> str:
    from archfit.cli.dispatch import help_for

    return help_for(argv, whole=whole)


def _stdin() -> BinaryIO:
    if sys.stdin is None:  # the caller closed it (`<&-`)
        from archfit.base.standard_streams import ClosedInput

        return ClosedInput()
    return sys.stdin.buffer


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise ArchfitError("standard output is closed: there is nowhere to write to")
    return sys.stdout.buffer


_STYLED_BY = ("ARCHFIT_COLOR", "ARCHFIT_QUIET", "FORCE_COLOR")


def _stderr(argv: Sequence[str]) -> TextIO:
    """Standard error for messages, as flags, variables and a terminal ask for it."""
    stream = messages(sys.stderr)
    if argv or sys.stderr.isatty() or any(name in os.environ for name in _STYLED_BY):
        from archfit.base.terminal import style
        from archfit.cli.usage.general_flags import quiet_and_color

        quiet, when = quiet_and_color(argv, os.environ)
        style(stream, when, os.environ, quiet=quiet)
    return stream


def _failed(error: Exception, stderr: TextIO) -> int:
    from archfit.base.terminal import write_to_terminal

    if os.environ.get("ARCHFIT_DEBUG") and not isinstance(error, (ArchfitError, OSError)):
        from traceback import print_exception

        print_exception(error, file=stderr)
    message = f"error: {message_of(error)}"
    if isinstance(error, UsageError):  # a configuration file has all its mistakes in one, a line each
        message = message.replace("\n", "\nerror: ")
    if isinstance(error, UnknownFlag):
        from archfit.cli.dispatch import remedy

        better = remedy(error.program, error.flag)
        message = f"error: {better}" if better else message
    try:
        print(message, file=stderr)
    except OSError:
        pass  # the exit code still shows it
    write_to_terminal(message, sys.stderr, os.environ)
    return exit_code_of(error)


if __name__ == "__main__":
    run()
