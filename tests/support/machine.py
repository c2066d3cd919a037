"""What this machine offers the tests: other people's programs, Go, and the folder of shared test data.

    programs.txt      the programs: how `make test-all` gets each, and where it is looked for

`ARCHFIT_TEST_MISSING` says what becomes of a test whose part is missing: `skip` (default: a user's clone
tests what it can and names the rest) or `fail` (CI). `TEST_SHARED` is the folder of shared test data, by
default `shared` beside the repository's folder.

A program on PATH counts only in the locked version, which it is asked for; where the distribution decides, in any.
`make test` takes what is there, and neither fetches nor builds (`builds`).

A test that asks for any of this has the marker `real` (tests/conftest.py sets it). A test without the marker gets
Unmarked, on every machine.
"""

import fcntl
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools"
# As the user has it: tests run in a home of their own, but Go's caches stay where they are.
ENVIRON = dict(os.environ)
SHARED = Path(ENVIRON.get("TEST_SHARED") or ROOT.parent / "shared")
MISSING = ENVIRON.get("ARCHFIT_TEST_MISSING") or "skip"
RUN_LOCK = "locks/run.lock"
BUILD_LOCK = "locks/build.lock"


# Whether what the tests need is built where it is missing; conftest.py clears it for `make test`.
builds = True
# The running test, where it lacks the marker `real`; conftest.py sets it.
unmarked = ""


class Unmarked(AssertionError):
    """A test without the marker `real` asks for a program or for shared test data."""


def run(words: Sequence[str | Path], check: bool = False, **how: Any) -> subprocess.CompletedProcess[str]:
    """`subprocess.run` that keeps what the program says, as text. how: the rest of that function's arguments."""
    return subprocess.run(words, check=check, capture_output=True, text=True, **how)


def refuse_unmarked(what: str) -> None:
    """Raise Unmarked where the running test lacks the marker `real`."""
    if unmarked:
        raise Unmarked(
            f"{unmarked} needs {what} and lacks the marker `real`. Move it to tests/real, mark it with"
            " pytest.mark.real, or let the fixture that needs it request the fixture `real`."
        )


def state(*paths: str) -> str:
    """What stands for a version where files of the project hold the versions: their digest as a number."""
    content = b"".join((ROOT / path).read_bytes() for path in paths)
    return str(int(hashlib.sha256(content).hexdigest()[:12], 16))


class Tool(NamedTuple):
    """A program the tests run.

    A row of programs.txt, which explains the fields. version: "" where the distribution decides.
    """

    name: str
    source: str
    origin: str
    version: str
    installs: str

    @property
    def line(self) -> str:
        """What installs it, as one line for a terminal."""
        return {
            "go": f"go install {self.origin}@{self.version}",
            "kubernetes": f"go build {self.origin} of {self.version}, see tests/support/install_tools.py",
            "module": f"go build {' '.join(self.origin.split()[:2])} of {self.version}, "
            "see tests/support/install_tools.py",
            "unpack": f"apt-get install {self.origin}",
            "apt": f"apt-get install {self.origin}",
            "pip": f"pip install {self.origin}=={self.version}",
            "npm": f"npm install {self.origin}@{self.version}",
            "jar": f"mvn dependency:copy -Dartifact={self.origin.split()[0]}:{self.version}",
            "docs": f"pip install -r {self.origin}, and npm pack what scripts/site/package.json names",
            "part": f"pip download --no-deps {self.origin}=={self.version}, and unzip {self.installs} of it",
            "wheels": f"pip download -r {self.origin} -r {BUILD_LOCK}",
        }[self.source]


def _rows() -> Iterator[tuple[bool, Tool]]:
    """Each row of programs.txt, and whether it is installed on request only."""
    on_request = False
    for line in Path(__file__).with_name("programs.txt").read_text(encoding="utf-8").splitlines():
        on_request = on_request or line == "[on request]"
        if not line or line.startswith(("#", "[")):
            continue
        name, source, version, installs, origin = line.split(maxsplit=4)
        yield on_request, Tool(name, source, origin, _FROM_FILES.get(source, version.strip("-")), installs)


# source -> the version. Markers of the lock files ask for the patch release of the Python that downloads.
_FROM_FILES = {
    "docs": state("locks/docs.lock", "scripts/site/package.json"),
    "wheels": f"{platform.python_version()}-{state(RUN_LOCK, BUILD_LOCK)}",
}
TABLE = {tool.name: tool for _, tool in _rows()}
# No test needs it; who does asks for it by name.
ON_REQUEST = {tool.name for on_request, tool in _rows() if on_request}


def stamp(tool: Tool) -> Path:
    """The file that says which version of a pinned program is in .tools/bin."""
    return TOOLS / "versions" / f"{tool.name}-{tool.version}"


def find(name: str) -> Path | None:
    """Where the program of TABLE (or "go") is, None where this machine lacks it in its version. Raises Unmarked."""
    refuse_unmarked(name)
    locked = TABLE.get(name)
    if locked is None or not locked.version:
        unpacked = TOOLS / "debian" / "usr" / "bin" / name
        return unpacked if os.access(unpacked, os.X_OK) else _on_path(name)
    if stamp(locked).exists() and os.access(TOOLS / "bin" / name, os.X_OK):
        return TOOLS / "bin" / name
    if locked.source not in {"go", "kubernetes", "module", "pip", "npm"} or locked.installs == "python":
        return None
    candidates = (_on_path(called) for called in (name, locked.installs))
    return next((path for path in candidates if path and _says(path, locked.version)), None)


def _on_path(name: str) -> Path | None:
    program = shutil.which(name, path=ENVIRON.get("PATH"))
    return Path(program) if program else None


@functools.cache
def _says(program: Path, version: str) -> bool:
    """Whether a program says that it is of this version. It finds no configuration: some would ask a server."""
    number = re.compile(rf"(?<![\d.]){re.escape(version.removeprefix('v'))}(?![\w-]|\.\d)")
    for word in ("--version", "version"):
        try:
            done = run(
                [program, word], env={"PATH": ENVIRON.get("PATH", "")}, stdin=subprocess.DEVNULL, timeout=10
            )
        except (OSError, UnicodeDecodeError, subprocess.TimeoutExpired):
            continue
        if number.search(done.stdout + done.stderr):
            return True
    return False


def missing(what: str, remedy: str) -> NoReturn:
    """Skip the running test, or fail it where nothing may be missing. Raises Unmarked."""
    refuse_unmarked(what)
    reason = f"{what} is missing: {remedy}"
    if MISSING == "fail":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def tool(name: str) -> str:
    """The path of a program of TABLE. Skips or fails the running test where it is missing."""
    found = find(name)
    return str(found) if found else missing(name, TABLE[name].line)


def shared(*parts: str) -> Path:
    """A path in the shared test data. Skips or fails the running test where it is missing. Raises Unmarked."""
    refuse_unmarked("shared test data")
    path = SHARED.joinpath(*parts)
    return path if path.exists() else missing(str(path), "set TEST_SHARED to the folder of shared test data")


def go_build(source: Path, name: str) -> Path:
    """The program of a Go module, built once for each state of its sources.

    Raises AssertionError with the compiler's words, and Unmarked; skips or fails the running test where Go is missing.
    """
    refuse_unmarked(f"the Go program {name}")
    digest = hashlib.sha256()
    for path in sorted(path for path in source.iterdir() if path.suffix in {".go", ".mod", ".sum"}):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    built = TOOLS / "built" / f"{name}-{digest.hexdigest()[:16]}"
    built.parent.mkdir(parents=True, exist_ok=True)
    # Two workers often want the same program: the second one waits for it.
    with built.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            if not builds:
                missing(f"the Go program {name}", "make test-all builds it")
            go = find("go") or missing("go", "install Go 1.26 or later from https://go.dev/dl/")
            fresh = built.with_name(f"{built.name}.{os.getpid()}")
            with tempfile.TemporaryDirectory() as folder:  # the shared folder is not ours to write in
                copied = shutil.copytree(source, Path(folder) / "source", copy_function=shutil.copyfile)
                done = run([go, "build", "-buildvcs=false", "-o", fresh, "."], cwd=copied, env=ENVIRON)
            assert done.returncode == 0, f"go build in {source} failed:\n{done.stderr}"
            fresh.replace(built)
    return built
