"""The images of a lock file or of a policy: those that manifests need, and what registries answer about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TextIO

from archfit.base.patch import dotted
from archfit.base.results import Message
from archfit.cli.inputs.manifests import Manifests
from archfit.images.overrides import override
from archfit.images.platforms import Absent, Answer, Found, Unasked, Unknown
from archfit.images.reference import parse
from archfit.lookup.lockfile import as_locked
from archfit.lookup.lookup import lookup_of
from archfit.options.settings import Operator, Options, Settings
from archfit.placement.evidence import malformed
from archfit.placement.requirement import not_known
from archfit.placement.selection import answers_for
from archfit.startup.record import Record
from archfit.workloads.documents import Lines


class LockNeeds(Record):
    """What the manifests need.

    needed: an image string for each normalised reference, in order. uses: by image string, where it is first named, as
    a Message without text. messages: about the manifests. unknown: why images cannot be locked, in a word or
    two, one for each.
    """

    needed: dict[str, str]
    uses: dict[str, Message]
    messages: tuple[Message, ...]
    unknown: tuple[str, ...] = ()


def lock_needs(manifests: Manifests, options: Options) -> LockNeeds:
    """The images to look up, each once, without those that an override answers."""
    needed: dict[str, str] = {}
    uses: dict[str, Message] = {}
    unknown: dict[str, str] = {}
    inventory = manifests.inventory
    for text in inventory.texts:
        reference = parse(text)
        if not override(reference, options.image_platforms):
            needed.setdefault(reference.normalised, text)
    lines = Lines(manifests.data, inventory.documents)
    about = [*manifests.messages, *inventory.messages]
    for pod, own in inventory.pods():
        answers = answers_for(pod, {}, options, own)
        if not own.left_alone:
            about += malformed(pod, answers, options)
        for use, answer in zip(pod.images, answers, strict=True):
            if use.text and use.text not in uses:
                uses[use.text] = lines.located(pod.message("error", "", use.path))
            if isinstance(answer, Unasked) and not own.left_alone:
                place = f"{pod.location.file} {pod.location.document} {pod.ref} {dotted(use.path)}"
                unknown[use.text or place] = not_known(use, answer).reason
    return LockNeeds(
        needed, uses, tuple(manifests.in_order(map(lines.located, about))), tuple(unknown.values())
    )


class Failure(Record):
    """An image without platforms. text: as it is written. use: where, as a Message without text."""

    reference: str
    text: str
    answer: Answer
    use: Message


class LockAnswers(Record):
    """What registries said. locked: by normalised reference. requests: how many were made."""

    locked: dict[str, Found]
    failed: tuple[Failure, ...] = ()
    messages: tuple[Message, ...] = ()
    requests: int = 0


def looked_up(
    names: Sequence[str],
    needs: LockNeeds,
    settings: Settings,
    environ: Mapping[str, str],
    stderr: TextIO,
    *,
    named_hosts_only: bool = False,
) -> LockAnswers:
    """The answers for normalised references. names: of `needs.needed`. settings: of the lookup. Raises UsageError.

    named_hosts_only: as `lookup.open_lookup` takes it, for images that the operator has not named.
    """
    if not names:
        return LockAnswers({})
    with closing(lookup_of(settings, environ, stderr, named_hosts_only=named_hosts_only)) as lookup:
        answers = lookup.answers([needs.needed[name] for name in names])
    locked: dict[str, Found] = {}
    failed: list[Failure] = []
    for name in names:
        text = needs.needed[name]
        answer = answers[text]
        if isinstance(answer, Found):
            locked[name] = as_locked(answer)
        else:
            failed.append(Failure(name, text, answer, needs.uses[text]))
    return LockAnswers(locked, tuple(failed), tuple(lookup.messages), sum(lookup.requests.values()))


def asked_anew(operator: Operator) -> Operator:
    """The operator's part for answers that are written down: the age of a cached one must not count."""
    return operator.replace(cache_ttl_seconds=0, max_stale_seconds=0)


def failed_message(failure: Failure) -> Message:
    """The error about an image that a lock file cannot hold."""
    return failure.use.replace(text=f"{failure.text}: {_why(failure.answer)}")


def _why(answer: Answer) -> str:
    match answer:
        case Absent():
            return f"there is no such image: {answer.cause}; correct the image"
        case Unknown():
            return (
                f"its platforms are not known: {answer.cause}; run it again, or state them with --image-platforms, "
                "which no lock file needs to hold"
            )
    return "" if isinstance(answer, Found) else answer.cause
