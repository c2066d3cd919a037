"""A program that is run to its end: Helm, kustomize, kpt, or archfit itself."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from archfit.errors import ArchfitError

LONGEST_SECONDS = 60.0


def run_program(words: Sequence[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a program without input. Raises ArchfitError if it cannot be started or does not end."""
    try:
        return subprocess.run(  # noqa: S603 - the user's own programs, from PATH or named by flag; no shell
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environ),
            timeout=LONGEST_SECONDS,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ArchfitError(f"{words[0]} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ArchfitError(f"{' '.join(words)} did not end within {LONGEST_SECONDS:g} s") from None
