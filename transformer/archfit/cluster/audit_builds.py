"""Which builds run, counted: verdicts, mismatches, evidence, tags that moved.

proven      the build of the node's own architecture        ambiguous   several builds fit what is known
mismatch    another build: emulated, or it will not start   unknown     with a reason
unread      another shard reads the image
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.cluster.audit_facts import BuildFacts, Verdict
from archfit.record import Record

VERDICTS: tuple[Verdict, ...] = ("proven", "mismatch", "ambiguous", "unknown", "unread")


class VerdictCount(Record):
    """containers: how many run so, over all pods. kinds: how many different ones (workload, container, image, node)."""

    verdict: Verdict
    kinds: int
    containers: int


class ReasonCount(Record):
    """Why builds are not proven, the most frequent reason first."""

    verdict: Verdict
    reason: str
    containers: int


class BuildFindings(Record):
    """mismatches: by verdict. evidence: builds whose pods say that they do not run, or cannot be pulled.

    moved: builds whose tag names another index now.
    """

    verdicts: tuple[VerdictCount, ...]
    reasons: tuple[ReasonCount, ...]
    mismatches: tuple[BuildFacts, ...]
    evidence: tuple[BuildFacts, ...]
    moved: tuple[BuildFacts, ...]


def build_findings(builds: Sequence[BuildFacts]) -> BuildFindings:
    """What is to be said of the builds, in the order of the facts."""
    counted = dict.fromkeys(VERDICTS, (0, 0))
    reasons: dict[tuple[Verdict, str], int] = {}
    for build in builds:
        kinds, containers = counted[build.verdict]
        counted[build.verdict] = (kinds + 1, containers + build.pods)
        if build.verdict in {"ambiguous", "unknown"}:
            key = (build.verdict, build.reason)
            reasons[key] = reasons.get(key, 0) + build.pods
    return BuildFindings(
        tuple(VerdictCount(verdict, *counted[verdict]) for verdict in VERDICTS if counted[verdict][0]),
        tuple(
            ReasonCount(*key, containers)
            for key, containers in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        tuple(build for build in builds if build.verdict == "mismatch"),
        tuple(build for build in builds if build.evidence),
        tuple(build for build in builds if build.moved),
    )
