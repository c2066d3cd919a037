"""`archfit setup flux`: what `archfit patch` writes, kept in a file for Flux."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.commands import patch
from archfit.integrations.flux import setup


def run(argv: Sequence[str], stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup flux`. The exit code; raises ArchfitError."""

    def write_patches(form: str, output: BinaryIO) -> int:
        return patch.run(["--format", form], stdin, output, stderr, environ)

    return setup.run(argv, stdin, stderr, write_patches)
