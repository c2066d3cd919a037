"""What calls give back: frozen values, and the answers about images as plain dicts, which JSON can hold.

Answers, decisions and messages have the members of the JSON report (`reports.report`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, AnyStr, Generic, Literal, NamedTuple, TypedDict

from archfit.base.errors import ArchfitError as RunError
from archfit.base.errors import ErrorKind
from archfit.base.results import Outcome, Severity

_NONE: Mapping[str, Any] = {}


class _Found(TypedDict):
    answer: Literal["Found"]
    platforms: list[str]


class FoundAnswer(_Found, total=False):
    """The platforms are known. platforms: `os/architecture[/variant]`, normalised and sorted.

    digest: of what was read, "" where an option states the platforms. origin: "override", "lock", "cache", "stale",
    "registry" or "caller". ageSeconds: since the registry confirmed the tag. index: False for a single manifest.
    image: False for an artifact, which restricts nothing. notThere: what its index lists and the registry lacks.
    """

    digest: str
    origin: str
    ageSeconds: int
    index: bool
    image: bool
    notThere: list[str]


class _Unknown(TypedDict):
    answer: Literal["Unknown"]
    cause: str


class UnknownAnswer(_Unknown, total=False):
    """The registry could not be asked, or its answer was not understood.

    remedy: what to do, where there is more to say than usual. final: no `onUnknown` applies. last: what the cache last
    heard, too old to be used without one.
    """

    remedy: str
    final: bool
    last: FoundAnswer


class NoAnswer(TypedDict):
    """`Absent`: the registry has no such manifest. `Unasked`: nobody can be asked. `Malformed`: it is no reference."""

    answer: Literal["Absent", "Unasked", "Malformed"]
    cause: str


ImageAnswer = FoundAnswer | UnknownAnswer | NoAnswer


class Message(NamedTuple):
    """One sentence: what happened, and what to do.

    object: {"apiVersion", "kind", "namespace", "name"}, {} where it is about none. field: dotted path, as
    `spec.containers[0].image`. document, line: 1-based, 0 where none can be named. source: Helm's `# Source:` file.
    image: what it is about, "" for no image. kind: of an error, as `ArchfitError.kind`; else "". As a str, it is one
    line with the place.
    """

    severity: Severity
    text: str
    object: Mapping[str, str] = _NONE
    field: str = ""
    document: int = 0
    line: int = 0
    source: str = ""
    image: str = ""
    kind: ErrorKind | Literal[""] = ""

    def __str__(self) -> str:
        about = "/".join(part for part in self.object.values() if part)
        head = " ".join(part for part in (about, self.field) if part)
        place = f"document {self.document}, line {self.line}" if self.document else ""
        where = ", ".join(part for part in (place, self.source) if part)
        return f"{head}{': ' if head else ''}{self.text}{f' ({where})' if where else ''}"


class Decision(NamedTuple):
    """What happens to one pod spec, and why.

    outcome: "Change", "AlreadySet", "NotNeeded", "OptedOut", "Unresolved" or "Conflict" (docs/decisions.md).
    reason: one sentence.
    patch: RFC 6902 operations, in order, ready for a JSON encoder; empty unless outcome is "Change". Their paths begin
        at the pod spec for `decide`, and at the document's object for `transform`.
    supported: architectures that every image offers, sorted; None where no image restricts.
    reachable: architectures of the cluster that the pod can reach in the end, sorted.
    removed: each architecture of the cluster that images took away, with these images.
    messages: warnings and notes about this pod spec.
    images: the answer for each image that was looked up, as `platforms` gives it.
    object: {"apiVersion", "kind", "namespace", "name"}; {} for `decide`.
    path: of the pod spec in the object, dotted; "" for `decide`.
    immutable: the object cannot be changed once it is applied, such as a Job.
    """

    outcome: Outcome
    reason: str
    patch: Sequence[Mapping[str, Any]] = ()
    supported: Sequence[str] | None = None
    reachable: Sequence[str] = ()
    removed: Mapping[str, Sequence[str]] = _NONE
    messages: Sequence[Message] = ()
    images: Mapping[str, ImageAnswer] = _NONE
    object: Mapping[str, str] = _NONE
    path: str = ""
    immutable: bool = False

    def patch_at(self, pointer: str) -> list[dict[str, Any]]:
        """The patch for something that holds the pod spec. pointer: where, as in "/spec/template/spec" (RFC 6901)."""
        return [{**step, "path": pointer + step["path"]} for step in self.patch]

    def applied(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the value with the patch applied. Raises ArchfitError where it is not what was decided about."""
        import jsonpatch  # noqa: PLC0415 - not for a program that applies it itself

        try:
            patched: dict[str, Any] = jsonpatch.apply_patch(dict(value), self.patch_at(""))
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
            message = f"the patch does not fit ({error}): apply it to the value that was decided about"
        else:
            return patched
        raise ArchfitError(message)


class Result(NamedTuple, Generic[AnyStr]):
    """A stream as the command writes it.

    manifests: bytes or str, as they came in; the very object where nothing changes.
    decisions: one for each pod spec, in the order of the stream.
    messages: what the command writes to standard error, but for its summary.
    images: the answer for each image of the stream, by its string as written, as `platforms` gives it.
    """

    manifests: AnyStr
    decisions: Sequence[Decision] = ()
    messages: Sequence[Message] = ()
    images: Mapping[str, ImageAnswer] = _NONE

    @property
    def changed(self) -> bool:
        """Whether a pod spec changes."""
        return any(decision.outcome == "Change" for decision in self.decisions)


class ArchfitError(RunError):
    """What a call raises, and nothing else: the command would exit with `exit_code`, 1 or 2, and write nothing.

    messages: all of them, the errors among them. decisions, images: as those of a Result, as far as they were made.
    """

    def __init__(
        self,
        text: str,
        kind: ErrorKind = "failed",
        messages: Sequence[Message] = (),
        decisions: Sequence[Decision] = (),
        images: Mapping[str, ImageAnswer] = _NONE,
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.messages = tuple(messages)
        self.decisions = tuple(decisions)
        self.images = dict(images)
        errors = [message for message in messages if message.severity == "error"]
        self.document, self.line = (errors[0].document, errors[0].line) if errors else (0, 0)
