"""The lock file of a server: read again when it changes, as a mounted ConfigMap does."""

from __future__ import annotations

import os

from archfit.lookup.lock_storage import lock_of
from archfit.options.settings import Options


class WatchedLock:
    """options: name the file; "" is none. current: what it holds. Raises UsageError and InvalidLock."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._seen: object = None
        self.reload()

    def changed(self) -> bool:
        """Whether the file is another than at the last `reload`."""
        return bool(self._options.lock_file) and self._state() != self._seen

    def reload(self) -> None:
        """Read the file again. Raises UsageError and InvalidLock, and the old content goes on."""
        self._seen = self._state()
        self.current = lock_of(self._options)

    def _state(self) -> object:
        try:
            about = os.stat(self._options.lock_file)
        except OSError:
            return None
        return about.st_mtime_ns, about.st_size, about.st_ino
