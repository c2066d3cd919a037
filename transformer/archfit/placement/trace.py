"""The steps of one decision, taken down for `explanation`: `decide` itself fills it, so nothing is worked out twice.

    answered    the answer for each image, and what it means for the pod
    judged      (a) has not ended the decision: where the pod can go
    placed      (b), (c) and (d): the affinity that it needs, the rules that apply, what it is to be given
    left        what of it a custom resource has fields for

A step that the decision did not reach leaves None.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.images.platforms import Answer
from archfit.options.settings import Toleration
from archfit.placement.case import Case
from archfit.placement.evidence import ImageEvidence
from archfit.placement.pod_patch import Additions
from archfit.placement.required_terms import NOTHING, RequiredTerms


class Trace:
    """Takes down one decision.

    given: the answer for each of the pod's images. needed: of step (b), also with `affinity: never`. applying: the
    tolerations of the rules that apply. wanted: what steps (b) to (d) give the pod. needed_only: only what it cannot
    run without. written: what the object has fields for.
    """

    def __init__(self) -> None:
        self.given: tuple[Answer, ...] | None = None
        self.evidence: ImageEvidence | None = None
        self.case: Case | None = None
        self.needed: RequiredTerms = NOTHING
        self.applying: tuple[Toleration, ...] = ()
        self.wanted: Additions | None = None
        self.needed_only = False
        self.written = Additions()

    def answered(self, given: tuple[Answer, ...], evidence: ImageEvidence) -> None:
        """The images have answers."""
        self.given, self.evidence = given, evidence

    def judged(self, case: Case) -> None:
        """It is known where the pod can go."""
        self.case = case

    def placed(
        self,
        needed: RequiredTerms,
        applying: Sequence[Toleration],
        wanted: Additions,
        *,
        needed_only: bool,
    ) -> None:
        """It is known what the pod is to be given."""
        self.needed, self.applying, self.needed_only = needed, tuple(applying), needed_only
        self.wanted = self.written = wanted

    def left(self, written: Additions) -> None:
        """It is known what can be written; not called where that is not enough."""
        self.written = written
