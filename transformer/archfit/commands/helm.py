"""`archfit helm`: what the plugin of Helm 4 starts: `archfit transform` with defaults for Helm."""

from __future__ import annotations

from archfit.commands import transform
from archfit.integrations.helm.defaults import DEFAULTS
from archfit.typing_names import BinaryIO, Mapping, Sequence, TextIO


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    return transform.run(argv, stdin, stdout, stderr, environ, DEFAULTS)
