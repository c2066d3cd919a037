"""`archfit setup flux`: what `archfit patch` writes, kept in a file for Flux."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.cli.usage.general_flags import quiet_and_color
from archfit.integrations.flux import setup
from archfit.patch import command as patch


def run(argv: Sequence[str], stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup flux`. The exit code; raises ArchfitError."""
    quiet, when = quiet_and_color(argv, environ)

    def write_patches(form: str, output: BinaryIO) -> int:
        words = ["--format", form, "--color", when, *(["--quiet"] if quiet else [])]
        return patch.run(words, stdin, output, stderr, environ)

    return setup.run(argv, stdin, stderr, write_patches)
