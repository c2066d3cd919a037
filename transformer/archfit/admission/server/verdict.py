"""What the API server is told about one Pod.

    the decision                                             outcome       the response
    Change                                                   changed       patch
    AlreadySet, NotNeeded                                    unchanged     nothing
    OptedOut                                                 opted_out     nothing
    Unresolved                                               unresolved    a warning for each image; a patch takes back
                                                                           what an earlier pass added
    Conflict                                                 conflict      a warning; the same
    errors, and the operator asked for a refusal             denied        allowed: false, with the first error
    the patch does not do what it should: a bug of archfit   error         a warning
    there is no memory for the review (`memory_budget`)      over_budget   a warning

    an update that lacks what archfit added                  changed       patch
    any other update                                         unchanged     nothing

    the operator asked for a refusal with     for
    --strict                                  any error: also an image that is no reference, a wrong annotation
    --on-absent fail                          an image that does not exist
    --on-unknown fail                         an image whose registry gave no answer in time
    --on-conflict fail                        a Pod that no node can run

Before a patch is sent, python-jsonpatch and archfit's own `patch.apply` have to make the same Pod of it. A `test` of a
missing member has the value null, which the API server's library takes (gopkg.in/evanphx/json-patch.v4, `Patch.test`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from archfit.admission.admitted_pod import AdmittedPod
from archfit.admission.server.review import allowed, denied
from archfit.admission.server.warning_texts import BUG, warning_text, warning_texts
from archfit.admission.updated_pod import put_back
from archfit.images.platforms import Absent, Answer, Unknown
from archfit.options.settings import Options
from archfit.patch import Operation, to_json
from archfit.record import Record
from archfit.report.verified_patches import difference
from archfit.results import Decision
from archfit.source.values import plain

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
"""`over_budget`: there was no memory for the review, or the Pod is too large. `ignored`: the request neither creates
nor updates a Pod. `invalid`: it was answered with an HTTP error."""

_OUTCOMES: Mapping[str, Outcome] = {
    "Change": "changed",
    "AlreadySet": "unchanged",
    "NotNeeded": "unchanged",
    "OptedOut": "opted_out",
    "Unresolved": "unresolved",
    "Conflict": "conflict",
}


class Verdict(Record):
    """outcome: for metrics and log. members: of the response, after its uid. reason: one sentence for the log."""

    outcome: Outcome
    members: str
    reason: str = ""


_LONGEST_REASON = 500
IGNORED = Verdict("ignored", allowed())


def verdict(admitted: AdmittedPod, answers: Mapping[str, Answer], options: Options) -> Verdict:
    """The verdict on a Pod. answers: for each of its questions. Raises UsageError for overrides that disagree."""
    decision = admitted.decide(answers, options)
    warned = [result for result in decision.results if result.severity != "info"]
    errors = [result for result in warned if result.severity == "error"]
    reason = decision.reason[:_LONGEST_REASON]
    if errors and _refuses(decision, answers, options):
        texts = warning_texts([result for result in warned if result is not errors[0]])
        return Verdict("denied", denied(warning_text(errors[0]), texts), reason)
    outcome = _OUTCOMES[decision.outcome]
    return _patched(outcome, admitted.value, decision.patch, warning_texts(warned), reason)


def updated(value: Mapping[str, Any], old: Mapping[str, Any]) -> Verdict:
    """The verdict on an update. value, old: as for `put_back`."""
    patch = put_back(value, old)
    if not patch:
        return Verdict("unchanged", allowed(), "the update lacks nothing that archfit added")
    return _patched("changed", value, patch, (), "what archfit added is put back")


def _patched(
    outcome: Outcome, value: Any, patch: Sequence[Operation], warnings: Sequence[str], reason: str
) -> Verdict:
    why = difference(value, patch) if patch else ""
    if why:
        return Verdict("error", allowed(warnings=(BUG,)), f"the patch is wrong: {why}")
    return Verdict(outcome, allowed(plain(to_json(patch)), warnings), reason)


def failed(warning: str, reason: str, outcome: Outcome = "error") -> Verdict:
    """A Pod that could not be decided: it is admitted as it is."""
    return Verdict(outcome, allowed(warnings=(warning,)), reason[:_LONGEST_REASON])


def _refuses(decision: Decision, answers: Mapping[str, Answer], options: Options) -> bool:
    if options.strict:
        return True
    if decision.outcome == "Conflict":
        return options.on_conflict == "fail"
    kinds = {type(answer) for answer in answers.values()}
    return (Absent in kinds and options.on_absent == "fail") or (
        Unknown in kinds and options.on_unknown == "fail"
    )
