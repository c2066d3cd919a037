"""Flags that every command takes, found before it reads anything else.

ARCHFIT_QUIET and ARCHFIT_COLOR count where no flag says it; a configuration file can say it only once it is read.
"""

from __future__ import annotations

from os.path import exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_QUESTIONS = {
    "-h": "help",
    "--help": "help",
    "--help-all": "help-all",
    "-V": "version",
    "--version": "version",
}
_FIRST = ("-q", "--quiet", "--color", "--config")


def help_or_version(argv: Sequence[str]) -> str:
    """What the arguments ask for anywhere before `--`: "help", "help-all", "version" or nothing."""
    for word in _own(argv):
        if word in _QUESTIONS:
            return _QUESTIONS[word]
    return ""


def command_first(argv: Sequence[str]) -> Sequence[str]:
    """The same with the command before the flags that every command takes, as git and kubectl allow them before it."""
    at = 0
    while at < len(argv) and argv[at].partition("=")[0] in _FIRST:
        at += 2 if argv[at] in ("--color", "--config") else 1
    if not at or at >= len(argv) or argv[at][:1] == "-" or exists(argv[at]):
        return argv
    from archfit.cli.usage.command_table import first_words

    own = _own(argv)
    return [*own[at:], *own[:at], *argv[len(own) :]] if argv[at] in first_words() else argv


def quiet_and_color(argv: Sequence[str], environ: Mapping[str, str]) -> tuple[bool, str]:
    """Whether notes are left out, and when there are colours. A value that is wrong is the parser's business."""
    words = _own(argv)
    quiet = "-q" in words or "--quiet" in words
    if not quiet and "-v" not in words and "--verbose" not in words:
        quiet = environ.get("ARCHFIT_QUIET", "").strip() in ("true", "1")
    when = environ.get("ARCHFIT_COLOR", "").strip()
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if name == "--color":
            when = value or next(iter(words[at + 1 :]), "")
    return quiet, when if when in ("always", "never") else "auto"


def _own(argv: Sequence[str]) -> Sequence[str]:
    """The words before `--`; those behind it are another program's."""
    return argv[: list(argv).index("--")] if "--" in argv else argv
