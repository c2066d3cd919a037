"""The one page that explains how a run ended: the last line of its summary, or below the head of a failure.

A run in which nothing needs attention has no such line, and does not load this module; nor has one whose error says
all, such as a document that is not YAML.
"""

from __future__ import annotations

from archfit.base.documentation import place
from archfit.base.results import Decision, Message
from archfit.images.platforms import Answer, Unknown
from archfit.placement.annotations import PREFIX
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

CONFLICTS = ("decisions", "conflicts")
OPERATORS = ("custom-resources", "operators-that-decide-otherwise")
JOBS = ("helm", "jobs")
KINDS = ("custom-resources", "other-kinds-workloads")
CREDENTIALS = ("registries", "when-a-login-does-not-work")
LOCKED = ("lock", "runs")
ANNOTATIONS = ("configuration", "some-workloads-only-rules-and-annotations")
DAEMON_SETS = ("decisions", "what-the-pod-gets")
IMAGES = ("troubleshooting", "")
PAGES = (CONFLICTS, OPERATORS, JOBS, KINDS, CREDENTIALS, LOCKED, ANNOTATIONS, DAEMON_SETS, IMAGES)
"""Every page and heading that is linked."""

# How the messages of registries and token services end where they refuse access (`registry.client`).
_REFUSED = ("no access", "no anonymous access")
_Decisions: TypeAlias = "Sequence[tuple[Pod, Decision]]"


def see(where: tuple[str, str]) -> str:
    """The line that names a page."""
    return f"archfit: see {place(*where)}"


def after_failure(messages: Iterable[Message], decisions: _Decisions, answers: Mapping[str, Answer]) -> str:
    """The line for a run that wrote nothing: about its first error; "" where the error says all there is to say."""
    error = next((message for message in messages if message.severity == "error"), None)
    return _line(error, decisions, answers)


def after_success(decisions: _Decisions, answers: Mapping[str, Answer], *, passed_over: bool) -> str:
    """The line for a run that wrote its output, "" where nothing needs attention.

    passed_over: the stream holds an object of a kind without a row.
    """
    for _, decision in decisions:
        if decision.outcome in ("Unresolved", "Conflict"):
            warning = next((message for message in decision.messages if message.severity == "warning"), None)
            return _line(warning, decisions, answers)
    if any(decision.outcome == "Change" and decision.immutable for _, decision in decisions):
        return see(JOBS)
    return see(KINDS) if passed_over else ""


def _line(message: Message | None, decisions: _Decisions, answers: Mapping[str, Answer]) -> str:
    where = _of_message(message, decisions, answers) if message else None
    return see(where) if where else ""


def _of_message(
    message: Message, decisions: _Decisions, answers: Mapping[str, Answer]
) -> tuple[str, str] | None:
    if message.image:
        return _of_image(message, answers)
    if (
        any(isinstance(step, str) and step.startswith(PREFIX) for step in message.path)
        or PREFIX in message.field
    ):
        return ANNOTATIONS
    for pod, decision in decisions:
        if pod.ref == message.ref and any(known.text == message.text for known in decision.messages):
            if decision.outcome == "Conflict":
                return OPERATORS if pod.placed_elsewhere else CONFLICTS
            if pod.ref.kind == "DaemonSet" and decision.outcome == "Change":
                return DAEMON_SETS
    return None


def _of_image(message: Message, answers: Mapping[str, Answer]) -> tuple[str, str]:
    answer = answers.get(message.image)
    if not isinstance(answer, Unknown):
        return IMAGES
    if any(words in answer.cause for words in _REFUSED):
        return CREDENTIALS
    return LOCKED if answer.final else IMAGES
