"""The one lookup of a run: opened at its first question, closed at the end.

    settings ── lock file ─┐
             └─ cache ─────┴─ registries ── answers, with a line of progress on a terminal

A run without questions opens nothing.
"""

from __future__ import annotations

from time import monotonic

from archfit.options.settings import Operator, Settings
from archfit.results import Result
from archfit.source.split import Piece
from archfit.typing_names import Iterable, Mapping, Sequence, TextIO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.images.contents import Contents
    from archfit.images.platforms import Answer
    from archfit.lookup.pull_secret_lookup import PullSecretLookup
    from archfit.lookup.registry_lookup import ContentsAnswer
    from archfit.lookup.resolver import Lookup
    from archfit.registry.credentials.keychain import Keychain
    from archfit.registry.registry_questions import Part
    from archfit.terminal import Progress

_USUAL = Operator()


class LookupSession:
    """What a run asks, with the warnings about it.

    named_hosts_only: private addresses are asked only where the operator names the host. Raises UsageError for a file
    of the operator's that is not there.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        stderr: TextIO,
        *,
        named_hosts_only: bool = False,
    ) -> None:
        if settings.operator != _USUAL or settings.options.lock_file:
            from archfit.lookup.operator_files import check

            check(settings.operator, settings.options.lock_file)
        self._named_hosts_only = named_hosts_only
        self._settings = settings
        self._environ = environ
        self._stderr = stderr
        self._line: Progress | None = None
        self._lookup: Lookup | None = None
        self._pull_secrets: PullSecretLookup | None = None

    def use_pull_secrets(self, streams: Iterable[tuple[bytes, Sequence[Piece]]]) -> None:
        """Use the pull secrets of streams for their images, where the operator allows it (`--pull-secrets`)."""
        if self._settings.operator.pull_secrets:
            from archfit.lookup.pull_secret_lookup import PullSecretLookup

            self._pull_secrets = PullSecretLookup(streams, self._settings.options)

    def answers(self, texts: list[str]) -> Mapping[str, Answer]:
        """The answer for each image string. Raises UsageError and InvalidLock."""
        progress = self._progress
        operator = self._settings.operator
        try:
            pulled: dict[str, Answer] = {}
            if self._pull_secrets:
                started = monotonic()
                pulled = self._pull_secrets.answers(
                    texts,
                    operator,
                    self._environ,
                    lambda round_, keychain: self._opened(progress, round_, keychain),
                )
                left = max(0.1, operator.timeout_seconds - (monotonic() - started))
                operator = operator.replace(timeout_seconds=left)
            rest = [text for text in texts if text not in pulled]
            if self._lookup is None and (rest or not pulled):
                self._lookup = self._opened(progress, operator)
            return {**pulled, **(self._lookup.resolve(rest) if self._lookup and rest else {})}
        finally:
            if progress:
                progress.clear()

    def answers_with_contents(self, texts: list[str]) -> tuple[Mapping[str, Answer], Mapping[str, Contents]]:
        """The same without pull secrets, and what is behind the digests that were read for it, by digest."""
        if self._lookup is None:
            self._lookup = self._opened(self._progress, self._settings.operator)
        contents = self._lookup.keep_contents()
        return self.answers(texts), contents

    def kept_contents(self, parts: Sequence[Part]) -> Mapping[str, Contents]:
        """What the cache has of what is behind digests, by normalised reference."""
        return self._lookup.kept_contents(parts) if self._lookup and parts else {}

    def contents(self, parts: Sequence[Part]) -> Mapping[str, ContentsAnswer]:
        """What is behind digests, by normalised reference, within the time that `answers` left."""
        try:
            return self._lookup.contents(parts) if self._lookup and parts else {}
        finally:
            if self._line:
                self._line.clear()

    @property
    def messages(self) -> list[Result]:
        """Warnings about cache, lock file and registries so far; none before `answers` was asked."""
        holders = [holder for holder in (self._pull_secrets, self._lookup) if holder]
        messages = dict.fromkeys(message for holder in holders for message in holder.messages)
        return [Result("warning", message) for message in messages]

    @property
    def requests(self) -> Mapping[str, int]:
        """Requests to registries so far, by kind."""
        total: dict[str, int] = {}
        for holder in (self._pull_secrets, self._lookup):
            for kind, count in (holder.requests if holder else {}).items():
                total[kind] = total.get(kind, 0) + count
        return total

    @property
    def pulls_left(self) -> Mapping[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        holders = [holder for holder in (self._pull_secrets, self._lookup) if holder]
        return {origin: left for holder in holders for origin, left in holder.pulls_left.items()}

    def close(self) -> None:
        """Close the cache and the connections."""
        if self._lookup:
            self._lookup.close()

    @property
    def _progress(self) -> Progress | None:
        """The line of progress; None where nobody would see it."""
        quiet = self._settings.operator.quiet
        if self._line is None and not quiet and self._stderr.isatty():
            from archfit.terminal import Progress

            self._line = Progress(self._stderr, monotonic)
        return self._line

    def _opened(
        self, progress: Progress | None, operator: Operator, keychain: Keychain | None = None
    ) -> Lookup:
        from archfit.lookup.resolver import open_lookup

        options, lock = self._settings.options, None
        if options.lock_file:
            from archfit.lookup.lock_storage import lock_of

            lock = lock_of(options)
        return open_lookup(
            operator,
            options.image_platforms,
            lock=lock,
            environ=self._environ,
            progress=progress,
            named_hosts_only=self._named_hosts_only,
            keychain=keychain,
        )
