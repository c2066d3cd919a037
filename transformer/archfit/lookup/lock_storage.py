"""The lock file on disk: read whole, up to a limit; replaced completely or not at all."""

from __future__ import annotations

import os

from archfit.base import files
from archfit.base.errors import ArchfitError, UsageError
from archfit.lookup.lockfile import MAX_BYTES, Lock, parse
from archfit.options.settings import Options


def lock_of(options: Options) -> Lock | None:
    """The lock file that the options name, if they do. Raises UsageError and InvalidLock."""
    path = options.lock_file
    if not path:
        return None
    content = content_of(path)
    if content is None:
        raise UsageError(f"--lock-file: there is no {path!r}: write it with `archfit lock`, or name another")
    return Lock(path, parse(content, path), options.locked)


def content_of(path: str) -> bytes | None:
    """The file's bytes, at most one more than a lock file may have; None where there is none. Raises UsageError."""
    try:
        return files.read_regular(path, MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"--lock-file: cannot read {path!r} ({error.strerror}): name a lock file") from None


def replace(path: str, content: bytes) -> None:
    """Replace the file at `path`, through symbolic links and with its mode. Raises ArchfitError."""
    target = os.path.realpath(path)
    try:
        files.replace(target, content, sync=True)
    except OSError as error:
        raise ArchfitError(
            f"--lock-file: cannot write {path!r} ({error.strerror}): name a file that can be written"
        ) from None
