"""The one lookup of a run: opened at its first question, given back at the end.

    settings ── lock file ─┐
             └─ cache ─────┴─ registries ── answers, with a line of progress on a terminal

A run that asks nothing opens nothing.
"""

from __future__ import annotations

from archfit.outcome import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from archfit.images.lookup import Lookup
    from archfit.images.platforms import Answer
    from archfit.options.values import Settings
    from archfit.output.progress import Progress


class Asking:
    """What a run asks, and what there is to say about that.

    named_hosts_only: private addresses are asked only where the operator names the host.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        stderr: TextIO,
        *,
        named_hosts_only: bool = False,
    ) -> None:
        self._named_hosts_only = named_hosts_only
        self._settings = settings
        self._environ = environ
        self._stderr = stderr
        self._lookup: Lookup | None = None

    def answers(self, texts: list[str]) -> Mapping[str, Answer]:
        """The answer for each image string. Raises UsageError and InvalidLock."""
        from time import monotonic

        from archfit.output.progress import Progress

        progress = Progress(self._stderr, monotonic)
        if self._lookup is None:
            self._lookup = self._opened(progress)
        try:
            return self._lookup.resolve(texts)
        finally:
            progress.clear()

    @property
    def messages(self) -> list[Result]:
        """Warnings about cache, lock file and registries so far."""
        return [Result("warning", message) for message in self._lookup.messages] if self._lookup else []

    @property
    def requests(self) -> Mapping[str, int]:
        """Requests to registries so far, by kind."""
        return self._lookup.requests if self._lookup else {}

    def close(self) -> None:
        """Gives back the cache and the connections."""
        if self._lookup:
            self._lookup.close()

    def _opened(self, progress: Progress) -> Lookup:
        from archfit.images.lookup import open_lookup

        options, lock = self._settings.options, None
        if options.lock_file:
            from archfit.commands.lock_file import lock_of

            lock = lock_of(options)
        return open_lookup(
            self._settings.operator,
            options.image_platforms,
            lock=lock,
            environ=self._environ,
            progress=progress,
            named_hosts_only=self._named_hosts_only,
        )
