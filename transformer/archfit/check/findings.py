"""What a check found, ready for people and for the machines that show it to them.

not-known is a warning with --allow-unknown; of the other RULES notice is a warning or an info; not-checked and
not-read are infos.

the place of a finding            file         line
manifests in a named file         that file    of the member
a stream with `# Source:` lines   the source   0: lines of the stream mean nothing in a template
any other stream                  ""           of the member, in the stream
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from archfit.base.patch import Path, dotted
from archfit.base.results import Decision, Location, Message, ObjectRef, Severity
from archfit.placement.requirement import LackingUse, NotKnown, PlatformCheck
from archfit.startup.record import Record
from archfit.workloads.builtin import group_of
from archfit.workloads.pods import Pod

if TYPE_CHECKING:
    from archfit.images.candidates import NewerTags
    from archfit.workloads.unsupported.untouched import Untouched

Line: TypeAlias = Callable[[Pod, Path], int]

RULES = {
    "placement": "The pod spec is not as archfit would leave it.",
    "required-platform": "An image does not run on a platform that --require names.",
    "not-known": "Nobody can say whether an image runs on the platforms that --require names.",
    "problem": "archfit could not answer: the manifests or an image could not be read, or demands contradict.",
    "notice": "How archfit found the answer.",
    "not-checked": "The images of this pod were not looked at.",
    "not-read": "The program that an image starts was not read, as --programs asks.",
}


class Finding(Record):
    """One thing that was found; see the module for `file` and `line`.

    field: dotted path from the object's root, or "". document: 1-based, 0 where none can be named.
    missing: the platforms that the image lacks; offers: those it has; kept_off: the pod itself keeps away from all that
    is missing. left_alone: why archfit leaves the pod as it is. absent: what the registry said that has no such image.
    not_there: what the index lists and the registry does not have, a sentence. programs: as of `LackingUse`.
    reason, cause: why an image is not known, in a word and in a sentence. newer: the nearest tags of an image that
    lacks a platform, where they were searched for; column: where the image stands on its line, 1-based and in code
    points, 0 where that is not known.
    """

    rule: str
    severity: Severity
    message: str
    ref: ObjectRef | None = None
    field: str = ""
    file: str = ""
    line: int = 0
    document: int = 0
    source: str = ""
    image: str = ""
    missing: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    kept_off: bool = False
    left_alone: str = ""
    absent: str = ""
    not_there: str = ""
    programs: str = ""
    reason: str = ""
    cause: str = ""
    newer: NewerTags | None = None
    column: int = 0

    @property
    def where(self) -> str:
        """`app.yaml:12`, or what else is known of the place, "" where nothing is."""
        place = f"{self.file}:{self.line}" if self.exact else self.file
        document = f"document {self.document}" if self.document and not self.exact else ""
        line = f"line {self.line}" if self.line and not self.file else ""
        return ", ".join(part for part in (place, self._rendered, document, line) if part)

    @property
    def counted_image(self) -> str:
        """What tells one image from another: its text, or its place where it has none."""
        return self.image or " ".join((self.file, str(self.document), str(self.ref), self.field))

    @property
    def exact(self) -> bool:
        """A line of a file is known."""
        return bool(self.file and self.line)

    @property
    def elsewhere(self) -> str:
        """What a message adds where file and line do not say the place: ` (document 3, line 12)`, or ""."""
        return "" if not self.where or (self.exact and not self._rendered) else f" ({self.where})"

    @property
    def _rendered(self) -> str:
        """The source, where the file is none, or the Chart.yaml that names the archive of the source."""
        return self.source if self.file.rpartition("/")[2] in ("", "Chart.yaml") else ""

    @property
    def artifact(self) -> str:
        """The file, for formats that know no finding without one: the source, or `stdin`."""
        return (self.file or self.source or "stdin").replace("\\", "/")

    @property
    def subject(self) -> str:
        """The object and the field, "" where there is neither."""
        return " ".join(part for part in (str(self.ref or ""), self.field) if part)

    @property
    def headline(self) -> str:
        """The object and the field, then the message."""
        return f"{self.subject}: {self.message}" if self.subject else self.message

    @property
    def todo(self) -> str:
        """What to do, as the end of a sentence, or ""."""
        return f"; {self.newer.advice}" if self.newer else ""

    @property
    def sentence(self) -> str:
        """The headline with what it lacks: the place, where file and line do not say it, and what to do."""
        return self.headline + self.elsewhere + self.todo


class Check(Record):
    """A whole check.

    required: the platforms of --require, () where placement was the question. pods, images: how many were looked at;
    images has those that lack a platform or are not known, too. unknown: why images are not known, in a word or two,
    one for each. stated: how many of the images have platforms that nobody was asked for. listed: how many of the known
    ones have a required platform by their index alone. left_alone: pod specs that
    archfit leaves as they are; by_annotation: those of them with archfit.dev/skip. objects: those that may hold pods
    which no row reads. texts: the images that were looked at. cases: for `check.junit`.
    """

    exit_code: int
    required: tuple[str, ...]
    findings: tuple[Finding, ...]
    pods: int
    images: int
    unknown: tuple[str, ...] = ()
    stated: int = 0
    listed: int = 0
    left_alone: int = 0
    by_annotation: int = 0
    objects: int = 0
    texts: tuple[str, ...] = ()
    cases: tuple[Finding, ...] = ()

    @property
    def lacking(self) -> int:
        """How many images lack a required platform."""
        return len({finding.counted_image for finding in self.of("required-platform")})

    @property
    def known(self) -> int:
        """How many images are known, and lack none of the required platforms."""
        return self.images - self.lacking - len(self.unknown)

    @property
    def shown(self) -> list[Finding]:
        """What is worth a place in a review: all but infos that explain an answer."""
        return [
            finding for finding in self.findings if (finding.rule, finding.severity) != ("notice", "info")
        ]

    def of_each(self, change: Callable[[Iterable[Finding]], Iterable[Finding]]) -> Check:
        """With its findings and its cases changed."""
        return self.replace(findings=tuple(change(self.findings)), cases=tuple(change(self.cases)))

    def of(self, rule: str) -> list[Finding]:
        """The findings of one rule, in the order of the stream."""
        return [finding for finding in self.findings if finding.rule == rule]


def counts(check: Check) -> dict[str, int]:
    """The numbers of a check of --require, as JSON and SARIF have them."""
    running = check.known - check.listed
    listed = {"listed": check.listed} if check.listed else {}
    return {"running": running, **listed, "lacking": check.lacking, "notKnown": len(check.unknown)}


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """What identifies each finding from one run to the next: 64 hexadecimal digits, unique in the list.

    The line is no part of it, so that a finding stays the same one when the text above it grows. Of equal findings,
    each has a number.
    """
    seen: Counter[bytes] = Counter()
    digests = []
    for finding in findings:
        parts = [finding.rule, str(finding.ref or ""), finding.field, finding.file, finding.image]
        parts += finding.missing
        if finding.rule in ("problem", "notice"):
            parts.append(finding.message)
        text = "\0".join(parts).encode(errors="backslashreplace")
        seen[text] += 1
        digests.append(sha256(text + (b"\0%d" % seen[text] if seen[text] > 1 else b"")).hexdigest())
    return digests


def placed(finding: Finding, location: Location | None, line: int = 0) -> Finding:
    """The finding with its place. line: in the input, 0 for the object's own."""
    if location is None:
        return finding
    file, line = location.file, line or location.line
    if not file and location.source:
        file, line = location.source, 0
    return finding.replace(file=file, line=line, document=location.document, source=location.source)


def from_message(message: Message, line: int = 0) -> Finding:
    """A Message of scan, lookup or decision as a finding."""
    rule = "problem" if message.severity == "error" else "notice"
    finding = Finding(rule, message.severity, message.text, message.ref, message.field)
    return placed(finding, message.location, line)


def about_pod(rule: str, severity: Severity, message: str, pod: Pod, line: Line) -> Finding:
    """A finding about a whole pod spec."""
    finding = Finding(rule, severity, message, pod.ref, dotted(pod.path))
    return placed(finding, pod.location, line(pod, pod.path))


def of_decisions(decisions: Iterable[tuple[Pod, Decision]], line: Line) -> Iterator[Finding]:
    """What archfit would change, and the messages of its decisions, each once."""
    reported: set[Message] = set()
    for pod, decision in decisions:
        if decision.outcome == "Change":
            message = f"archfit would change it: {decision.reason}"
            yield about_pod("placement", "error", message, pod, line)
        yield from _from_messages(pod, decision.messages, line, reported)


def of_objects(untouched: Iterable[Untouched], *, allowed: bool) -> Iterator[Finding]:
    """Objects that may hold pods which no row reads, each once for each reason. allowed: as --allow-unknown says."""
    for what in dict.fromkeys(untouched):
        if what.controller or what.podless:
            continue
        cause = what.reason
        if not what.known:
            kind = f"{group_of(what.ref.api_version)}/{what.ref.kind}".strip("/")
            cause = (
                f"archfit does not read {kind}, which may hold pods" if what.ref.kind else "it has no kind"
            )
        finding = Finding(
            "not-known",
            "warning" if allowed else "error",
            f"the platforms of its images are not known: {cause}",
            what.ref,
            reason="object not read",
            cause=cause,
        )
        yield placed(finding, what.location)


def of_verdicts(
    verdicts: Iterable[tuple[Pod, PlatformCheck]], line: Line, *, allowed: bool
) -> Iterator[Finding]:
    """Images that do not run where they have to, those of which nobody knows, pods that were left out, other messages.

    Each message is there once. allowed: as --allow-unknown says.
    """
    reported: set[Message] = set()
    for pod, verdict in verdicts:
        if verdict.left_out:
            yield about_pod("not-checked", "info", verdict.left_out, pod, line)
        by_use = [(lack.use, _lacking(lack)) for lack in verdict.lacks]
        for left in verdict.unread:
            message = f"{left.use.text}: the program that it starts was not read, for {left.cause}"
            by_use.append((left.use, Finding("not-read", "info", message)))
        by_use += [(unknown.use, _not_known(unknown, allowed=allowed)) for unknown in verdict.unknown]
        for use, finding in by_use:
            about = finding.replace(ref=pod.ref, field=dotted(use.path), image=use.text or "")
            yield placed(about, pod.location, line(pod, use.path))
        yield from _from_messages(pod, verdict.messages, line, reported)


def _lacking(lack: LackingUse) -> Finding:
    offers = (
        f"it offers {', '.join(lack.offers) or 'nothing'}" if set(lack.missing) - set(lack.offers) else ""
    )
    why = f"there is no such image: {lack.absent}" if lack.absent else offers
    repair = f"{lack.programs}: repair its build" if lack.programs else ""
    why = "; ".join(filter(None, (repair, lack.not_there, why)))
    return Finding(
        "required-platform",
        "error",
        f"{lack.use.text or ''} does not run on {', '.join(lack.missing)}; {why}",
        missing=lack.missing,
        offers=lack.offers,
        kept_off=lack.kept_off,
        left_alone=lack.left_alone,
        absent=lack.absent,
        not_there=lack.not_there,
        programs=lack.programs,
    )


def _not_known(unknown: NotKnown, *, allowed: bool) -> Finding:
    return Finding(
        "not-known",
        "warning" if allowed else "error",
        f"{unknown.use.text or 'an image'}: its platforms are not known: {unknown.cause}",
        reason=unknown.reason,
        cause=unknown.cause,
    )


def _from_messages(
    pod: Pod, messages: Iterable[Message], line: Line, reported: set[Message]
) -> Iterator[Finding]:
    for message in messages:
        if message not in reported:
            reported.add(message)
            yield from_message(message, line(pod, message.path or pod.path))
