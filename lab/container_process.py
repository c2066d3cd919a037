"""A container of a pod as a local process: a root of its own, the mounts of its spec, its user, as process 1.

    Container(spec, folder)      it runs from now on; `spec` is Spec
    .terminate(), .kill()        SIGTERM, SIGKILL to process 1, as a runtime sends them
    .out_of_memory()             SIGKILL to what runs in it
    .lose()                      all of it is gone at once, as when its node has lost power
    .wait(seconds)               exit code, 128 + N for a signal; None while it runs
    .log                         the file of what it wrote
    require(folder)              skips or fails a test where this user may make no containers

As a program, with the file of a Spec as JSON, this module is what stands between: it makes the namespaces (mounts,
processes; without root of users, too), mounts, changes root and user, runs the command, and ends with its exit code;
125 where it cannot. SIGTERM goes on to process 1, SIGUSR1 kills it. Nothing that it mounts is seen outside, and all of
it ends with it (PR_SET_PDEATHSIG).

Differences from a runtime: no image is pulled, an image is a set of paths of this machine; the network is the
machine's; limits of memory and CPU are not kept; capabilities and seccomp are those of the user.
Source: mount(2), pid_namespaces(7), user_namespaces(7), prctl(2).
"""

import contextlib
import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

_NEWNS, _NEWUSER, _NEWPID = 0x00020000, 0x10000000, 0x20000000
_RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18
_KEPT = 2 | 4 | 8 | 1024 | 2048 | (1 << 21)  # nosuid, nodev, noexec, noatime, nodiratime, relatime
_SET_PDEATHSIG, _SET_NO_NEW_PRIVS = 1, 38
_CANNOT = 125
_EMPTY = ("proc", "dev", "tmp", "etc")


class Spec(NamedTuple):
    """What runs. mounts: (path of this machine, path in the container, whether it is read-only), folders or files.

    links: (path in the container, text). Below a folder that is mounted, only paths that are there can be mounted.
    """

    command: list[str]
    environ: dict[str, str]
    mounts: list[tuple[str, str, bool]]
    links: list[tuple[str, str]]
    user: int
    group: int
    read_only: bool


class Container:
    """See the module. Its files are in `folder`."""

    def __init__(self, spec: Spec, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log"
        file = folder / "spec.json"
        file.write_text(json.dumps([*spec, str(folder / "root")]), encoding="utf-8")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGUSR1)

    def out_of_memory(self) -> bool:
        """Whether there was one: kill the last descendant of process 1, or process 1, as the kernel mostly does."""
        victim = self._process.pid
        while children := _children(victim):
            victim = children[-1]
        if victim == self._process.pid:
            return False
        os.kill(victim, signal.SIGKILL)
        return True

    def lose(self) -> None:
        self._process.kill()
        self._process.wait()

    def wait(self, seconds: float) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


def _children(process: int) -> list[int]:
    """Of all threads of a process: Go starts programs from any of them."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    try:
        return [int(word) for path in listed for word in path.read_text(encoding="utf-8").split()]
    except OSError:
        return []  # it has just ended


def require(folder: Path) -> None:
    """Skips or fails the running test where this user may make no containers. folder: for its files."""
    import machine

    container = Container(Spec(["/none"], {}, [("/usr", "/usr", True)], [], 65532, 65532, True), folder)
    container.wait(60.0)
    said = container.log.read_text(encoding="utf-8")
    if "/none cannot be run" not in said:
        remedy = "run as root, or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        machine.missing(f"the right to make namespaces ({said.strip()})", remedy)


def _main(file: str) -> None:
    """Never returns."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.pthread_sigmask(signal.SIG_BLOCK, (number,))
    *fields, root = json.loads(Path(file).read_text(encoding="utf-8"))
    spec = Spec(*fields)
    try:
        _enter(libc, spec, Path(root))
        child = os.fork()
        if child == 0:
            _run(libc, spec)
    except OSError as error:
        print(f"the container cannot start: {error}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(_CANNOT)

    def pass_on(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if number == signal.SIGUSR1 else number)

    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGUSR1))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def _enter(libc: Any, spec: Spec, root: Path) -> None:
    """The namespaces, and `root` with all mounts. The next process is process 1. Raises OSError."""
    own, group = os.geteuid(), os.getegid()
    _done(libc.unshare(_NEWNS | _NEWPID | (_NEWUSER if own else 0)), "unshare")
    if own:
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"{spec.user} {own} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"{spec.group} {group} 1", encoding="utf-8")
    _mount(libc, "none", "/", _REC | _PRIVATE)
    root.mkdir(exist_ok=True)
    _done(libc.mount(b"tmpfs", os.fsencode(root), b"tmpfs", 0, b"mode=755"), f"mounting {root}")
    for name in _EMPTY:
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)
    for path in ("/proc", "/dev"):
        _mount(libc, path, f"{root}{path}", _BIND | _REC)
    for path, text in spec.links:
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(text)
    for source, target, read_only in sorted(spec.mounts, key=lambda one: one[1].count("/")):
        place = root / target.lstrip("/")
        if not os.path.lexists(place):
            if stat.S_ISDIR(os.stat(source).st_mode):
                place.mkdir(parents=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        _mount(libc, source, str(place), _BIND | _REC)
        if read_only:
            _read_only(libc, str(place))
    if spec.read_only:
        _read_only(libc, str(root))
    os.chroot(root)
    os.chdir("/")


def _run(libc: Any, spec: Spec) -> None:
    """Process 1. Never returns."""
    try:
        if os.geteuid() == 0:
            os.setgroups([spec.group])
            os.setgid(spec.group)
            os.setuid(spec.user)
        libc.prctl(_SET_PDEATHSIG, signal.SIGKILL)
        libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGUSR1))
        os.umask(0o022)
        os.execvpe(spec.command[0], spec.command, spec.environ)
    except OSError as error:
        os.write(2, f"{spec.command[0]} cannot be run: {error.strerror}\n".encode())
        os._exit(_CANNOT)


def _mount(libc: Any, source: str, target: str, flags: int) -> None:
    done = libc.mount(os.fsencode(source), os.fsencode(target), None, flags, None)
    _done(done, f"mounting {source} at {target}")


def _read_only(libc: Any, path: str) -> None:
    """What else its file system has set stays: a user's namespace may take nothing of it back."""
    _mount(libc, "none", path, _REMOUNT | _BIND | _RDONLY | (os.statvfs(path).f_flag & _KEPT))


def _done(status: int, what: str) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    _main(sys.argv[1])
