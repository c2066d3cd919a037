"""The source archive and the wheel: complete, the same bytes each time, and usable in an empty environment.

The wheel is built twice, from the checkout and from the unpacked source archive. Equal bytes prove that the build is
reproducible, and that the source archive has what a build needs.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
import tomllib
import venv
import zipfile
from typing import TYPE_CHECKING

from places import ROOT, Release, Wrong, run, tool, unpack

if TYPE_CHECKING:
    from pathlib import Path

# Seconds; hatchling writes it into both archives. Any fixed time does.
EPOCH = "1577836800"
_WANTED = (
    "archfit/py.typed",
    "archfit/audit/report/page.html.jinja",
    "archfit/cli/schemas/lock.schema.json",
    "archfit/integrations/argocd/files/sidecar/plugin.yaml",
    "archfit/integrations/helm/files/launcher.sh",
    "archfit/integrations/helm/files/plugin.yaml",
    "archfit/chart/templates/webhook/deployment.yaml",
    "archfit-{version}.data/data/share/man/man1/archfit.1",
    "archfit-{version}.dist-info/licenses/LICENSE",
    "archfit-{version}.dist-info/entry_points.txt",
)
_UNWANTED = re.compile(
    r"(^|/)(tests?|__pycache__|\.[^/]*)(/|$)|\.py[cod]$|(^|/)(conftest|test_[^/]*)\.py$|~$"
)


def build(release: Release) -> str:
    """The two archives in dist/python/."""
    folder = release.folder("python")
    _hatchling(release, ROOT, folder, "sdist")
    _hatchling(release, ROOT, folder, "wheel")
    unpacked = unpack(release.only("python/*.tar.gz"), release.work / "unpacked")
    (source,) = unpacked.iterdir()
    again = release.work / "again"
    for target in ("sdist", "wheel"):
        _hatchling(release, source, again, target)
    for path in sorted(folder.iterdir()):
        if _digest(path) != _digest(again / path.name):
            raise Wrong(f"{path.name} has other bytes when it is built from the source archive")
    return "the same bytes from the checkout and from the source archive"


def _chart() -> set[str]:
    """What `archfit setup chart` writes."""
    folder = ROOT / "charts" / "archfit"
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {f"archfit/chart/{path.relative_to(folder).as_posix()}" for path in paths}


def _pages() -> set[str]:
    """What `archfit help` shows: the pages of docs/ that pyproject.toml does not leave out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    left_out = project["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]
    names = {path.name for path in (ROOT / "docs").glob("*.md") if f"/docs/{path.name}" not in left_out}
    return {f"archfit/pages/{name}" for name in names}


def content(release: Release) -> str:
    """What is in the two archives."""
    with zipfile.ZipFile(release.only("python/*.whl")) as wheel:
        names = wheel.namelist()
    missing = {name.format(version=release.version) for name in _WANTED} - set(names)
    modules = {path.relative_to(ROOT / "transformer").as_posix() for path in _package_files()}
    modules |= _pages() | _chart()
    missing |= modules - set(names)
    extra = {name for name in names if _UNWANTED.search(name)}
    extra |= {name for name in names if name.startswith("archfit/")} - modules
    if missing or extra:
        raise Wrong(f"the wheel lacks {sorted(missing)} and should not have {sorted(extra)}")
    with tarfile.open(release.only("python/*.tar.gz")) as archive:
        held = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    wanted = tracked()
    if wanted and held - {"PKG-INFO"} != wanted:
        lacks, has = sorted(wanted - held), sorted(held - wanted - {"PKG-INFO"})
        raise Wrong(f"the source archive lacks {lacks} and has {has}, which git does not know")
    return f"{len(names)} files in the wheel, {len(held)} in the source archive"


def tracked() -> set[str]:
    """The files of the checkout that git knows; none without git."""
    if not (ROOT / ".git").exists():
        return set()
    names = run("git", "ls-files", "-z").split("\0")
    return {name for name in names if name and (ROOT / name).exists()}


def metadata(release: Release) -> str:
    """What PyPI says of the two archives."""
    run(tool("twine"), "check", "--strict", *sorted(release.folder("python").iterdir()))
    return "twine check --strict"


def install(release: Release) -> str:
    """The wheel in an empty environment, and every command from there; then the same with the extras."""
    wheel = release.only("python/*.whl")
    python = environment(release)
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, wheel)
    plain = run(python, "-I", ROOT / "tests" / "support" / "smoke.py")
    run(*pip, f"{wheel}[audit,redis,serve,zstd]")
    run(python, "-m", "pip", "check")
    extras = run(python, "-I", ROOT / "tests" / "support" / "smoke.py", "--extras")
    man = python.parents[1] / "share" / "man" / "man1" / "archfit.1"
    if not man.read_text(encoding="utf-8").startswith(".TH ARCHFIT 1"):
        raise Wrong("the installed man page is not archfit(1)")
    return f"{len(plain.splitlines())} starts, {len(extras.splitlines())} with the extras"


def materials(release: Release) -> str:
    """What the wheel brings along, as CycloneDX."""
    place = release.folder("sbom") / f"archfit-{release.version}.cdx.json"
    run(
        tool("cyclonedx-py"),
        "environment",
        "--output-reproducible",
        "--of",
        "JSON",
        "-o",
        place,
        environment(release),
    )
    return "what the wheel brings along"


def environment(release: Release) -> Path:
    """The Python of an environment that is empty when it is made."""
    folder = release.work / "environment"
    if not folder.exists():
        venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def _hatchling(release: Release, source: Path, folder: Path, target: str) -> None:
    run(
        *(release.python, "-m", "hatchling", "build", "-t", target, "-d", folder),
        cwd=source,
        SOURCE_DATE_EPOCH=EPOCH,
    )


def _package_files() -> list[Path]:
    package = ROOT / "transformer" / "archfit"
    return [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
