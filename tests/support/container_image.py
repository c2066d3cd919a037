"""A Dockerfile, replayed without an engine: RUN and ENTRYPOINT in a scratch root with mounts of its own.

    image = ContainerImage(path, folder)          built; it needs the package index, and root
    image.run(entrypoint(path, "--strict"))       the entrypoint with words, as a line for the shell
    image.place("src/a", content)                 a file in it
    image.environ, image.user                     of ENV and USER
    labels(path)                                  of LABEL

    /               read-only when archfit runs; the machine's own directories, its Python among them, bound below it
    /usr/local      empty at first: a virtual environment stands for the image's Python
    /src            the repository as .dockerignore leaves it, where RUN mounts it, and only while RUN runs
    /tmp            a file system of its own, the only one that can be written

Commands run with the variables of ENV and no others.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

import machine

_PATIENCE_SECONDS = 300.0
_MOUNTS = """\
set -eu
root=$1
mount --bind "$root" "$root"
for path in /*; do
  name=${path#/}
  case $name in tmp|src) continue ;; esac
  if [ -L "$path" ]; then ln -sfn "$(readlink "$path")" "$root/$name"; continue; fi
  [ -d "$path" ] || continue
  mkdir -p "$root/$name"
  mount --rbind "$path" "$root/$name"
done
mkdir -p "$root/tmp"
mount --bind "$2" "$root/usr/local"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
"""
_READ_ONLY = """\
for path in "$root/usr/local" "$root/usr" "$root/etc" "$root"; do mount -o remount,bind,ro "$path"; done
set +e
"""


class ContainerImage:
    """See the module. Skips or fails the running test where root is missing."""

    def __init__(self, dockerfile: Path, folder: Path) -> None:
        if os.geteuid() != 0 or not shutil.which("unshare"):
            machine.missing("root, for a scratch root", "run the suite as root on Linux")
        self._instructions = list(_instructions(dockerfile))
        self.environ = dict(rest.split("=", 1) for rest in self._all("ENV"))
        (self.user,) = self._all("USER")
        self._root, self._local = folder / "root", folder / "local"
        (self._root / "src").mkdir(parents=True)
        self._local.mkdir()
        seen = folder / "context"
        context(seen)
        script = [_MOUNTS, f'chroot "$root" {shlex.quote(_python())} -m venv /usr/local']
        for rest in self._all("RUN"):
            mount, _, command = rest.partition(" ")
            assert mount == "--mount=type=bind,target=/src", rest
            script += [
                f'mount --bind {shlex.quote(str(seen))} "$root/src"',
                'mount -o remount,bind,ro "$root/src"',
                f'PATH=/usr/local/bin:$PATH chroot "$root" /bin/sh -c {shlex.quote(command.strip())} >&2',
                'umount "$root/src"',
            ]
        built = self._unshared(script, machine.ENVIRON)
        assert built.returncode == 0, built.stderr.decode()

    def run(
        self, *commands: str, given: bytes = b"", user: str = "", network: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """The commands in turn, in one life of the container. given: the standard input of each."""
        (self._root / "src" / "given").write_bytes(given)
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in self.environ.items())
        start = (
            f'chroot --userspec={user or self.user} "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin '
            f"{variables}"
        )
        started = [f'{start} {command} < "$root/src/given"' for command in commands]
        return self._unshared([_MOUNTS, _READ_ONLY, *started], machine.ENVIRON, network=network)

    def place(self, name: str, content: bytes) -> None:
        """A file that every user may read. name: a path below src/, as the machine's folders cover the others."""
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)

    def _all(self, name: str) -> list[str]:
        return [rest for found, rest in self._instructions if found == name]

    def _unshared(
        self, script: Sequence[str], environ: Mapping[str, str], *, network: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """A shell script in a namespace of mounts, which ends with it."""
        return subprocess.run(
            [
                *("unshare", "-m", "--propagation", "private", *([] if network else ["-n"])),
                *("/bin/sh", "-c", "\n".join(script), "sh", self._root, self._local),
            ],
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )


def entrypoint(dockerfile: Path, *words: str) -> str:
    """The command line of the container."""
    (rest,) = [rest for name, rest in _instructions(dockerfile) if name == "ENTRYPOINT"]
    return shlex.join([*yaml.safe_load(rest), *words])


def labels(dockerfile: Path) -> dict[str, str]:
    """The labels of the image."""
    lines = [rest for name, rest in _instructions(dockerfile) if name == "LABEL"]
    return dict(word.split("=", 1) for line in lines for word in shlex.split(line))


def context(folder: Path) -> None:
    """What an engine sends to a build: the files of the repository that .dockerignore leaves."""
    star, *allowed = [
        line
        for line in (machine.ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert star == "*"
    assert allowed.pop() == "**/__pycache__"
    for name in allowed:
        _copy(machine.ROOT / name.removeprefix("!"), folder / name.removeprefix("!"))


def _instructions(dockerfile: Path) -> Iterator[tuple[str, str]]:
    """(instruction, the rest of it as one line)."""
    for line in dockerfile.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest


def _python() -> str:
    """A Python of this machine that every user may start."""
    for path in (sys._base_executable, "/usr/bin/python3"):  # type: ignore[attr-defined]
        real = Path(os.path.realpath(path))
        if real.exists() and all(above.stat().st_mode & 0o5 == 0o5 for above in real.parents):
            return str(real)
    return machine.missing("a Python that every user may start", "install python3 below /usr")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
