"""The folder of `make bundle` as an archive for machines without Python.

    archfit/archfit              starts it
    archfit/kubectl-archfit      the same program, for kubectl
    archfit/_internal/           Python and its libraries
    archfit/LICENSE, archfit.1, completions/

It runs where the C library is as new as the newest symbol that its files ask for: `needed_glibc`. That follows from the
machine that builds it.
"""

from __future__ import annotations

import gzip
import re
import shutil
import tarfile
from typing import TYPE_CHECKING

from places import ROOT, Release, Wrong, architecture, run, unpack
from python_archives import EPOCH

if TYPE_CHECKING:
    from pathlib import Path

SHELLS = {"bash": "archfit.bash", "zsh": "_archfit", "fish": "archfit.fish"}
_GLIBC = re.compile(rb"GLIBC_(\d+)\.(\d+)")


def build(release: Release) -> str:
    """The archive in dist/binary/."""
    bundle = release.work / "bundle"
    run("make", "--no-print-directory", "bundle", f"DIST={bundle}", f"RUN={release.python}")
    folder = bundle / "archfit"
    shutil.copy2(folder / "archfit", folder / "kubectl-archfit")
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "archfit.1").write_text(run(release.python, ROOT / "scripts" / "man_page.py"), encoding="utf-8")
    (folder / "completions").mkdir()
    for shell, name in SHELLS.items():
        script = run(folder / "archfit", "completion", shell)
        (folder / "completions" / name).write_text(script, encoding="utf-8")
    links = [path.name for path in folder.rglob("*") if path.is_symlink()]
    if links:
        raise Wrong(f"krew refuses archives with links: {links}")
    name = f"archfit-{release.version}-linux-{architecture()}.tar.gz"
    pack(folder, release.folder("binary") / name)
    return f"needs glibc {'.'.join(map(str, needed_glibc(folder)))} or later"


def check(release: Release) -> str:
    """Every command of the unpacked archive, extras included."""
    archive = release.only(f"binary/archfit-{release.version}-linux-{architecture()}.tar.gz")
    unpacked = unpack(archive, release.work / "binary")
    smoke = ROOT / "tests" / "support" / "smoke.py"
    said = run(release.python, "-I", smoke, "--extras", unpacked / "archfit" / "archfit")
    plain = run(unpacked / "archfit" / "kubectl-archfit", "--version")
    if plain != f"archfit {release.version}\n":
        raise Wrong(f"kubectl-archfit --version says {plain!r}")
    return f"{len(said.splitlines())} starts"


def pack(folder: Path, archive: Path) -> None:
    """A tar.gz of the folder, which depends on names, contents and executable bits alone."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = int(EPOCH)
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, int(EPOCH)) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):
        for path in (folder, *sorted(folder.rglob("*"))):
            made.add(path, path.relative_to(folder.parent).as_posix(), recursive=False, filter=plain)


def needed_glibc(folder: Path) -> tuple[int, int]:
    """The newest version of glibc's symbols that a program or library in the folder names."""
    found = {(0, 0)}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if content.startswith(b"\x7fELF"):
                found |= {(int(major), int(minor)) for major, minor in _GLIBC.findall(content)}
    return max(found)
