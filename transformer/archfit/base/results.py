"""What a run reports: one Decision for each pod spec, and Messages in the shape of a KRM function's.

    Change        the patch is applied
    AlreadySet    it is as archfit would leave it
    NotNeeded     the images run wherever the pod can
    OptedOut      the user, nodeName, a controller, a virtual node or an operator keeps archfit out
    Unresolved    an image's platforms are not known, and the policy is to leave the pod
    Conflict      no node that the pod allows can run all its images

Source of Message: kustomize, cmd/config/docs/api-conventions/functions-spec.md, `results`.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal, TypeAlias

    from archfit.base.patch import Operation, Path

Severity: TypeAlias = "Literal['error', 'warning', 'info']"
Outcome: TypeAlias = "Literal['Change', 'AlreadySet', 'NotNeeded', 'OptedOut', 'Unresolved', 'Conflict']"
Effect: TypeAlias = "Literal['added', 'present', 'left out', 'none']"


def qualified_kind(group: str, kind: str) -> str:
    """`Workflow.argoproj.io`, as kubectl takes it; `Job` of a group without a dot, which no other kind can have."""
    return f"{kind}.{group}" if "." in group else kind


class ObjectRef(Record):
    """Identity of a Kubernetes object, as far as the stream gives it; each part may be ""."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in (self.api_version, self.kind, self.namespace, self.name) if part)

    @property
    def qualified_kind(self) -> str:
        """As `qualified_kind` has it."""
        return qualified_kind(self.api_version.rpartition("/")[0], self.kind)


class Location(Record):
    """Where in the stream: 1-based document and line, and Helm's `# Source:` file where there is one.

    file: of the input, "" for a stream. The line is that of the input, never of the `# Source:` file.
    """

    document: int
    line: int
    source: str = ""
    file: str = ""

    @property
    def where(self) -> str:
        """The files that it names, "" for none."""
        return ", ".join(part for part in (self.file, self.source) if part)

    def __str__(self) -> str:
        source = f", {self.source}" if self.source else ""
        if self.file:
            return f"{self.file}:{self.line}{source}"
        return f"document {self.document}, line {self.line}{' of the stream' if source else ''}{source}"


class Message(Record):
    """One message for the user.

    field: dotted path such as `spec.containers[0].image`, or "". path: the same from the document's root, () where the
    location says the line already. image: what the message is about and begins with, "" where it is no image.
    """

    severity: Severity
    text: str
    ref: ObjectRef | None = None
    field: str = ""
    location: Location | None = None
    path: Path = ()
    image: str = ""

    @classmethod
    def from_error(cls, error: InvalidInput) -> Message:
        """The message for a stream that cannot be read."""
        location = Location(error.document, error.line) if error.line else None
        return cls("error", error.message, location=location)

    def __str__(self) -> str:
        head = " ".join(part for part in (str(self.ref) if self.ref else "", self.field) if part)
        where = f" ({self.location})" if self.location else ""
        return f"{self.severity}: {head + ': ' if head else ''}{self.text}{where}"


class Removed(Record):
    """An architecture the pod cannot have, and the images that do not offer it."""

    architecture: str
    images: tuple[str, ...]


class Reason(Record):
    """What became of one thing that a pod gets or might have got, and why.

    about: `affinity`, `tolerations` or `preferences`. what: the thing, as people write it, "" for none.
    term: the number of the pod's own required term that it is about, 0 for none.
    """

    about: str
    what: str
    effect: Effect
    reason: str
    term: int = 0


FILLED_IN_LATER = "is filled in later"
"""In the reason of a pod that is left alone because a template stands where its placement or its images do."""


class Decision(Record):
    """What happens to one pod spec.

    patch: RFC 6902 operations on the object's root; empty unless outcome is "Change".
    reason: one sentence; where something is added, made of the reasons (`placement.reasons`).
    supported: architectures that every image offers (for the pod's OS), sorted; None when no image restricts.
    reachable: architectures the pod can reach in the end, sorted.
    removed: architectures of the cluster that an image took away, with the images to blame.
    immutable: the object cannot be changed once applied (`placement.case`).
    messages: warnings and errors of this pod spec.
    controller: the object that controls this one and decides in its place, as `ReplicaSet/web-5d4f`, or "".
    withheld: what a row that was not seen keeps archfit from writing, as "a toleration of key=value:effect".
    beside_record: it was made for the pod with what an earlier run recorded, which therefore stays.
    reasons: what it gives the pod and what not, () where it ended before that.
    """

    outcome: Outcome
    reason: str
    patch: tuple[Operation, ...] = ()
    supported: tuple[str, ...] | None = None
    reachable: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    immutable: bool = False
    messages: tuple[Message, ...] = ()
    controller: str = ""
    withheld: tuple[str, ...] = ()
    beside_record: bool = False
    reasons: tuple[Reason, ...] = ()

    @property
    def added(self) -> set[str]:
        """What the patch adds, as `Reason.about` has it."""
        return {reason.about for reason in self.reasons if reason.effect == "added"}


def has_error(messages: Iterable[Message]) -> bool:
    """Whether an error stands in the way of any output."""
    return any(message.severity == "error" for message in messages)
