"""--help, --help-all and --version, which every command answers before it reads anything else."""

from __future__ import annotations

from collections.abc import Sequence

_ASKED = {
    "-h": "help",
    "--help": "help",
    "--help-all": "help-all",
    "-V": "version",
    "--version": "version",
}


def help_or_version(argv: Sequence[str]) -> str:
    """What the arguments ask for anywhere before `--`: "help", "help-all", "version" or nothing."""
    for word in argv:
        if word == "--":
            break
        if word in _ASKED:
            return _ASKED[word]
    return ""
