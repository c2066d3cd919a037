"""The platforms of all images of a run: override, then lock file, then cache, then registry.

Each distinct image is asked for once, all of them at the same time. Locked tags are read from the cache too, only to
warn where it has another digest. --locked does not open the cache.
"""

from __future__ import annotations

import time
from time import monotonic

from archfit.base.errors import InvalidReference
from archfit.base.printable import span
from archfit.base.results import Message
from archfit.images.platforms import Absent, Answer, Found, ImagePlatforms, Unknown, unanswerable
from archfit.images.reference import Reference, parse
from archfit.lookup.sources import Sources
from archfit.options.settings import Operator, Options, Settings
from archfit.registry.lookup_context import Deadline, LookupContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TextIO, TypeVar

    from archfit.base.terminal import Progress
    from archfit.images.contents import ImageContents, Part
    from archfit.images.platforms import Platform
    from archfit.lookup.lockfile import Lock
    from archfit.lookup.pull_secret_lookup import PullSecretLookup
    from archfit.lookup.registry_lookup import ContentsAnswer, RegistryLookup
    from archfit.programs.program import Programs
    from archfit.programs.start import Start
    from archfit.registry.client import RawManifest
    from archfit.registry.credentials.keychain import Keychain
    from archfit.registry.http.limits import RequestBudget
    from archfit.registry.routing.endpoints import Endpoint
    from archfit.yaml.stream import Piece

    T = TypeVar("T")
    W = TypeVar("W")

_USUAL = Operator()


class Lookup:
    """Answers for images; see the module. lock: what it holds is final; None takes the options' lock file.

    keychain: None is the operator's. line: of progress.

    warnings: sentences for the user, in order: trouble with the cache, a lock file left behind, stale answers. listed:
    the images that count for a required platform by their index alone. has_stale: takes what the cache has for an image
    and may be used if registries, which are asked next, give no answer.
    """

    def __init__(
        self,
        operator: Operator,
        options: Options,
        context: LookupContext,
        *,
        lock: Lock | None = None,
        keychain: Keychain | None = None,
        line: Progress | None = None,
    ) -> None:
        self.sources = Sources(operator, options, context, lock, keychain)
        self.warnings = self.sources.warnings
        self.open, self.close = self.sources.cache, self.sources.close
        self.listed: set[str] = set()
        self.has_stale: Callable[[Found], object] = lambda _known: None
        self._operator = operator
        self._options = options
        self._overrides = options.image_platforms
        self._context = context
        self._deadline = context.deadline
        self._line = line
        self._pull_secrets: PullSecretLookup | None = None
        self._sparing = False
        self._required: set[tuple[str, str]] = set()
        self._tags = False
        prefers = [options.prefer, *(rule.prefer or () for rule in options.rules)]
        self._preferred = {("linux", name) for some in prefers for name, _ in some}

    def require(self, platforms: Iterable[Platform], *, tags: bool = False) -> None:
        """Ask from now on whether the builds for these platforms are there, where an index lists them.

        tags: ask also whether a digest is one build of the tag beside it.
        """
        self._required |= {(platform.os, platform.architecture) for platform in platforms}
        self._tags = tags

    @property
    def messages(self) -> list[Message]:
        """The messages so far, those of pull secrets first, as warnings."""
        secrets = self._pull_secrets.warnings if self._pull_secrets else []
        texts = dict.fromkeys([*secrets, *self.warnings, *self.sources.not_asked()])
        return [Message("warning", text) for text in texts]

    @property
    def requests(self) -> dict[str, int]:
        """How many of each kind were sent, as in {"manifest": 12, "token": 3}."""
        total = dict(self._pull_secrets.requests) if self._pull_secrets else {}
        own = self.sources.asked.client.http.requests if self.sources.asked else {}
        for kind, count in sorted(own.items()):
            total[kind] = total.get(kind, 0) + count
        return total

    @property
    def pulls_left(self) -> dict[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        left = dict(self._pull_secrets.pulls_left) if self._pull_secrets else {}
        servers = self.sources.asked.client.http.servers if self.sources.asked else ()
        return left | {server.origin: server.pulls_left for server in servers if server.pulls_left}

    def use_pull_secrets(self, streams: Iterable[tuple[bytes, Sequence[Piece]]]) -> None:
        """Use the pull secrets of streams for their images, where the operator allows it (`--pull-secrets`)."""
        if self._operator.pull_secrets:
            from archfit.lookup.pull_secret_lookup import PullSecretLookup

            self._pull_secrets = PullSecretLookup(streams, self._options)

    def answers(self, texts: Sequence[str]) -> dict[str, Answer]:
        """The answer for each image string, by pull secrets too, with a line of progress. Raises as `resolve`."""
        try:
            if not self._pull_secrets:
                return self.resolve(texts)
            started = monotonic()
            pulled = self._pull_secrets.answers(texts, self._operator, self._context.environ, self._with)
            left = max(0.1, self._operator.timeout_seconds - (monotonic() - started))
            rest = [text for text in texts if text not in pulled]
            return {**pulled, **(self.resolve(rest, seconds=left) if rest else {})}
        finally:
            self.clear_line()

    def keep_contents(self) -> Mapping[str, ImageContents]:
        """From now on, keep what is behind the indexes and manifests that are read, by digest; it grows."""
        self.open()
        return {} if self.sources.silent else self._registries().keep_contents()

    def elsewhere(self, texts: Iterable[str]) -> list[Message]:
        """What is said of registries of these images that lead to another one, with a token for anybody."""
        from archfit.registry.http.servers import elsewhere, leads

        references = [reference for reference, _ in self._without_lookup(texts)[1].values()]
        routes = [self.sources.routes().route(reference) for reference in references]
        kept = self.open().servers(endpoint.origin for route in routes for endpoint in route.endpoints)
        others = {key.removeprefix("host:"): elsewhere(text) for key, text in sorted(kept.items())}
        return [Message("info", leads(origin, other)) for origin, other in others.items() if other]

    def take_replies(self) -> dict[tuple[str, int], int]:
        """How many answers registries gave since the last call, by server and HTTP status; 0 is none."""
        return self.sources.asked.client.http.take_replies() if self.sources.asked else {}

    def resolve(self, texts: Iterable[str], *, seconds: float | None = None) -> dict[str, Answer]:
        """An answer for each distinct text. Raises UsageError when overrides contradict each other.

        seconds: how long it may take, where that is not --timeout.
        """
        self.open()
        self._deadline.start(self._operator.timeout_seconds if seconds is None else seconds)
        answers, wanted = self._without_lookup(texts)
        resolved = self._seen([reference for reference, _ in wanted.values()])
        for name, (_, same) in wanted.items():
            answers.update(dict.fromkeys(same, resolved[name]))
        return answers

    def _without_lookup(
        self, texts: Iterable[str]
    ) -> tuple[dict[str, Answer], dict[str, tuple[Reference, list[str]]]]:
        """The answers that need none, and the other texts: by normalised reference, as written."""
        answers: dict[str, Answer] = {}
        wanted: dict[str, tuple[Reference, list[str]]] = {}
        for text in dict.fromkeys(texts):
            try:
                reference = parse(text)
            except InvalidReference as error:
                answers[text] = unanswerable(text, error)
                continue
            stated = None
            if self._overrides:
                from archfit.images.overrides import override

                stated = override(reference, self._overrides)
            if stated:
                answers[text] = stated
            else:
                wanted.setdefault(reference.normalised, (reference, []))[1].append(text)
        return answers, wanted

    def fetch(
        self, references: Sequence[Reference]
    ) -> dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]:
        """What registries answer now, not what the cache holds, by normalised reference; the cache keeps the answers.

        Endpoint and manifest: where it was read, and its bytes; None where there is none.
        """
        self.open()
        unique = list({reference.normalised: reference for reference in references}.values())
        self._deadline.start(self._operator.timeout_seconds)
        return self._registries().manifests(unique)

    def kept_contents(self, parts: Sequence[Part]) -> dict[str, ImageContents]:
        """What the cache has of what is behind digests, by normalised reference."""
        return self.open().contents(parts) if parts else {}

    def contents(self, parts: Sequence[Part]) -> Mapping[str, ContentsAnswer]:
        """What is behind digests, by normalised reference: what the cache has, else what registries answer.

        The deadline is that of the last `resolve`.
        """
        wanted = [(part.reference.normalised, part) for part in parts]
        kept = self.kept_contents(parts)
        return self._with_rest(kept, wanted, "the digest", lambda some: self._registries().contents(some))

    def programs(
        self, starts: Mapping[Reference, Sequence[Start]]
    ) -> Mapping[str, Programs | Absent | Unknown]:
        """What manifests start, by normalised reference: what the cache has, else what registries answer.

        starts: of each manifest, by its reference with its digest. The deadline is that of the last `resolve`.
        """
        wanted = [(item[0].normalised, item) for item in starts.items()]
        kept = self.open().programs(starts) if starts else {}
        return self._with_rest(kept, wanted, "it", lambda some: self._registries().programs(dict(some)))

    def _with_rest(
        self,
        kept: Mapping[str, T],
        wanted: Iterable[tuple[str, W]],
        what: str,
        ask: Callable[[list[W]], Mapping[str, T | Absent | Unknown]],
    ) -> Mapping[str, T | Absent | Unknown]:
        """What the cache has and what registries answer, by the names in `wanted`. what: it does not know."""
        missing = [(name, item) for name, item in wanted if name not in kept]
        if not missing:
            return kept
        if self.sources.silent:
            refused = Unknown(f"the cache does not know {what}, and {self.sources.silent} forbids asking")
            return {**kept, **{name: refused for name, _ in missing}}
        try:
            return {**kept, **ask([item for _, item in missing])}
        finally:
            self.clear_line()

    def probe(self, references: Sequence[Reference], *, seconds: float) -> dict[str, Answer]:
        """The answer for each, by normalised reference, as `resolve`, but without overrides.

        A server with few pulls left is not asked. seconds: how long it may take.
        """
        self.open()
        self._deadline.start(seconds)
        self._sparing = True
        try:
            return self._seen(list(references))
        finally:
            self._sparing = False
            self.clear_line()

    @property
    def _asks_more(self) -> bool:
        return bool(self._required or self._preferred or self._tags)

    def _seen(self, references: list[Reference]) -> dict[str, Answer]:
        """The answers, judged by whether the builds in question are there (`listed_builds`)."""
        answers = self._references(references)
        if not self._asks_more:
            return answers
        from archfit.lookup.listed_builds import Image, in_question, with_builds, with_tags

        if self._tags:
            answers |= with_tags(references, answers, self._references, self.contents)
        quiet: dict[str, Image] = {}
        open_ones: dict[str, Image] = {}
        for reference in references:
            name, answer = reference.normalised, answers[reference.normalised]
            origin = answer.origin if isinstance(answer, Found) else ""
            cells = self._required if origin == "lock" else self._required | self._preferred
            for image in in_question(reference, answer, cells):
                (quiet if self.sources.silent or origin == "stale" else open_ones)[name] = image
        judged = with_builds(quiet, self.kept_contents) | with_builds(open_ones, self.contents)
        self.listed |= {
            name for name, answer in judged.items() if isinstance(answer, Found) and answer.listed
        }
        return answers | judged

    def _references(self, references: list[Reference]) -> dict[str, Answer]:
        lock = self.sources.lock
        if lock and lock.only:
            return {
                reference.normalised: lock.images.get(reference.normalised) or lock.missing_answer(reference)
                for reference in references
            }
        locked = lock.images if lock else {}
        fresh, stale = self.open().read(references, self._context.clock(), settled=locked)
        answers: dict[str, Answer] = {**fresh}
        moved: list[str] = []
        missing: list[Reference] = []
        for reference in references:
            name = reference.normalised
            final = locked.get(name)
            if final:
                answers[name] = final
                if name in fresh and fresh[name].digest != final.digest:
                    moved.append(name)
            elif name not in fresh:
                missing.append(reference)
        if lock and moved:
            self.warnings.append(lock.outdated_warning(moved))
        if missing:
            if self._operator.offline:
                why = "the cache has no answer, and --offline forbids asking: run once without --offline"
                learned: dict[str, Answer] = {reference.normalised: Unknown(why) for reference in missing}
            else:
                for known in filter(self._is_young, stale.values()):
                    self.has_stale(known)
                learned = self._registries().answers(missing, stale)
            answers |= {
                name: self._or_stale(name, answer, stale.get(name)) for name, answer in learned.items()
            }
        return answers

    def _or_stale(self, name: str, answer: Answer, known: Found | None) -> Answer:
        """The answer; where it is Unknown, what the cache has, if it is young enough."""
        if not isinstance(answer, Unknown) or not known:
            return answer
        if not self._is_young(known):
            return answer.replace(last=known)
        if not self._operator.offline:
            age = span(known.age_seconds)
            self.warnings.append(f"{name}: an answer {age} old is used, because {answer.cause}")
        return known

    def _is_young(self, known: Found) -> bool:
        longest = self._operator.max_stale_seconds
        return bool(longest and 0 <= known.age_seconds <= longest)

    def _with(self, operator: Operator, keychain: Keychain) -> Lookup:
        context = self._context.replace(deadline=Deadline())
        another = Lookup(operator, self._options, context, lock=self.sources.lock, keychain=keychain)
        another._required, another._tags = self._required, self._tags
        another.open()
        return another

    def clear_line(self) -> None:
        """Of progress."""
        if self._line:
            self._line.clear()

    def _registries(self) -> RegistryLookup:
        registries = self.sources.registries()
        if self._asks_more:
            registries.keep_contents()  # so that no index is read twice
        registries.client.http.sparing = self._sparing
        return registries


def open_lookup(
    operator: Operator,
    overrides: tuple[ImagePlatforms, ...] = (),
    *,
    environ: Mapping[str, str],
    named_hosts_only: bool = False,
    keychain: Keychain | None = None,
    processor_seconds: float = float("inf"),
    budget: RequestBudget | None = None,
    progress: TextIO | None = None,
) -> Lookup:
    """A Lookup over the operator's cache and registries, opened. Raises as `Lookup.open`.

    progress: where a line of it is shown, if that is a terminal. named_hosts_only, processor_seconds: for servers and
    plugins, where somebody else chooses the images. budget: shared with other lookups of the process.
    """
    line = _line(operator, progress) if progress else None
    context = LookupContext(
        environ, time.time, time.sleep, line, named_hosts_only, Deadline(), processor_seconds, budget
    )
    lookup = Lookup(operator, Options(image_platforms=overrides), context, keychain=keychain, line=line)
    lookup.open()
    return lookup


def lookup_of(
    settings: Settings, environ: Mapping[str, str], stderr: TextIO, *, named_hosts_only: bool = False
) -> Lookup:
    """The lookup of a run, which opens with its first question. stderr: for a line of progress on a terminal.

    named_hosts_only: as for `open_lookup`. Raises UsageError for a file of the operator's that is not there.
    """
    operator = settings.operator
    if operator != _USUAL or settings.options.lock_file:
        from archfit.lookup.operator_files import check

        check(operator, settings.options.lock_file)
    line = _line(operator, stderr)
    context = LookupContext(environ, time.time, time.sleep, line, named_hosts_only, Deadline())
    return Lookup(operator, settings.options, context, line=line)


def _line(operator: Operator, stderr: TextIO) -> Progress | None:
    if operator.quiet or not stderr.isatty():
        return None
    from archfit.base.terminal import Progress

    return Progress(stderr, monotonic)
