"""A run in words, for standard error: each message as a complete sentence, then the summary.

archfit: 12 of 15 pod templates change and roll once when applied; 13 images, 0 registry requests
"""

from __future__ import annotations

from archfit.base.printable import count, visible
from archfit.base.results import FILLED_IN_LATER, Decision, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from archfit.images.platforms import Answer
    from archfit.workloads.pods import Pod

_MOST_IMAGES = 5
_MOST_NAMES = 3
_ORDER = {"info": 0, "warning": 1, "error": 2}


def lines(messages: Iterable[Message]) -> list[str]:
    """One line for each message: infos, then warnings, then errors, each in the order of the stream.

    A message about several places or images appears once, with the first of them and the number of the others.
    """
    alike: dict[tuple[str, str], list[Message]] = {}
    for message in sorted(messages, key=lambda message: _ORDER[message.severity]):
        cause = message.text.removeprefix(f"{message.image}: ") if message.image else message.text
        alike.setdefault((message.severity, cause), []).append(message)
    return [_line(same) for same in alike.values()]


def _line(same: list[Message]) -> str:
    places = len(dict.fromkeys(str(message) for message in same)) - 1
    images = list(dict.fromkeys(message.image for message in same if message.image != same[0].image))
    others = [f"and in {count(places, 'other place')}"] if places else []
    if images:
        more = len(images) - _MOST_IMAGES
        names = [*images[:_MOST_IMAGES], *([f"{more} more"] if more > 0 else [])]
        others.append(f"with {count(len(images), 'other image')}: {', '.join(names)}")
    text = f"{same[0]} ({', '.join(others)})" if others else str(same[0])
    return visible(text.replace("\n", " "))


def summary(
    decisions: Sequence[tuple[Pod, Decision]],
    answers: Mapping[str, Answer],
    requests: int,
    *,
    passed_over: bool = False,
    default_taint: bool = False,
) -> str:
    """One sentence about a run that wrote its output, "" if the stream holds no pods.

    A second line says which changes may be refused (`immutable_objects`), the last one where to read on. passed_over:
    the stream holds an object of a kind without a row. default_taint: nobody has said which taints the cluster has.
    """
    if not decisions:
        return _read_on(decisions, answers, passed_over=True) if passed_over else ""
    changes = [(pod, decision) for pod, decision in decisions if decision.outcome == "Change"]
    refused = [pod.ref for pod, decision in changes if decision.immutable]
    recreated = [pod for pod, decision in changes if pod.immutable and not decision.immutable]
    templates = sum(1 for pod, decision in decisions if not pod.immutable and not decision.controller)
    specs = sum(1 for _, decision in decisions if not decision.controller)
    rolling = len(changes) - len(refused) - len(recreated)
    parts = []
    if templates:
        waiting = [pod for pod, _ in changes if pod.waits_for]
        text = _rolling(rolling, templates, waiting)
        parts.append(text + (_for_the_toleration(changes, rolling) if default_taint and rolling else ""))
    elif not changes:
        verb = "changes" if specs == 1 else "change"
        parts.append(f"0 of {count(specs, 'pod spec')} {verb}" if specs else "nothing changes")
    if recreated or refused:
        from archfit.reports.immutable_objects import changing, immutable_advice

        if recreated:
            parts.append(changing(recreated, "which is made anew each time", "which are made anew each time"))
        if refused:
            singular, more = "and cannot be updated if it exists", "and cannot be updated if they exist"
            parts.append(changing([pod for pod, decision in changes if decision.immutable], singular, more))
    withheld = sum(1 for _, decision in decisions if decision.withheld)
    if withheld:
        parts.append(_for_reading_alone(withheld))
    outcomes = [decision.outcome for _, decision in decisions]
    later = [
        decision.outcome == "OptedOut" and FILLED_IN_LATER in decision.reason for _, decision in decisions
    ]
    for number, text in (
        (outcomes.count("Unresolved"), "images unknown"),
        (outcomes.count("Conflict"), "no node fits"),
        (sum(later), "placement filled in later"),
    ):
        if number:
            parts.append(f"{number} of {count(specs, 'pod spec')} left alone, {text}")
    parts.append(f"{count(len(answers), 'image')}, {count(requests, 'registry request')}")
    text = f"archfit: {'; '.join(parts)}"
    if refused:
        text = f"{text}\n{visible(immutable_advice(refused))}"
    if passed_over or refused or not {"Unresolved", "Conflict"}.isdisjoint(outcomes):
        text = f"{text}\n{_read_on(decisions, answers, passed_over=passed_over)}".rstrip("\n")
    return text


def _rolling(changed: int, templates: int, waiting: Sequence[Pod]) -> str:
    of = f"{changed} of {count(templates, 'pod template')}"
    if not waiting:
        return f"{of} {'changes and rolls' if changed == 1 or templates == 1 else 'change and roll'} once when applied"
    events: dict[str, list[str]] = {}
    for pod in waiting:
        events.setdefault(pod.waits_for, []).append(f"{pod.ref.kind}/{pod.ref.name}")
    others = "; ".join(
        f"{len(names)} once {event} ({', '.join(names[:_MOST_NAMES])}{', ..' * (len(names) > _MOST_NAMES)})"
        for event, names in events.items()
    )
    at_once = changed - len(waiting)
    rolls = f"{at_once} {'rolls' if at_once == 1 else 'roll'} once when applied, " if at_once else ""
    return f"{of} {'changes' if changed == 1 else 'change'}: {rolls}{others}"


def _for_reading_alone(number: int) -> str:
    verb = "gets only what it" if number == 1 else "get only what they"
    return (
        f"{count(number, 'pod')} of custom resources that were not seen with their operators {verb} cannot run without "
        "(--custom-resources all adds the rest)"
    )


def _for_the_toleration(changes: Iterable[tuple[Pod, Decision]], rolling: int) -> str:
    """How many templates change for the toleration alone, and how to see whether they have to."""
    number = sum(1 for pod, decision in changes if not pod.immutable and decision.added == {"tolerations"})
    if not number:
        return ""
    some = "" if number == rolling == 1 else f" {number} of them"
    return f",{some} for the toleration alone (`archfit setup cluster` says whether a node has its taint)"


def _read_on(
    decisions: Sequence[tuple[Pod, Decision]], answers: Mapping[str, Answer], *, passed_over: bool
) -> str:
    from archfit.reports.outcome_page import after_success

    return after_success(decisions, answers, passed_over=passed_over)


def failure(messages: Iterable[Message]) -> str:
    """The line below the errors of a run that writes nothing."""
    errors = sum(1 for message in messages if message.severity == "error")
    return f"archfit: {count(errors, 'problem')}; nothing was written"


def unknown_words(unknown: Sequence[str]) -> str:
    """`3 not known (2 no answer, 1 placeholder)`; one reason alone needs no number. unknown: of each image."""
    reasons = {reason: unknown.count(reason) for reason in dict.fromkeys(unknown)}
    if len(reasons) > 1:
        listed = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
    else:
        listed = "".join(reasons)
    return f"{len(unknown)} not known" + (f" ({listed})" if listed else "")
