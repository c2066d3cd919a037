"""The real program as a process, as Helm and a shell start it: bytes in, bytes out, a status.

    ran = archfit(stream, *registry.mirrors())
    ran.status, ran.stdout, ran.stderr
    called(audit, ["--offline"], stream, environ)    the same of a command in this process

The fixture `archfit` is in conftest.py; what it runs is the console script of the environment under test.
"""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from archfit.base.errors import ArchfitError

PROGRAM = Path(sys.executable).parent / "archfit"


class Ran(NamedTuple):
    """How it ended. stderr: decoded, as people read it."""

    status: int
    stdout: bytes
    stderr: str

    def ok(self) -> bytes:
        """The stream it wrote. Raises AssertionError with its words where it failed."""
        if self.status:
            raise AssertionError(f"archfit ended with status {self.status}:\n{self.stderr}")
        return self.stdout


def archfit(text: bytes, *words: str, cwd: Path | None = None, **environ: str) -> Ran:
    """Run `archfit WORDS` with `text` on standard input; `environ` is added to the tests' environment."""
    environ = {**os.environ, **environ}
    done = subprocess.run(
        [PROGRAM, *words], input=text, cwd=cwd, env=environ, capture_output=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def called(
    command: Callable[..., int],
    words: Sequence[str],
    text: bytes = b"",
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """What a command's function does in this process; an error as the command line shows it."""
    stdout, stderr, said = io.BytesIO(), io.StringIO(), ""
    try:
        status = command(words, io.BytesIO(text), stdout, stderr, environ or {})
    except ArchfitError as error:
        status, said = error.exit_code, f"error: {error}\n"
    return Ran(status, stdout.getvalue(), stderr.getvalue() + said)
