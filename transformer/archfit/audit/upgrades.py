"""What newer tags are worth: which of them can take the place of an image, and what an audit would say then.

With newer tags alone counts what is ready, and the workloads all of whose images that are not have a version that was
read. A sibling has to be joined first, and `latest` is no version: neither counts. All of it is a hint: no state of an
image or of a workload, and no exit code, depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from archfit.audit.amount import Amount
from archfit.audit.readiness import ImageFinding, WorkloadFinding, total
from archfit.base.errors import InvalidReference
from archfit.facts.facts import ImageFacts
from archfit.images.candidates import NewerTag
from archfit.images.overrides import matches
from archfit.images.reference import parse
from archfit.registry.quirks import quirk_of
from archfit.reports.tag_updates import TagUpdate
from archfit.startup.record import Record

_TO_DO = {"fails": "repair its build", "absent": "push it again", "unknown": "find out"}
_GONE = frozenset({"old", "finished", "mirror"})
"""Standings of pods whose manifest is another one now, or a file of a node."""
_UNREAD = {"complete": "", "partial": " (not all tags were read)", "no": " (its tags are not known)"}
_HARBOR = re.compile(r"(?:[a-z0-9-]+\.)*harbor[a-z0-9-]*(?:\.[a-z0-9-]+)*", re.ASCII).fullmatch
_FETCHED = re.compile(
    r"(?:.*[-_.])?(?:proxy|cache|mirror|pull-?through)|(?:proxy|cache|mirror)[-_.].*|docker-?hub|ecr-public|quay|kubernetes"
    r"|docker\.io|ghcr\.io|quay\.io|gcr\.io|registry\.k8s\.io|public\.ecr\.aws|mcr\.microsoft\.com",
    re.ASCII | re.IGNORECASE,
).fullmatch
"""First parts of a path by which proxies and pull-through caches are named: those of ECR's console, and hosts."""


class Upgrades(Record):
    """What was asked of newer tags, and what they would free, for one architecture.

    asked, not_asked: how many images of what runs or will run lack the architecture. replaceable: how many of the asked
    ones have a version that was read. freed: what could move and becomes ready with these versions and nothing else.
    """

    architecture: str
    asked: int
    not_asked: int
    replaceable: int
    freed: Amount


def replacement(image: ImageFacts, architecture: str) -> NewerTag | None:
    """The version that can take the image's place, and was read to have the architecture; None where there is none."""
    return next((tag for tag in image.newer if tag.replaces and offers(tag, architecture)), None)


def offers(tag: NewerTag, architecture: str) -> bool:
    """Whether the tag has a build for Linux on the architecture."""
    names = (platform.split("/")[:2] for platform in tag.platforms)
    return any(name == ["linux", architecture] for name in names)


def of_an_account(reference: str) -> bool:
    """Whether the image is in the registry of a cloud account (ECR, ACR, Artifact Registry) or of a Harbor by name.

    What such a registry fetches from another one is not its account's: `_FETCHED`.
    """
    name, _, path = reference.partition("/")
    host = name.partition(":")[0].lower()
    if _FETCHED(path.partition("/")[0]):
        return False
    return quirk_of(host).of_account or bool(_HARBOR(host))


def is_own(reference: str, patterns: Sequence[str]) -> bool:
    """Whether the user builds the image: it is `of_an_account`, or a pattern of --own is about it.

    patterns: those of --not-own begin with `!` and win.
    """
    account = of_an_account(reference)
    try:
        parsed = parse(reference)
    except InvalidReference:
        return account
    if any(pattern[0] == "!" and matches(pattern[1:], parsed) for pattern in patterns):
        return False
    return account or any(matches(pattern, parsed) for pattern in patterns)


def to_do(state: str, image: ImageFacts, architecture: str, patterns: Sequence[str] = ()) -> str:
    """What to do about an image of the work list, in words. state: `readiness.ImageState`. patterns: of --own."""
    if state != "no":
        return _TO_DO[state]
    if image.detail and f"linux/{architecture}" in image.platforms:
        return _TO_DO["absent"]
    for tag in image.newer:
        if offers(tag, architecture):
            if not tag.ready:
                return f"join {tag.tag} into an index (sibling)"
            return tag.advice.partition(";")[0]
    own = is_own(image.reference, patterns)
    if image.newer_for != architecture:
        return "build it" if own else "look for a newer tag"
    return ("build it" if own else "ask upstream") + _UNREAD[image.newer_read]


def tag_updates(
    architecture: str, workloads: Sequence[WorkloadFinding], images: Sequence[ImageFinding]
) -> tuple[list[TagUpdate], list[str]]:
    """The images that have a version which was read, as manifests write them, and the texts of all others.

    Both are of pods that run or will run. architecture: the first one of the findings, as for all of this module.
    """
    versions = {
        image.facts.reference: newer
        for image in images
        if image.states[0] == "no" and (newer := replacement(image.facts, architecture))
    }
    written = {
        (use.image, use.reference)
        for workload in workloads
        if workload.facts.standing not in _GONE
        for use in workload.facts.images
    }
    updates = [TagUpdate(text, versions[of]) for text, of in sorted(written) if of in versions]
    return updates, [text for text, of in sorted(written) if of not in versions]


def lacking_images(architecture: str, workloads: Sequence[WorkloadFinding]) -> frozenset[str]:
    """The images that are not ready, of what runs or will run there."""
    return frozenset(
        use.reference
        for workload in workloads
        if workload.is_required(architecture)
        for use in workload.not_ready[0]
    )


def upgrades(
    architecture: str, workloads: Sequence[WorkloadFinding], images: Sequence[ImageFinding]
) -> Upgrades | None:
    """None where no image was asked for."""
    used = lacking_images(architecture, workloads)
    lacking = [image.facts for image in images if image.states[0] == "no" and image.facts.reference in used]
    replaced = {image.reference for image in lacking if replacement(image, architecture)}
    searched = [image for image in lacking if image.newer_for == architecture or image.reference in replaced]
    if not searched:
        return None
    freed = total(
        workload
        for workload in workloads
        if workload.movable
        and workload.not_ready[0]
        and all(use.reference in replaced for use in workload.not_ready[0])
    )
    unasked = len(lacking) - len(searched)
    return Upgrades(architecture, len(searched), unasked, len(replaced), freed)
