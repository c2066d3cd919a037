"""What the API server is told about one Pod: outcome, patch, warnings, or a refusal.

Before a patch is sent, python-jsonpatch and archfit's own `patch.apply` have to make the same Pod of it. A `test` of a
missing member has the value null, which the API server's library takes (gopkg.in/evanphx/json-patch.v4, `Patch.test`).

The API server passes warnings on to kubectl: at most 256 characters each, and 4,096 in all. What does not fit is
counted in the last one. Source: k8s.io/apiserver, pkg/endpoints/filters/warning.go; RFC 7234 section 5.5.

Decisions are kept, as replicas of a controller ask the same question again and again. The key is the extract of the Pod
itself, not a hash of it, so that no Pod can get another's decision. A kept decision counts only for the very answers
(by identity) that it was made with. Both are pure, so that nothing has to be thrown away but for room.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from archfit.base.patch import to_json
from archfit.base.printable import visible
from archfit.base.results import Decision, Message
from archfit.edit.object_patches import difference
from archfit.images.platforms import Absent, Answer, Unknown
from archfit.options.settings import Options
from archfit.startup.record import Record
from archfit.webhook.admitted_pod import AdmittedPod, admitted_pod
from archfit.webhook.memory_budget import Share, weight
from archfit.webhook.review import allowed, denied
from archfit.yaml.values import plain

LONGEST = 256
LONGEST_TOGETHER = 4096
_LONGEST_IMAGE = 128
_PREFIX = "archfit: "
BUG = f"{_PREFIX}archfit itself failed, so the pod is admitted as it is; its log has the reason"


def warning_texts(messages: Sequence[Message]) -> tuple[str, ...]:
    """The warnings for these messages, each once."""
    texts = list(dict.fromkeys(map(warning_text, messages)))
    if sum(map(len, texts)) <= LONGEST_TOGETHER:
        return tuple(texts)
    kept = texts[:]
    while sum(map(len, kept)) + LONGEST > LONGEST_TOGETHER:
        kept.pop()
    return (*kept, f"{_PREFIX}{len(texts) - len(kept)} more warnings are not shown")


def warning_text(message: Message) -> str:
    """The warning for one message."""
    image = message.image
    rest = message.text
    if image and rest.startswith(f"{image}: "):
        rest = rest[len(image) + 2 :]
        return shortened(f"{_PREFIX}{_middle(visible(image))}: {visible(rest)}")
    field = f"{message.field}: " if message.field else ""
    return shortened(f"{_PREFIX}{visible(field + rest)}")


def shortened(text: str) -> str:
    """The text, with its end left out where it is too long for a warning."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _middle(text: str) -> str:
    if len(text) <= _LONGEST_IMAGE:
        return text
    half = (_LONGEST_IMAGE - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


Outcome: TypeAlias = Literal[
    "changed",
    "unchanged",
    "opted_out",
    "unresolved",
    "conflict",
    "denied",
    "over_budget",
    "error",
    "ignored",
    "invalid",
]
"""`over_budget`: there was no memory or no time for the review, or the Pod is too large. `ignored`: the request does
not create a Pod. `invalid`: it was answered with an HTTP error."""

_OUTCOMES: Mapping[str, Outcome] = {
    "Change": "changed",
    "AlreadySet": "unchanged",
    "NotNeeded": "unchanged",
    "OptedOut": "opted_out",
    "Unresolved": "unresolved",
    "Conflict": "conflict",
}


class AdmissionDecision(Record):
    """outcome: for metrics and log. members: of the response, after its uid. reason: one sentence for the log."""

    outcome: Outcome
    members: str
    reason: str = ""


_LONGEST_REASON = 500
IGNORED = AdmissionDecision("ignored", allowed())


def admission_decision(
    admitted: AdmittedPod, answers: Mapping[str, Answer], options: Options
) -> AdmissionDecision:
    """The decision on a Pod. answers: for each of its questions. Raises UsageError for overrides that disagree."""
    decision = admitted.decide(answers, options)
    warned = [message for message in decision.messages if message.severity != "info"]
    errors = [message for message in warned if message.severity == "error"]
    reason = decision.reason[:_LONGEST_REASON]
    if errors and _refuses(decision, answers, options):
        texts = warning_texts([message for message in warned if message is not errors[0]])
        return AdmissionDecision("denied", denied(warning_text(errors[0]), texts), reason)
    why = difference(admitted.value, decision.patch) if decision.patch else ""
    if why:
        return failed(BUG, f"the patch is wrong: {why}")
    members = allowed(plain(to_json(decision.patch)), warning_texts(warned))
    outcome = _OUTCOMES[decision.outcome]
    if outcome in ("changed", "unchanged") and _unanswered(answers, options, "leave"):
        outcome = "unresolved"
    return AdmissionDecision(outcome, members, reason)


def failed(warning: str, reason: str, outcome: Outcome = "error") -> AdmissionDecision:
    """A Pod that could not be decided: it is admitted as it is."""
    return AdmissionDecision(outcome, allowed(warnings=(warning,)), reason[:_LONGEST_REASON])


def _refuses(decision: Decision, answers: Mapping[str, Answer], options: Options) -> bool:
    if options.strict:
        return True
    if decision.outcome == "Conflict":
        return options.on_conflict == "fail"
    return _unanswered(answers, options, "fail")


def _unanswered(answers: Mapping[str, Answer], options: Options, choice: Literal["fail", "leave"]) -> bool:
    """Whether an image has no answer, and the operator's choice for that is this one."""
    kinds = {type(answer) for answer in answers.values()}
    return (Absent in kinds and options.on_absent == choice) or (
        Unknown in kinds and options.on_unknown == choice
    )


_Key: TypeAlias = tuple[str, bytes]
_LONGEST_KEY = 32 * 1024
_POD_BYTES, _CHARACTER_BYTES, _VALUE_BYTES = 4096, 10, 300
_WITHOUT_REFERENCES = 2  # a later version of the format writes equal values in different ways


@dataclass(eq=False, slots=True)
class CachedDecision:
    """One Pod, and the last decision on it."""

    admitted: AdmittedPod
    _options: Options
    _last: tuple[tuple[Answer, ...], AdmissionDecision] | None = None

    def last(self, answers: Mapping[str, Answer]) -> AdmissionDecision | None:
        """The last decision, where it was made with these answers."""
        if self._last is None:
            return None
        given, decision = self._last
        same = all(
            answers[text] is answer for text, answer in zip(self.admitted.questions, given, strict=True)
        )
        return decision if same else None

    def decision(self, answers: Mapping[str, Answer]) -> AdmissionDecision:
        """A decision with an answer for each question; may be called from any thread.

        Raises UsageError for overrides that disagree.
        """
        decision = admission_decision(self.admitted, answers, self._options)
        self._last = tuple(answers[text] for text in self.admitted.questions), decision
        return decision


class DecisionCache:
    """options: `at_admission(..)`. share: of memory; the Pod that was not asked for longest goes first."""

    def __init__(self, options: Options, share: Share) -> None:
        self._options = options
        self._share = share
        self._kept: OrderedDict[_Key, tuple[CachedDecision, int]] = OrderedDict()

    def key(self, extract: dict[str, Any], namespace: str) -> _Key | None:
        """What the Pod of a request is kept by; None where it is not. extract: `pod_extract(..)`."""
        try:
            text = marshal.dumps(extract, _WITHOUT_REFERENCES)
        except ValueError:  # nested too deeply
            return None
        return (namespace, text) if len(text) <= _LONGEST_KEY else None

    def kept(self, key: _Key | None) -> CachedDecision | None:
        if key is None or key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def fresh(self, extract: dict[str, Any], namespace: str) -> CachedDecision:
        """The Pod of a request; may be called from any thread. Raises InvalidInput."""
        return CachedDecision(admitted_pod(extract, namespace, self._options), self._options)

    def keep(self, key: _Key | None, pod: CachedDecision, extract: dict[str, Any]) -> None:
        if key is None or key in self._kept:
            return
        size = kept_bytes(extract)
        if size > self._share.size:
            self._share.refused()
            return
        while not self._share.take(size):
            _, (_, freed) = self._kept.popitem(last=False)
            self._share.give(freed)
        self._kept[key] = pod, size


def kept_bytes(extract: dict[str, Any] | None) -> int:
    """Bytes of a Pod, its key and its decision, at most."""
    values, characters = weight(extract)
    return _POD_BYTES + _CHARACTER_BYTES * characters + _VALUE_BYTES * values
