"""What is known of a pod once its images have answers: what the steps of the decision look at."""

from __future__ import annotations

from archfit.options.settings import Options, Toleration
from archfit.placement.evidence import ImageEvidence
from archfit.placement.reach import Reach
from archfit.placement.selection import PodOptions
from archfit.record import Record
from archfit.results import Result
from archfit.workloads.pods import Pod


class Case(Record):
    """What steps (a) to (d) look at.

    options: of the run. own: of the pod.
    reachable: E.
    tolerations: those that the pod has.
    stated: the pod's own preferred terms name the architecture; False without `prefer`, which alone needs to know.
    immutable: the object cannot be changed once it is applied.
    results: messages so far; the steps append to it.
    """

    pod: Pod
    options: Options
    own: PodOptions
    evidence: ImageEvidence
    found: tuple[Reach, ...]
    reachable: frozenset[str]
    tolerations: list[Toleration]
    stated: bool
    immutable: bool
    results: list[Result]
