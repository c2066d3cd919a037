"""--help, -h, --version and -V, which every command answers before it reads anything else."""

from __future__ import annotations

from collections.abc import Sequence


def help_or_version(argv: Sequence[str]) -> str:
    """What the arguments ask for anywhere before `--`: "help", "version" or nothing."""
    for word in argv:
        if word == "--":
            break
        if word in ("-h", "--help"):
            return "help"
        if word in ("-V", "--version"):
            return "version"
    return ""
