"""Verdicts that are kept: replicas of a controller ask the same question again and again.

    (namespace, extract of the Pod) ──> AdmittedPod ──> its questions
    the same and the same answers   ──> Verdict

    bytes of a kept Pod    4 KiB, 10 for each character, 300 for each value of its extract

The key is the extract itself, not a hash of it, so that no Pod can get another's verdict. A kept verdict counts only
for the very answers (by identity) that it was made with. Both are pure, so that nothing has to be thrown away but for
room.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from archfit.admission.admitted_pod import AdmittedPod, admitted_pod
from archfit.admission.server.memory_budget import Share, weight
from archfit.admission.server.verdict import Verdict, verdict
from archfit.images.platforms import Answer
from archfit.options.settings import Options

_LONGEST_KEY = 32 * 1024
_POD_BYTES, _CHARACTER_BYTES, _VALUE_BYTES = 4096, 10, 300
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
    """options: `at_admission(..)`. share: of memory; the Pod that was not asked for longest goes first."""

    def __init__(self, options: Options, share: Share) -> None:
        self._options = options
        self._share = share
        self._kept: OrderedDict[tuple[str, bytes], tuple[KeptPod, int]] = OrderedDict()

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
        if found:
            self._kept.move_to_end(key)
            return found[0]
        made = self.fresh(extract, namespace)
        self._keep(key, made, kept_bytes(extract))
        return made

    def fresh(self, extract: dict[str, Any], namespace: str) -> KeptPod:
        """The same without looking at what is kept; safe to call from any thread. Raises InvalidInput."""
        return KeptPod(admitted_pod(extract, namespace, self._options), self._options)

    def _keep(self, key: tuple[str, bytes], made: KeptPod, size: int) -> None:
        if size > self._share.size:
            self._share.refused()
            return
        while not self._share.take(size):
            _, (_, freed) = self._kept.popitem(last=False)
            self._share.give(freed)
        self._kept[key] = made, size


def kept_bytes(extract: dict[str, Any] | None) -> int:
    """Bytes of a Pod, its key and its verdict, at most."""
    values, characters = weight(extract)
    return _POD_BYTES + _CHARACTER_BYTES * characters + _VALUE_BYTES * values
