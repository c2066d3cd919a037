"""Files: read up to a limit, written whole or not at all.

A temporary file beside the path has a random name, and this process creates it or fails (O_EXCL), so that no link of
another user redirects the writer. /dev/stdout, /dev/fd/3 and links to one are written as the open file that they are,
never renamed over or cut off.
"""

from __future__ import annotations

import os
import stat
from errno import EFBIG, EINVAL, ENODATA, ENOTSUP
from io import BytesIO

from archfit.base.errors import ArchfitError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_MOST_LINKS = 40
MOST_BYTES = 1 << 30
SUFFIXES = (".yaml", ".yml", ".json")
"""Of the names of files that are taken for manifests without being named."""
_FIRST_READ = 1 << 24
_CHUNK = 1 << 20
# The kernel computes these of a file's content.
_OF_CONTENT = ("security.ima", "security.evm")


def user_folder(environ: Mapping[str, str], variable: str, below_home: str) -> str:
    """The folder `archfit` of the user, below the one that the variable names; "" where the user has no home.

    A path that is not absolute does not count (XDG Base Directory).
    """
    base = environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), below_home)
    return os.path.join(base, "archfit") if os.path.isabs(base) else ""


def read_file(path: str) -> bytes:
    """The bytes of a file. Raises OSError, also for more than MOST_BYTES."""
    with open(path, "rb") as file:
        return read_all(file)


def read_all(file: BinaryIO) -> bytes:
    """What a file holds, which may be a device that never ends. Raises OSError for more than MOST_BYTES."""
    data = file.read(_FIRST_READ)
    if len(data) < _FIRST_READ:
        return data
    # A buffer that grows takes half the memory of parts that are joined, and half the time for 100 MB.
    whole = BytesIO(data)
    size = whole.seek(0, os.SEEK_END)
    while size <= MOST_BYTES:
        data = file.read(_CHUNK)
        if not data:
            return whole.getvalue()
        size += whole.write(data)
    raise OSError(EFBIG, f"it holds more than {MOST_BYTES >> 20:,} MiB")


def write_new(path: str, content: bytes) -> None:
    """Create the file that `--output` names; it must not exist. Raises UsageError."""
    try:
        with open(path, "xb") as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(
            f"--output: {path!r} exists and may hold your changes: name another, or move it"
        ) from None
    except OSError as error:
        raise UsageError(f"--output: cannot write {path!r} ({error.strerror}): name another file") from None


def read_regular(path: str, limit: int) -> bytes:
    """At most `limit` bytes of a regular file, none of the null device. Raises OSError, also for what is neither."""
    if path == os.devnull:
        return b""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(EINVAL, "it is not a regular file", path)
        return file.read(limit)


def open_descriptor(path: str) -> int | None:
    """The descriptor of this process that a path such as /dev/stdout leads to, None where it is another file.

    To open such a path anew would cut off what the file holds, and a rename would put a file in the place of the link.
    """
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        if name.isdecimal() and os.path.realpath(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(name)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


class Prepared:
    """New content for a path, in a temporary file with mode, owner and extended attributes of the
    old file, or `mode`.

    content: perhaps in parts; none is taken before the file is there. sync: flush it to the disk before the rename. A
    device, pipe or open descriptor gets no temporary file: `commit` writes to it. Raises OSError, as all of its methods
    do.
    """

    def __init__(
        self, path: str, content: bytes | Iterable[bytes], mode: int = 0o600, *, sync: bool = False
    ) -> None:
        parts = (content,) if isinstance(content, bytes) else content
        self._path, self._beside = path, ""
        self._parts: tuple[bytes, ...] = ()
        try:
            old = os.stat(path)
        except (OSError, ValueError):
            old = None
        self._descriptor = open_descriptor(path) if old else None
        if old and (self._descriptor is not None or not stat.S_ISREG(old.st_mode)):
            self._parts = tuple(parts)
            return
        folder, name = os.path.split(path)
        # A name may have 255 bytes; 50 characters have 200 at most.
        self._beside = os.path.join(folder, f".{name[:50]}.{os.urandom(8).hex()}")
        try:
            # What the old file keeps from other users is theirs at no time.
            with open(os.open(self._beside, _FLAGS, 0o600 if old else mode), "wb") as file:
                file.writelines(parts)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            if old:
                self._like(old)
        except BaseException:
            self.discard()
            raise

    def _like(self, old: os.stat_result) -> None:
        """Gives the new file the owner, where this process may do that, and the mode of the old one."""
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            try:
                os.chown(self._beside, old.st_uid, old.st_gid)
            except PermissionError:
                pass
        os.chmod(self._beside, old.st_mode & 0o777)
        if hasattr(os, "listxattr"):
            self._keep_attributes()

    def _keep_attributes(self) -> None:
        """Copies the extended attributes, as ACLs, where this process may do that. Raises OSError for a full disk."""
        try:
            names = os.listxattr(self._path)
        except OSError:  # the file system has none
            return
        for name in names:
            if name in _OF_CONTENT:
                continue
            try:
                os.setxattr(self._beside, name, os.getxattr(self._path, name))
            except PermissionError:
                pass
            except OSError as error:
                if error.errno not in (ENODATA, ENOTSUP):
                    raise

    def commit(self) -> None:
        """Rename the temporary file to the path."""
        if not self._beside:
            with open(self._path if self._descriptor is None else os.dup(self._descriptor), "wb") as file:
                file.writelines(self._parts)
            return
        try:
            os.replace(self._beside, self._path)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove the temporary file."""
        if self._beside and os.path.exists(self._beside):
            os.unlink(self._beside)


def replace(path: str, content: bytes, mode: int = 0o666, *, sync: bool = False) -> None:
    """Replace `path` completely or not at all. Raises OSError."""
    Prepared(path, content, mode, sync=sync).commit()


def unwritable(flag: str, path: str, error: OSError) -> ArchfitError:
    """The error about a file that a flag names and that cannot be written."""
    folder = os.path.dirname(path)
    if isinstance(error, FileNotFoundError) and folder and not os.path.isdir(folder):
        return ArchfitError(
            f"{flag}: cannot write {path!r}: there is no folder {folder!r}: make it, or name another file"
        )
    return ArchfitError(f"{flag}: cannot write {path!r} ({error.strerror}): name a file that can be written")
