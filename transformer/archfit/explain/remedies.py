"""What would change the answer for a pod: the nearest remedy first, a command where there is one.

Nothing is looked up for it. An image is named in a command only where it is a reference, which a shell takes as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from archfit.base.errors import InvalidReference
from archfit.base.results import Decision
from archfit.explain.images import ImageAnswer
from archfit.images.reference import parse
from archfit.placement.annotations import PREFIX
from archfit.placement.case import PodCase
from archfit.placement.selection import PodOptions
from archfit.startup.record import Record

_MOST = 3


class Remedy(Record):
    """One thing to do. command: what to type, or to add to the command line, "" where there is nothing to type."""

    command: str
    effect: str


def remedies(
    own: PodOptions,
    case: PodCase | None,
    decision: Decision,
    images: Sequence[ImageAnswer],
    missing: frozenset[str],
) -> Iterator[Remedy]:
    """At most a handful, the nearest first. missing: what the pod allows and does not reach."""
    if own.left_alone:
        yield Remedy("", _left_alone(own))
        return
    unknown = [image for image in images if image.unknown and not image.final and _is_reference(image.image)]
    for image in unknown[:_MOST]:
        yield _answered(image)
    if unknown and not unknown[0].platforms:
        yield _stated(unknown[0], "if you know its platforms")
    if any(image.answer in ("Unasked", "Malformed") for image in images):
        yield Remedy("", f"state the platforms with the annotation {PREFIX}image-platforms, if you know them")
    if case is None:
        return
    if own.only is not None:
        yield Remedy("", f"change {own.only_by}")
    blocking = [
        image for image in images if _is_reference(image.image) and not missing.isdisjoint(image.lacks)
    ]
    for image in blocking[:_MOST]:
        if image.part_of:
            yield Remedy("", f"write {image.part_of}: this digest is one platform of the tag")
            continue
        lacks = " and ".join(name for name in image.lacks if name in missing)
        yield Remedy(
            f"archfit inspect {image.image}",
            f"shows its builds: use a tag that has {lacks}, or build the image for {lacks}",
        )
    if blocking:
        yield _corrected(blocking[0], missing)
    demands = [reach.demand.requirements or reach.demand.closed for reach in case.reaches]
    if decision.outcome == "Conflict" and (any(demands) or not demands):
        yield Remedy("", "change what the pod itself asks for: its nodeSelector or required node affinity")


def _answered(image: ImageAnswer) -> Remedy:
    if image.answer == "Absent":
        return Remedy(
            f"archfit login-check {image.image}",
            "correct the name or tag; where the image is private, this shows the credential that counts",
        )
    shown = "shows the entries of its index"
    again = "asks the registry again, and shows what it answers"
    return Remedy(f"archfit inspect {image.image}", shown if image.platforms else again)


def _corrected(image: ImageAnswer, missing: Collection[str]) -> Remedy:
    """What says that the image runs on more than its answer has."""
    if image.origin == "annotation":
        return Remedy("", f"correct the annotation {PREFIX}image-platforms")
    if image.origin == "override":
        return Remedy(
            "", f"correct --image-platforms, which states {', '.join(image.platforms)} for {image.image}"
        )
    names = (*(image.runs_on or ()), *(name for name in image.lacks if name in missing))
    return _stated(image, "if the image runs there all the same", names)


def _stated(image: ImageAnswer, when: str, names: Collection[str] = ("amd64", "arm64")) -> Remedy:
    platforms = ",".join(sorted(name if "/" in name else f"linux/{name}" for name in names))
    return Remedy(f"--image-platforms '{parse(image.image).name}={platforms}'", when)


def _is_reference(text: str) -> bool:
    try:
        return bool(text) and bool(parse(text))
    except InvalidReference:
        return False


def _left_alone(own: PodOptions) -> str:
    if own.controller:
        return f"explain {own.controller}, which made this object: archfit places what its controller makes pods from"
    match own.left_by:
        case "annotation":
            return f"remove the annotation {PREFIX}skip"
        case "customResources":
            return "run it with --custom-resources all"
        case "exclude":
            return "run it without that --exclude"
        case "nodeName":
            return "remove spec.nodeName, so that the scheduler places the pod"
        case "rule":
            return "change the rule (rules: in the configuration file)"
        case "virtual-kubelet":
            return "remove type: virtual-kubelet from its nodeSelector, if it is for other nodes too"
        case "placeholder" | "controller" | "":
            return "explain what is made from it: render it first"
