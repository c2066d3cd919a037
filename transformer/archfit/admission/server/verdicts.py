"""Verdicts that are kept: replicas of a controller ask the same question again and again.

    (namespace, extract of the Pod) ──> AdmittedPod ──> its questions
    the same and the same answers   ──> Verdict

The key is the extract itself, not a hash of it, so that no Pod can get another's verdict. A kept verdict counts only
for the very answers (by identity) that it was made with. Both are pure, so that nothing has to be thrown away but by
number.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from archfit.admission.admitted_pod import AdmittedPod, admitted_pod
from archfit.admission.server.verdict import Verdict, verdict
from archfit.images.platforms import Answer
from archfit.options.settings import Options

KEPT = 1024
_LONGEST_KEY = 32 * 1024
_WITHOUT_REFERENCES = 2  # a later version of the format writes equal values in different ways


class KeptPod:
    """One Pod, and the last verdict on it."""

    __slots__ = ("_answers", "_options", "_verdict", "admitted")

    def __init__(self, admitted: AdmittedPod, options: Options) -> None:
        self.admitted = admitted
        self._options = options
        self._answers: tuple[Answer, ...] = ()
        self._verdict: Verdict | None = None

    def verdict(self, answers: Mapping[str, Answer]) -> Verdict:
        """The verdict with an answer for each question. Raises UsageError for overrides that disagree."""
        given = tuple(answers[text] for text in self.admitted.questions)
        made = self._verdict
        if made is None or any(one is not other for one, other in zip(given, self._answers, strict=True)):
            made = verdict(self.admitted, answers, self._options)
            self._answers, self._verdict = given, made
        return made


class Verdicts:
    """options: `at_admission(..)`. kept: how many Pods are kept; the one that was not asked for longest goes first."""

    def __init__(self, options: Options, kept: int = KEPT) -> None:
        self._options = options
        self._most = kept
        self._kept: OrderedDict[tuple[str, bytes], KeptPod] = OrderedDict()

    def pod(self, extract: dict[str, Any], namespace: str) -> KeptPod:
        """The Pod of a request. extract: `pod_extract(..)`. Raises InvalidInput."""
        try:
            text = marshal.dumps(extract, _WITHOUT_REFERENCES)
        except ValueError:  # nested too deeply
            text = b""
        if not 0 < len(text) <= _LONGEST_KEY:
            return self.fresh(extract, namespace)
        key = namespace, text
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = self.fresh(extract, namespace)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found

    def fresh(self, extract: dict[str, Any], namespace: str) -> KeptPod:
        """The same without looking at what is kept; safe to call from any thread. Raises InvalidInput."""
        return KeptPod(admitted_pod(extract, namespace, self._options), self._options)
