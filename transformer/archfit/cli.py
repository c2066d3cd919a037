"""First argument -> command; exit codes; nothing else.

archfit [transform] [options]     stdin -> stdout; no word is needed, so Helm 3 can call it bare
archfit check [FILE..]            what archfit would still change; --require arm64: what does not run there
archfit patch [FILE..]            the same decisions as patches, for places that can run nothing
archfit lock [FILE..]             write the lock file, for runs that ask nobody
archfit inspect IMAGE..           what registries have for images
archfit login-check HOST|IMAGE    which credential would be used, and whether the registry accepts it
archfit helm                      what Helm 4's plugin starts: transform with defaults for Helm
archfit argocd WORD               what Argo CD's plugin.yaml starts
archfit setup TOOL                write the files that plug it in: cluster, helm, kustomize, kpt, argocd, flux
archfit cache WORD                where answers are kept; info, prune, clear
archfit last                      the last run's report

0  done        1  failed, stdout is empty        2  wrong usage        3  a check found something
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence

from archfit.typing_names import BinaryIO, NoReturn, TextIO


def _stdin() -> BinaryIO:
    if sys.stdin is None:  # the caller closed it (`<&-`)
        from archfit.errors import ArchfitError

        raise ArchfitError("standard input is closed: pipe manifests into archfit, or redirect a file to it")
    return sys.stdin.buffer


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        from archfit.errors import ArchfitError

        raise ArchfitError("standard output is closed: there is nowhere to write to")
    return sys.stdout.buffer


def _stderr() -> TextIO:
    from archfit.printable import messages

    return messages(sys.stderr)


def _transform(argv: Sequence[str]) -> int:
    from archfit.commands.transform import run

    return run(argv, _stdin(), _stdout(), _stderr(), os.environ)


def _check(argv: Sequence[str]) -> int:
    from archfit.commands.check import run

    return run(argv, _stdin(), _stdout(), _stderr(), os.environ)


def _patch(argv: Sequence[str]) -> int:
    from archfit.commands.patch import run

    return run(argv, _stdin(), _stdout(), _stderr(), os.environ)


def _lock(argv: Sequence[str]) -> int:
    from archfit.commands.lock import run

    return run(argv, _stdin(), _stdout(), _stderr(), os.environ)


def _inspect(argv: Sequence[str]) -> int:
    from archfit.commands.inspect import run

    return run(argv, _stdout(), _stderr(), os.environ)


def _login_check(argv: Sequence[str]) -> int:
    from archfit.commands.login_check import run

    return run(argv, _stdout(), _stderr(), os.environ)


def _helm(argv: Sequence[str]) -> int:
    from archfit.commands.transform import run
    from archfit.integrations.helm.defaults import DEFAULTS

    return run(argv, _stdin(), _stdout(), _stderr(), os.environ, DEFAULTS)


def _argocd(argv: Sequence[str]) -> int:
    from archfit.integrations.argocd.command import run

    return run(argv, _stdout(), _stderr(), os.environ)


def _setup(argv: Sequence[str]) -> int:
    from archfit.commands.setup import run

    return run(argv, _stdin(), _stdout(), _stderr(), os.environ)


def _cache(argv: Sequence[str]) -> int:
    from archfit.commands.cache import run

    return run(argv, _stdout(), os.environ)


def _last(argv: Sequence[str]) -> int:
    from archfit.commands.last import run

    return run(argv, _stdout(), os.environ)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "transform": _transform,
    "check": _check,
    "patch": _patch,
    "lock": _lock,
    "inspect": _inspect,
    "login-check": _login_check,
    "helm": _helm,
    "argocd": _argocd,
    "setup": _setup,
    "cache": _cache,
    "last": _last,
}


def main(argv: Sequence[str]) -> int:
    """Runs the command that argv names (without the program) and gives its exit code. Never raises."""
    if sys.stderr is None:  # closed by the caller; what is said there must not go to standard output
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it is open until the process ends
    try:
        if argv and argv[0] in COMMANDS:
            return COMMANDS[argv[0]](argv[1:])
        if argv and not argv[0].startswith("-") and argv[0]:
            return _unknown(argv[0])
        return _transform(argv)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the exit code has to say so
        return _failed(error)


def run() -> NoReturn:
    """The console script: like `main`, and ends the process without tearing the interpreter down (4-6 ms)."""
    gc.disable()
    code = main(sys.argv[1:])
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        code = code or _failed(error)
    try:
        sys.stderr.flush()
    except OSError:
        pass  # nobody reads it, and the exit code says it all
    os._exit(code)


def _unknown(word: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(COMMANDS)}"
    print(f"error: {word!r} is not a command: {hint} See archfit --help", file=_stderr())
    return 2


def _failed(error: Exception) -> int:
    from archfit.errors import ArchfitError, exit_code_of, message_of
    from archfit.terminal import write_to_terminal

    if os.environ.get("ARCHFIT_DEBUG") and not isinstance(error, (ArchfitError, OSError)):
        from traceback import print_exception

        print_exception(error, file=_stderr())
    message = f"error: {message_of(error)}"
    try:
        print(message, file=_stderr())
    except OSError:
        pass  # nobody reads it, and the exit code says it all
    write_to_terminal(message, sys.stderr, os.environ)
    return exit_code_of(error)


if __name__ == "__main__":
    run()
