"""`archfit lock` in process, in a folder of its own, over a registry whose tags tests move.

locking.lock(NGINX, "--check")      stdin, then flags; status, stdout, stderr
locking.file                        archfit.lock
"""

import os
from pathlib import Path
from typing import NamedTuple

from registry import Registry

from archfit.lock.command import lock as run
from program import called


class Said(NamedTuple):
    """How it ended; a raised error as the command line shows it."""

    status: int
    stdout: str
    stderr: str


def pod(*images: str, name: str = "a") -> str:
    """A Deployment with a container for each image, as one document."""
    containers = "".join(f"      - {{name: c{n}, image: '{image}'}}\n" for n, image in enumerate(images))
    return (
        f"---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  template:\n    spec:\n"
        f"      containers:\n{containers}"
    )


class Locking:
    """One folder with its lock file. The cache is off: tests move tags within a second."""

    def __init__(self, folder: Path, registry: Registry) -> None:
        self.folder = folder
        self.registry = registry
        self.file = folder / "archfit.lock"
        self.environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        self.words = ["--no-cache", "--lock-file", str(self.file)]

    def lock(self, text: str, *words: str) -> Said:
        """The command over `text` on standard input."""
        argv = [*self.words, *self.registry.mirrors(), *words]
        ran = called(run, argv, text.encode(), self.environ)
        return Said(ran.status, ran.stdout.decode(), ran.stderr)

    def write(self, name: str, text: str) -> str:
        """A file of the folder; its path."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def stamp(self) -> tuple[int, int, bytes]:
        """What changes when the file is written: inode, time and bytes."""
        state = self.file.stat()
        return state.st_ino, state.st_mtime_ns, self.file.read_bytes()

    def held(self) -> list[str]:
        """The references of the file."""
        from archfit.lookup.lockfile import parse

        return list(parse(self.file.read_bytes(), "archfit.lock"))
