"""The command line in this process over files in a folder, without registries: what it wrote, and what is on disk.

site = Site(tmp_path)
site.write({"a.yaml": AMD, "sub/b.yaml": BOTH})
site.run("--in-place", ".")         status, stdout, stderr
site.files()                        {"a.yaml": b"..", "sub/b.yaml": b".."}
placed(AMD)                         what archfit makes of a stream on standard input
"""

import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

from archfit.cli import main as cli
from program import Ran

OPTIONS = (
    "--offline",
    "--no-cache",
    "--image-platforms=x.io/amd=linux/amd64",
    "--image-platforms=x.io/both=linux/amd64,linux/arm64",
)


def pod(name: str, image: str = "x.io/amd:1", kind: str = "ReplicationController") -> bytes:
    """A workload in block style, restricted to amd64 with x.io/amd; with x.io/both it gets a toleration."""
    return (
        f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n  template:\n    spec:\n"
        f"      containers:\n      - name: a\n        image: {image}\n"
    ).encode()


AMD, BOTH = pod("amd"), pod("both", "x.io/both:1")
CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
SECRET = b"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  password: hunter2\n"


class _Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def run(words: tuple[str, ...], stdin: bytes | None = b"", *, terminal: bool = False, **environ: str) -> Ran:
    """`archfit WORDS`. stdin: None for a terminal. terminal: whether standard output is one."""
    out, said = _Terminal() if terminal else io.BytesIO(), io.StringIO()
    given = io.TextIOWrapper(_Terminal() if stdin is None else io.BytesIO(stdin))
    written = io.TextIOWrapper(out, write_through=True)
    with (
        mock.patch.multiple(sys, stdin=given, stdout=written, stderr=said),
        mock.patch.dict(os.environ, environ),
    ):
        status = cli.main(words)
    return Ran(status, out.getvalue(), said.getvalue())


def placed(stream: bytes, *words: str) -> bytes:
    """What archfit makes of a stream on standard input."""
    ended = run((*OPTIONS, *words), stream)
    assert ended.status == 0, ended.stderr
    return ended.stdout


class Site:
    """A folder, which is the working directory of its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def files(self) -> dict[str, bytes]:
        """Every regular file by its path, sorted."""
        found = sorted(path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    def run(
        self,
        *words: str,
        stdin: bytes | None = b"",
        options: bool = True,
        terminal: bool = False,
        **environ: str,
    ) -> Ran:
        """A command with the folder as working directory. options: with OPTIONS behind its words."""
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            return run((*words, *(OPTIONS if options else ())), stdin, terminal=terminal, **environ)
        finally:
            os.chdir(before)
