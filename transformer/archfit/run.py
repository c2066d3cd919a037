"""One run: its settings, its lookup and its report; what every command that decides shares."""

from __future__ import annotations

from archfit.base import standard_streams
from archfit.base.errors import InvalidInput
from archfit.base.results import Decision, Message
from archfit.options.settings import Options, Settings
from archfit.pipeline import StreamEdits, transform
from archfit.reports.report import PreparedReport, RunReport, state_path
from archfit.reports.summary import failure, lines, summary
from archfit.startup.record import Record
from archfit.yaml import stream
from archfit.yaml.stream import OutputChange, Piece, Splice
from archfit.yaml.values import mapping_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import BinaryIO, Protocol, TextIO, TypeAlias

    from archfit.images.candidates import NewerTags
    from archfit.images.platforms import Answer, Found, Platform
    from archfit.lookup.lookup import Lookup
    from archfit.programs.program import ProgramsOf
    from archfit.programs.start import Start
    from archfit.stream_inventory import StreamInventory
    from archfit.workloads.pods import Pod
    from archfit.workloads.unsupported.untouched import Untouched

    class Frame(Protocol):
        """What a caller adds to a run: a wrapped stream, more messages."""

        def advice(self, edits: StreamEdits) -> list[Message]:
            """More messages for the users of this caller."""

        def with_results(
            self, edits: StreamEdits | None, messages: Sequence[Message], splices: tuple[Splice, ...]
        ) -> tuple[Splice, ...]:
            """The splices that also show the results. Raises ArchfitError if there is no place for them."""

        def after_failure(
            self, edits: StreamEdits | None, messages: Sequence[Message]
        ) -> Iterable[bytes | memoryview]:
            """What standard output holds although the run failed. Raises ArchfitError."""


Decisions: TypeAlias = "Sequence[tuple[Pod, Decision]]"
Explain: TypeAlias = "Callable[[bytes, StreamInventory, Decisions, Mapping[str, Answer], Options], list[str]]"
"""Lines that say why each pod of a stream is placed as it is."""
_LIST = "ResourceList"
_SPELT_WITH_AN_ESCAPE = (
    f"the kind {_LIST} is spelt with an escape: write it out, so that its functionConfig counts"
)


class StreamOutcome(Record):
    """What became of a stream.

    data: what is written where nothing changes. messages: all, in order. edits: None for a stream that
    cannot be read.
    """

    data: bytes
    messages: tuple[Message, ...]
    edits: StreamEdits | None = None


class Run:
    """One run: its settings, its lookup, and its report.

    command: as in `archfit check`, for the report. explain: what --verbose writes, None for nothing.
    named_hosts_only: as `open_lookup` takes it. Raises UsageError for a file of the operator's that is not there.
    """

    def __init__(
        self,
        command: str,
        settings: Settings,
        environ: Mapping[str, str],
        stderr: TextIO,
        *,
        frame: Frame | None = None,
        explain: Explain | None = None,
        named_hosts_only: bool = False,
    ) -> None:
        if settings.operator.quiet or settings.operator.color != "auto":
            from archfit.base.terminal import style

            style(stderr, settings.operator.color, environ, quiet=settings.operator.quiet)
        self._command = command
        self._settings = settings
        self._environ = environ
        self._stderr = stderr
        self._frame = frame
        self._explain = explain
        self._named_hosts_only = named_hosts_only
        self._lookup: Lookup | None = None
        if settings != Settings():
            self._opened()  # what the operator names is checked before anything is read

    def transform(
        self,
        data: bytes,
        stdout: BinaryIO,
        before_output: Callable[[], None] = lambda: None,
        deliver: Callable[[tuple[Splice, ...]], object] | None = None,
    ) -> int:
        """The main job. The exit code.

        before_output: called before the first byte is written. deliver: writes the stream, with these splices, to
        another place than stdout.
        """
        outcome = self.outcome(data)
        edits, messages = outcome.edits, outcome.messages
        if edits is None:
            return self._failed(messages, stdout)
        why = self.explanations(outcome.data, edits.inventory, edits.decisions, edits.answers)
        if edits.failed():
            return self._failed(messages, stdout, why, edits)
        splices = edits.splices
        if self._frame:
            splices = self._frame.with_results(edits, messages, splices)
        changes = stream.output_changes(outcome.data, splices)
        report = self.prepare_report(0, messages, edits.decisions, edits.answers, changes)

        def write() -> None:
            before_output()
            if deliver:
                deliver(splices)
            else:
                standard_streams.write(stdout, stream.parts(outcome.data, splices))

        report.commit_after(write)
        summary = self.summary(edits.decisions, edits.answers, edits.inventory.untouched)
        self.write_messages([*lines(messages), *why, summary])
        return 0

    def outcome(self, data: bytes) -> StreamOutcome:
        """What becomes of a stream; nothing is written. Raises UsageError and InvalidLock."""
        options = self._settings.options
        try:
            read = stream.read_stream(data, options.on_blank)
        except InvalidInput as error:
            return StreamOutcome(data, (Message.from_error(error),))
        if self._lookup:
            self._lookup.use_pull_secrets([(read.data, read.pieces)])
        edits = transform(read.data, read.pieces, options, lambda texts: self._opened().answers(texts))
        messages = [*read.messages, *self.messages, *edits.messages]
        messages += self.unmatched_filters([pod for pod, _ in edits.decisions], edits.inventory)
        if self._frame:
            messages += self._frame.advice(edits)
        elif len(read.pieces) == 1 and data.rfind(_LIST.encode()) < 0:
            values = [mapping_of(document.value) for document in edits.inventory.documents]
            if any(value.get("kind") == _LIST for value in values):
                return StreamOutcome(data, (Message("error", _SPELT_WITH_AN_ESCAPE),))
        return StreamOutcome(read.data, tuple(messages), edits)

    def answers(
        self, streams: Iterable[tuple[bytes, Sequence[Piece]]], texts: list[str]
    ) -> Mapping[str, Answer]:
        """The answer for each image string. streams: whose pull secrets count. Raises UsageError and InvalidLock."""
        if self._lookup:
            self._lookup.use_pull_secrets(streams)
        return self._opened().answers(texts) if texts else {}

    def look_closely(self, required: Sequence[Platform] = ()) -> None:
        """From now on `answers` says more (`Lookup.require`), for the sake of a reader or of --require."""
        self._opened().require(required, tags=True)

    def programs(self, uses: Iterable[tuple[str, Answer, Start]], architectures: Sequence[str]) -> ProgramsOf:
        """What images start, after `answers` (`lookup.image_programs`)."""
        from archfit.lookup.image_programs import image_programs

        return image_programs(self._opened(), uses, architectures)

    def elsewhere(self, texts: Iterable[str]) -> list[Message]:
        """What is said of registries that lead to another one, after `answers`."""
        return self._lookup.elsewhere(texts) if self._lookup else []

    def newer_tags(
        self, images: Mapping[str, Found], required: Sequence[Platform], most: int = 50
    ) -> dict[str, NewerTags]:
        """The nearest tags of images that lack a required platform, by their text (`lookup.newer_tags`)."""
        from archfit.lookup.newer_tags import newer_tags

        return newer_tags(
            self._opened(),
            images,
            required,
            cluster=[name for name in self._settings.options.cluster_architectures if "/" not in name],
            seconds=self._settings.operator.timeout_seconds,
            most=most,
        )

    def unmatched_filters(self, pods: Sequence[Pod], inventory: StreamInventory) -> list[Message]:
        """Warnings about filters of this run that mean nothing of an input with pods. inventory: what it holds."""
        settings = self._settings
        of_file = bool(settings.options.rules or settings.options.exclude)
        of_run = bool(settings.filters) and _may_miss(settings)
        if not pods or not (of_file or of_run):
            return []
        from archfit.placement.filters import of_no_namespace, unmatched

        warnings = of_no_namespace(settings, pods) if of_file else []
        refs = [pod.ref for pod in pods]
        refs += (*(entry.ref for entry in inventory.untouched), *inventory.excluded)
        return [*warnings, *(unmatched(settings, pods, refs) if of_run else ())]

    def _opened(self) -> Lookup:
        if self._lookup is None:
            from archfit.lookup.lookup import lookup_of  # a stream without pods asks nothing

            self._lookup = lookup_of(
                self._settings, self._environ, self._stderr, named_hosts_only=self._named_hosts_only
            )
        return self._lookup

    @property
    def messages(self) -> list[Message]:
        """Warnings about cache, lock file and registries so far."""
        return self._lookup.messages if self._lookup else []

    @property
    def _requests(self) -> Mapping[str, int]:
        return self._lookup.requests if self._lookup else {}

    def prepare_report(
        self,
        exit_code: int,
        messages: Sequence[Message],
        decisions: tuple[tuple[Pod, Decision], ...] = (),
        answers: Mapping[str, Answer] | None = None,
        edits: Iterable[OutputChange] = (),
    ) -> PreparedReport:
        """The run's report in temporary files, to be committed. Raises ArchfitError."""
        report = RunReport(
            self._command,
            exit_code,
            tuple(messages),
            decisions,
            answers or {},
            edits,
            self._settings.sources,
            self._requests,
            self._lookup.pulls_left if self._lookup else {},
        )
        return PreparedReport(report, self._settings.operator.report, state_path(self._environ))

    def summary(
        self, decisions: Decisions, answers: Mapping[str, Answer], untouched: Iterable[Untouched]
    ) -> str:
        """One sentence about a run that wrote its output, "" if the stream holds no pods; then where to read on."""
        passed_over = any(not entry.known and not entry.controller for entry in untouched)
        if not decisions and not passed_over:
            return ""
        return summary(
            decisions,
            answers,
            sum(self._requests.values()),
            passed_over=passed_over,
            default_taint="tolerate" not in dict(self._settings.given),
        )

    def failure_lines(
        self, messages: Sequence[Message], decisions: Decisions = (), answers: Mapping[str, Answer] = {}
    ) -> list[str]:
        """What is said about a run that writes nothing: the messages, the errors last, then where to read on."""
        from archfit.reports.outcome_page import after_failure

        return [*lines(messages), failure(messages), after_failure(messages, decisions, answers)]

    def explanations(
        self, data: bytes, inventory: StreamInventory, decisions: Decisions, answers: Mapping[str, Answer]
    ) -> list[str]:
        """With --verbose, lines that say why each pod of a stream is placed as it is; else none."""
        if not (self._explain and self._settings.operator.verbose):
            return []
        return self._explain(data, inventory, decisions, answers, self._settings.options)

    def write_messages(self, texts: Iterable[str]) -> None:
        """Writes lines to standard error, without the empty ones."""
        written = "".join(f"{text}\n" for text in texts if text)
        if not written:
            return
        try:
            self._stderr.write(written)
            self._stderr.flush()
        except OSError:
            pass  # The output is written, and the exit code says so.

    def close(self) -> None:
        """Gives back the cache and the connections."""
        if self._lookup:
            self._lookup.close()

    def _failed(
        self,
        messages: Sequence[Message],
        stdout: BinaryIO,
        why: Sequence[str] = (),
        edits: StreamEdits | None = None,
    ) -> int:
        from archfit.base.terminal import write_to_terminal

        outcome = (edits.decisions, edits.answers) if edits else ()
        try:
            self.prepare_report(1, messages, *outcome).commit()
            if self._frame:
                standard_streams.write(stdout, self._frame.after_failure(edits, messages))
        finally:
            texts = self.failure_lines(messages, *outcome)
            self.write_messages([*why, *texts])
            write_to_terminal(lines(messages)[-1], self._stderr, self._environ)
        return 1


def _may_miss(settings: Settings) -> bool:
    """Whether a filter may mean nothing; tolerations and preferences for nodes of the cluster do not."""
    if any(key not in ("tolerate", "prefer") for key, _ in settings.filters):
        return True
    options = settings.options
    rules = [rule.architectures for rule in options.tolerate] + [(name,) for name, _ in options.prefer]
    return any(set(names).isdisjoint(options.cluster_architectures) for names in rules)
