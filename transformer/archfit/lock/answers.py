"""The answers of registries that a lock file or a policy is made of, by normalised reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from archfit.base.record import Record
from archfit.base.results import Result
from archfit.images.platforms import Absent, Answer, Found, Unasked, Unknown
from archfit.lock.needs import LockNeeds
from archfit.lookup.lockfile import as_locked
from archfit.lookup.lookup import lookup_of
from archfit.options.settings import Operator, Settings


class Failure(Record):
    """An image without platforms. text: as it is written. use: where, as a Result without message."""

    reference: str
    text: str
    answer: Answer
    use: Result


class LockAnswers(Record):
    """What registries said. found: by normalised reference. requests: how many were made."""

    found: dict[str, Found]
    failed: tuple[Failure, ...] = ()
    messages: tuple[Result, ...] = ()
    requests: int = 0


def looked_up(
    names: Sequence[str],
    needs: LockNeeds,
    operator: Operator,
    environ: Mapping[str, str],
    stderr: TextIO,
    *,
    named_hosts_only: bool = False,
) -> LockAnswers:
    """The answers for normalised references. names: of `needs.needed`. Raises UsageError.

    named_hosts_only: as `lookup.open_lookup` takes it, for images that the operator has not named.
    """
    if not names:
        return LockAnswers({})
    lookup = lookup_of(Settings(operator=operator), environ, stderr, named_hosts_only=named_hosts_only)
    try:
        answers = lookup.answers([needs.needed[name] for name in names])
    finally:
        lookup.close()
    found: dict[str, Found] = {}
    failed: list[Failure] = []
    for name in names:
        text = needs.needed[name]
        answer = answers[text]
        if isinstance(answer, Found):
            found[name] = as_locked(answer)
        else:
            failed.append(Failure(name, text, answer, needs.uses[text]))
    return LockAnswers(found, tuple(failed), tuple(lookup.results), sum(lookup.requests.values()))


def asked_anew(operator: Operator) -> Operator:
    """The operator's part for answers that are written down: the age of a cached one must not count."""
    return operator.replace(cache_ttl_seconds=0, max_stale_seconds=0)


def failed_result(failure: Failure) -> Result:
    """The error about an image that a lock file cannot hold."""
    return failure.use.replace(message=f"{failure.text}: {_why(failure.answer)}")


def _why(answer: Answer) -> str:
    match answer:
        case Absent():
            return f"there is no such image: {answer.detail}; correct the image"
        case Unknown():
            return (
                f"its platforms are not known: {answer.cause}; run it again, or state them with --image-platforms, "
                "which no lock file needs to hold"
            )
        case Unasked():
            return answer.reason
    return getattr(answer, "reason", "")
