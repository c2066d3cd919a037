"""What `archfit setup TOOL --check` prints: a line for each thing that it checks, `ok: ..` or `wrong: ..`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, TypeAlias

from archfit.base.errors import ArchfitError
from archfit.base.printable import encoded

Line: TypeAlias = tuple[bool, str]
"""Whether it is right, and what was found, with the remedy where it is wrong."""


class Wrong(Exception):
    """What is wrong and how to fix it, in one line. Nothing after it can be checked."""


def up_to_wrong(right: Iterator[str]) -> Iterator[Line]:
    """The lines of what is right, up to the first thing that raises Wrong or ArchfitError."""
    try:
        for line in right:
            yield True, line
    except (Wrong, ArchfitError) as error:
        yield False, str(error)


def write_lines(lines: Iterable[Line], stdout: BinaryIO) -> int:
    """Writes each line as soon as it is known. The exit code."""
    code = 0
    for is_right, line in lines:
        stdout.write(encoded(f"{'ok' if is_right else 'wrong'}: {line}\n"))
        code = code if is_right else 3
    return code


# A pod that has a node is left alone, whatever the user's configuration says, and no registry is asked.
CHECK_POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: archfit-check
spec:
  nodeName: none
  containers:
    - name: check
      image: registry.invalid/archfit/check:1
"""
